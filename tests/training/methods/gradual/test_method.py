"""Gradual unfreezing trains one more layer per epoch, lower layers more slowly."""

import pytest

from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.models.spec import ModelInfo
from workbench.tasks.base import Model
from workbench.training.methods.full.method import Full
from workbench.training.methods.gradual.info import INFO
from workbench.training.methods.gradual.method import Gradual

OPTIONS = {"weight_decay": 0.01, "layer_decay": 2.6}


def classifier(folder):
    return Model(load(folder, LoadOptions(head="sequence", outputs=("x", "y"))))


def test_each_epoch_trains_one_more_level_from_the_top(tiny_model):
    model = classifier(tiny_model)
    method = Gradual(model, OPTIONS)
    method.groups(0.1)
    levels = method.levels.parameters()  # embeddings, two layers, pooler and head

    trained = []
    for epoch in range(5):
        method.start_epoch(epoch)
        trained.append([level[0].requires_grad for level in levels])

    assert [sum(found) for found in trained] == [1, 2, 3, 4, 4]
    assert trained[1] == [False, False, True, True]


def test_rates_fall_by_2_6_from_level_to_level(tiny_model):
    # Howard and Ruder 2018, section 3.2
    method = Gradual(classifier(tiny_model), OPTIONS)

    peaks = sorted({group["peak"] for group in method.groups(1.0)}, reverse=True)

    assert peaks == pytest.approx([1.0, 1 / 2.6, 1 / 2.6**2, 1 / 2.6**3])
    assert {option.name: option.default for option in INFO.options} == {
        "layer_decay": 2.6,
        "slower_layers": "lower",
    }


def test_it_is_full_fine_tuning_with_its_two_settings(tiny_model):
    model = classifier(tiny_model)
    options = {**OPTIONS, "freeze": "none", "gradual_unfreezing": True}

    full, gradual = Full(model, options), Gradual(model, OPTIONS)

    assert full.freezing.trained(1) == gradual.freezing.trained(1)


def test_a_model_without_layers_cannot_be_unfrozen():
    assert INFO.problem(ModelInfo("m", "/m", layers=0))
    assert INFO.problem(ModelInfo("m", "/m", layers=2)) == ""
