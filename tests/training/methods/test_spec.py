"""What the light half of training methods promises the upper layers."""

import pytest

from workbench.base.errors import SpecError
from workbench.models.spec import ModelInfo
from workbench.training.methods import spec
from workbench.training.methods.spec import Forecast


def test_methods_are_those_of_the_registry_and_the_default_is_one_of_them(registry):
    assert tuple(info.id for info in spec.all_methods()) == registry.ids("method")
    assert spec.info(spec.DEFAULT).id == spec.DEFAULT


def test_an_unknown_method_names_the_known_ones():
    with pytest.raises(SpecError, match="'magic'") as caught:
        spec.info("magic")

    assert caught.value.hint.startswith("Known: full, frozen")


@pytest.mark.parametrize("info", spec.all_methods(), ids=lambda info: info.id)
def test_a_method_describes_itself_and_trains_at_most_what_there_is(info):
    model = ModelInfo("m", "/m", parameters=1000, layers=2, width=4, vocabulary=50)
    options = {option.name: option.default for option in info.options}

    result = info.forecast(model, options)

    assert info.title and info.help and isinstance(info.problem(model), str)
    assert result.trainable >= 0 and result.total >= 1000


MILLION = 2**20


def test_a_trained_parameter_takes_four_times_the_memory_of_a_frozen_one():
    # float32: a weight; with gradient and two moments of AdamW
    assert Forecast(0, MILLION).memory_mb == 4
    assert Forecast(MILLION, MILLION).memory_mb == 16
    assert Forecast(MILLION, 3 * MILLION).memory_mb == 16 + 2 * 4


def test_activations_and_gradients_are_not_all_there_at_one_time():
    few = Forecast(MILLION, MILLION, 8, 128, activations=3 * MILLION)
    many = Forecast(MILLION, MILLION, 8, 128, activations=100 * MILLION)

    assert (few.memory_mb, many.memory_mb) == (4 + 8 + 4, 4 + 8 + 100)
    assert "activations 100 (batch × length: 8 × 128), then gradients 4" in many.sentence()


@pytest.mark.parametrize(
    ("trainable", "expected"),
    [
        (10_000_000, "Trains all parameters (10.0 M) and the head."),
        (50_000, "Trains 0.5% of the parameters (50,000 of 10.0 M) and the head."),
        (0, "Trains the head; all other parameters (10.0 M) are frozen."),
    ],
)
def test_a_forecast_says_what_is_trained_and_what_it_takes(trainable, expected):
    assert Forecast(trainable, 10_000_000).sentence() == expected


def test_memory_that_is_not_free_is_named_with_what_helps():
    needed = Forecast(MILLION, MILLION, 8, 128, activations=2000 * MILLION)

    warning = needed.warning(1000)

    assert "2,012 MB" in warning and "1,000 MB" in warning and "LoRA" in warning
    assert needed.warning(3000) == "" == Forecast(MILLION, MILLION).warning(1)


def test_a_model_of_unknown_size_has_no_forecast():
    assert Forecast(0, 0).sentence() == ""
