"""Bottleneck adapters: which models have a place for them, and how many parameters are trained."""

import pytest

from tests import tiny_models
from workbench.models.spec import ModelInfo, read_folder
from workbench.training.methods.bottleneck.info import INFO


@pytest.mark.parametrize(("family", "adapters"), [("bert", 4), ("albert", 2)])
def test_the_forecast_counts_adapters_and_norms(family, adapters, tmp_path):
    model = read_folder(tiny_models.make(tmp_path / family, family))  # two layers of width 16

    result = INFO.forecast(model, {"adapter_size": 3})

    inserted = adapters * (2 * 3 * 16 + 3 + 16)
    assert result.total == model.parameters + inserted
    assert result.trainable == inserted + adapters * 2 * 16  # a norm after each adapter


def test_without_weights_to_read_it_is_estimated_from_layers_and_width():
    model = ModelInfo("m", "/nowhere", parameters=1000, layers=3, width=4)

    assert INFO.forecast(model, {"adapter_size": 2}).trainable == 3 * 2 * (2 * 2 * 4 + 2 + 4)


def test_a_model_without_a_known_place_for_adapters_is_named():
    assert INFO.problem(ModelInfo("m", "/m", sublayers=("a", "b"))) == ""
    assert "not known" in INFO.problem(ModelInfo("m", "/m"))
