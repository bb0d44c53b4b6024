"""LoRA: default targets by architecture, and how many parameters are trained."""

import pytest

from tests import tiny_models
from workbench.base.errors import SpecError
from workbench.models.spec import ModelInfo, read_folder
from workbench.training.methods.lora.info import ALL_LINEAR, INFO, is_target, targets
from workbench.training.plan import plan
from workbench.training.spec import TrainSpec

MODEL = ModelInfo("m", "/m")


def test_the_default_targets_are_those_that_the_model_names():
    model = ModelInfo("m", "/m", projections=("q", "v"))

    assert targets(None, model) == ("q", "v")


def test_where_it_names_none_all_linear_modules_of_its_layers_are_adapted():
    wanted = targets(None, MODEL)

    assert wanted == (ALL_LINEAR,)
    assert is_target("encoder.layer.0.output.dense", wanted)
    assert not is_target("pooler.dense", wanted)


def test_names_are_ends_of_full_names():
    wanted = targets("query, output.dense", MODEL)

    assert is_target("layer.0.attention.self.query", wanted)
    assert is_target("layer.0.output.dense", wanted)
    assert not is_target("layer.0.intermediate.dense", wanted)
    assert not is_target("layer.0.bigquery", wanted)


def test_an_empty_name_is_refused():
    with pytest.raises(SpecError, match="lora_targets is 'query,'"):
        TrainSpec("classify", "c", "m", options={"method": "lora", "lora_targets": "query,"})


def test_the_forecast_counts_the_inserted_matrices_and_the_pooler(tmp_path):
    bert = read_folder(tiny_models.make(tmp_path / "bert"))  # two layers of width 16

    result = INFO.forecast(bert, {"lora_rank": 4})

    inserted = 2 * 2 * 4 * (16 + 16)  # layers, query and value, rank, sides
    assert result.trainable == inserted + 16 * 16 + 16
    assert result.total == bert.parameters + inserted


def test_without_weights_to_read_it_is_estimated_from_layers_and_width():
    model = ModelInfo("m", "/nowhere", parameters=1000, layers=3, width=4)

    assert INFO.forecast(model, {"lora_rank": 2}).trainable == 3 * 2 * 2 * (4 + 4)


def test_the_automatic_learning_rate_is_higher_than_for_full_fine_tuning():
    full, lora = (
        plan(TrainSpec("classify", "c", "m", options={"method": method}), documents=100)
        for method in ("full", "lora")
    )

    assert lora.learning_rate == pytest.approx(INFO.rate_factor * full.learning_rate)
