"""Feature extraction trains the head alone."""

import pytest
import torch

from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.tasks.base import Model
from workbench.training.methods.frozen.method import Frozen
from workbench.training.methods.full.method import Full

OPTIONS = {"weight_decay": 0.01}


def classifier(folder):
    return Model(load(folder, LoadOptions(head="sequence", outputs=("x", "y"))))


def trained(method):
    return {id(p) for group in method.groups(0.1) for p in group["params"]}


def test_only_the_head_is_given_to_the_optimizer(tiny_model):
    model = classifier(tiny_model)
    method = Frozen(model, OPTIONS)

    assert trained(method) == {id(p) for p in model.head_parameters()}
    method.start_epoch(0)
    assert [p.requires_grad for p in model.encoder.body.parameters()].count(True) == 0


def test_it_is_full_fine_tuning_with_the_encoder_frozen(tiny_model):
    model = classifier(tiny_model)

    full = Full(model, {**OPTIONS, "freeze": "encoder", "layer_decay": 1.0})

    assert trained(full) == trained(Frozen(model, OPTIONS))


@pytest.mark.parametrize("freeze", ["none", "1"])
def test_frozen_modules_have_no_dropout_while_others_have(tiny_model, freeze):
    model = classifier(tiny_model)
    method = Full(model, {**OPTIONS, "freeze": freeze})

    method.train_mode(0)

    layers = model.encoder.body.encoder.layer
    dropouts = [
        [m.training for m in layer.modules() if isinstance(m, torch.nn.Dropout)] for layer in layers
    ]
    assert [any(dropout) for dropout in dropouts] == [freeze == "none", True]
