"""A run whose task has a head of our own: trained, kept, loaded and frozen as the library's are."""

import json

import pytest
import torch
from safetensors.torch import load_file

from tests import a_plugin
from tests.tiny_heads import MeanHead, mean_head
from workbench.base import registry
from workbench.base.errors import SpecError
from workbench.operations.application import plugins
from workbench.tasks.classify.task import Classify
from workbench.tasks.predictor import Predictor
from workbench.training import loop
from workbench.training.spec import TrainSpec


@pytest.fixture(autouse=True)
def own_head(monkeypatch):
    monkeypatch.setattr(Classify, "native", "")
    monkeypatch.setattr(Classify, "head", mean_head)


def train(data, model, folder, **options):
    folder.mkdir()
    given = {"batch_size": 8, "learning_rate": 0.02, "device": "cpu", "precision": "fp32"}
    spec = TrainSpec("classify", "c", str(model), "tiny", 1, {**given, **options}, with_test=True)
    work = loop.train(spec, data, folder)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_it_learns_its_data_by_heart_and_the_folder_answers_alike(classes, tiny_model, tmp_path):
    result = train(classes, tiny_model, tmp_path / "run", epochs=14)

    assert result.evaluations["dev"].scores["accuracy"] == 1.0 and result.loss < 0.1
    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    assert isinstance(loaded.model.head, MeanHead)
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    documents = [record.document for record in classes.records[16:]]
    for line, prediction in zip(lines, loaded.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-6)


def test_the_test_score_comes_from_the_best_head_not_the_last(
    classes, tiny_model, tmp_path, monkeypatch
):
    values = iter([0.9, 0.1, 0.1, 0.5])
    monkeypatch.setattr(type(Classify.info), "score", lambda *_: {"macro_f1": next(values)})

    result = train(classes, tiny_model, tmp_path / "run", epochs=3)

    assert result.best_step == 2 and result.steps == 6
    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()[4:]
    documents = [record.document for record in classes.by_split("test")]
    for line, prediction in zip(lines, loaded.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-6)


def test_a_frozen_encoder_stays_bit_for_bit_while_the_head_learns(classes, tiny_model, tmp_path):
    heads = []
    for epochs in (1, 3):
        train(
            classes,
            tiny_model,
            tmp_path / str(epochs),
            epochs=epochs,
            freeze="encoder",
            best_by="last",
        )
        heads.append(load_file(tmp_path / str(epochs) / "model" / "head.safetensors"))

    before = load_file(tiny_model / "model.safetensors")
    after = load_file(tmp_path / "3" / "model" / "model.safetensors")
    assert len(after) > 30
    assert all(torch.equal(before[f"bert.{name}"], value) for name, value in after.items())
    assert not torch.equal(heads[0]["out.weight"], heads[1]["out.weight"])


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("ordered_task.py", ", len(labels) - 1)", ", 7)", "of which `shares` fails: ValueError"),
        ("grade.py", "return (grade_of(prediction).label,)", 'return "1"', "`labels` returned str"),
        (
            "grade.py",
            "grade_of(prediction).shares",
            "(1.0,)",
            "`shares` returned tuple, expected a",
        ),
        ("grade.py", "grade_of(prediction).label,)", '"9",)', "'9' is no label of the layer"),
        ("grade.py", 'tuple(raw["grades"])', 'raw["x"]', "of which `from_json` fails: KeyError"),
    ],
)
def test_a_prediction_of_a_plugin_that_nothing_can_read_fails_before_the_first_step(
    classes, tiny_model, tmp_path, file, old, new, says
):
    folder = a_plugin.write_tutorial(tmp_path / "plugins")
    code = (folder / file).read_text("utf-8")
    assert old in code
    (folder / file).write_text(code.replace(old, new), "utf-8")
    registry.registry.cache_clear()
    plugins.enable(plugins.find(str(folder)))
    options = {"epochs": 1, "device": "cpu", "precision": "fp32"}
    spec = TrainSpec("my-plugin.ordered", "c", str(tiny_model), "tiny", 1, options)

    with pytest.raises(SpecError, match="my-plugin.ordered does not follow its contract") as caught:
        for event in loop.train(spec, classes, tmp_path / "run"):
            assert type(event).__name__ != "Step"

    assert "`decode` returned my-plugin.grade, of wh" in str(caught.value)
    assert says in str(caught.value) and "logits (" in str(caught.value)
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()
