"""Full fine-tuning: what `freeze` means, and how many parameters are trained."""

import pytest

from workbench.base.errors import SpecError
from workbench.models.spec import ModelInfo
from workbench.training.methods.full.info import INFO, frozen_layers

# 100 entries of width 4 are 400 parameters of embeddings; 300 in each of two layers
MODEL = ModelInfo("m", "/m", parameters=1000, layers=2, width=4, vocabulary=100)


def test_freezing_is_none_a_part_or_a_number_of_layers():
    texts = ("none", "embeddings", "encoder", "3")

    assert [frozen_layers(text) for text in texts] == ["none", "embeddings", "encoder", 3]


@pytest.mark.parametrize("text", ["half", "-1", "1.5", "", "٣"])  # the last is no ASCII digit
def test_anything_else_is_named(text):
    with pytest.raises(SpecError, match="freeze is") as caught:
        frozen_layers(text)

    assert repr(text) in caught.value.message


@pytest.mark.parametrize(
    ("freeze", "trainable"),
    [("none", 1000), ("embeddings", 600), ("1", 300), ("2", 0), ("9", 0), ("encoder", 0)],
)
def test_the_forecast_counts_what_is_not_frozen(freeze, trainable):
    result = INFO.forecast(MODEL, {"freeze": freeze})

    assert (result.trainable, result.total) == (trainable, 1000)


def test_rates_by_layer_follow_the_chosen_direction():
    rates = {"layer_decay": 2.0, "slower_layers": "upper", "freeze": "1"}

    assert INFO.factors(2, rates, 0) == (0.0, 0.0, 0.25, 1.0)
    assert INFO.factors(2, {"layer_decay": 2.0}, 0) == (0.125, 0.25, 0.5, 1.0)


def test_without_settings_everything_is_trained():
    assert INFO.forecast(MODEL, {}).trainable == 1000
