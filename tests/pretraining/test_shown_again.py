"""The first batches of a finished run are computed again from the model that it wrote."""

import json
from types import SimpleNamespace

import numpy as np

from tests.pretraining.test_new_models import TINY
from tests.pretraining.test_shown import steps_of
from workbench.operations.models import new_models
from workbench.pretraining import contract, loop, report
from workbench.pretraining.spec import PretrainSpec

FAST = {"batch_size": 4, "length": 24, "device": "cpu", "precision": "fp32", "max_steps": 1}


def test_batches_of_a_created_model_are_those_of_its_run(text_file, tmp_path, monkeypatch):
    read, batches = [], contract.batches

    def recorded(objective, texts):
        for batch in batches(objective, texts):
            read.append((texts.held_out, batch.inputs))
            yield batch

    monkeypatch.setattr(contract, "batches", recorded)
    spec = PretrainSpec("masked_lm", "new:bert", (str(text_file),), (), 3, {**FAST, **TINY})
    params = {"spec": spec.to_json(), "out": str(tmp_path / "mine")}
    result = steps_of(loop.run(params, tmp_path))
    of_run = [inputs for held_out, inputs in read if held_out is False]
    read.clear()

    again = new_models.settings_of_run(SimpleNamespace(spec=SimpleNamespace(params=params)))
    shown = steps_of(loop.show_batch({"spec": again.to_json()}, tmp_path))

    stored = report.first_batch(tmp_path / "mine")
    assert stored == {"objective": "masked_lm", "rows": json.loads(json.dumps(shown["rows"]))}
    assert again.model == params["out"] and shown["fingerprint"] == result["fingerprint"]
    assert len(shown["rows"]) == 4 and len(of_run) == len(read) == 1
    for name, array in of_run[0].items():
        assert np.array_equal(array, read[0][1][name]), name
