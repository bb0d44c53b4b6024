"""Schedules against the paper, learning rates by layer, and what is trained when."""

from dataclasses import replace

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.tasks.base import Model
from workbench.training import optim
from workbench.training.methods.full.info import layer_rates


def made(layers=3):
    """Levels of a matrix and a vector each."""

    def group():
        return (torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(2)))

    return optim.Levels(
        embeddings=group(),
        layers=tuple(group() for _ in range(layers)),
        pooler=group(),
        head=group(),
        modules=tuple(torch.nn.Linear(1, 1) for _ in range(layers + 1)),
    )


def test_parameters_with_a_factor_get_a_group_and_rate_of_their_own():
    levels = made(layers=1)
    levels = replace(levels, factors={id(levels.head[0]): 100.0})

    groups = optim.groups(levels, rate=0.01, decay=1.0, weight_decay=0.1)

    (fast,) = [group for group in groups if group["factor"] == 100.0]
    assert fast["params"][0] is levels.head[0] and fast["peak"] == pytest.approx(1.0)
    assert {group["peak"] for group in groups if group is not fast} == {0.01}
    assert sum(len(group["params"]) for group in groups) == 8


def test_each_lower_layer_learns_slower_by_the_same_factor():
    assert layer_rates(2, 2.6) == pytest.approx((2.6**-3, 2.6**-2, 2.6**-1, 1.0))

    groups = optim.groups(made(), rate=1.0, decay=2.0, weight_decay=0.1)

    assert sorted({group["peak"] for group in groups}) == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0]
    assert {group["weight_decay"] for group in groups if group["params"][0].ndim == 1} == {0.0}
    assert {group["weight_decay"] for group in groups if group["params"][0].ndim == 2} == {0.1}
    assert all(group["lr"] == group["peak"] for group in groups)


def test_upper_layers_learn_slower_in_the_opposite_direction():
    assert layer_rates(2, 2.6, "upper") == pytest.approx((1.0, 2.6**-1, 2.6**-2, 1.0))

    levels = made()
    groups = optim.groups(levels, rate=1.0, decay=2.0, weight_decay=0.0, slower="upper")

    head = {id(p) for p in (*levels.pooler, *levels.head)}
    tops = {group["peak"] for group in groups if id(group["params"][0]) in head}
    others = [group["peak"] for group in groups if id(group["params"][0]) not in head]
    assert tops == {1.0} and others == sorted(others, reverse=True) and others[-1] < 1.0


def test_the_pooler_learns_at_the_rate_of_the_head():
    levels = made(1)

    groups = optim.groups(levels, rate=1.0, decay=2.0, weight_decay=0.0)

    top = {id(p) for group in groups if group["peak"] == 1.0 for p in group["params"]}
    assert top == {id(p) for p in (*levels.pooler, *levels.head)}


def test_frozen_parameters_get_no_group():
    levels = made(1)
    for parameter in (*levels.embeddings, *levels.pooler):
        parameter.requires_grad_(False)

    groups = optim.groups(levels, rate=1.0, decay=1.0, weight_decay=0.0)

    given = {id(p) for group in groups for p in group["params"]}
    assert given == {id(p) for p in (*levels.layers[0], *levels.head)}


@pytest.mark.parametrize("own", [False, True])
def test_the_levels_of_a_model_hold_every_parameter_once(tiny_model, own):
    if own:
        model = Model(load(tiny_model, LoadOptions()), torch.nn.Linear(16, 3))
    else:
        model = Model(load(tiny_model, LoadOptions(head="sequence", outputs=("x", "y"))))

    levels = optim.Levels.of(model)

    result = [id(p) for level in levels.parameters() for p in level]
    assert sorted(result) == sorted(id(p) for p in model.parameters())
    assert len(levels.layers) == 2 and len(levels.modules) == 3
    head = model.head if own else model.encoder.model.classifier
    assert {id(p) for p in levels.head} == {id(p) for p in head.parameters()}


@pytest.mark.parametrize(
    "freeze, trained",
    [
        ("none", [True] * 5),
        ("embeddings", [False, True, True, True, True]),
        ("2", [False, False, False, True, True]),
        ("encoder", [False] * 4 + [True]),
    ],
)
def test_frozen_parts_have_no_gradients(freeze, trained):
    levels = made()
    freezing = optim.Freezing(levels, freeze=freeze, gradual=False)

    freezing.apply(0)

    groups = (levels.embeddings, *levels.layers, levels.head)
    assert freezing.trained(0) == trained
    assert [members[0].requires_grad for members in groups] == trained
    assert levels.pooler[0].requires_grad == (freeze != "encoder")


def test_gradual_unfreezing_adds_one_layer_an_epoch_from_the_top():
    freezing = optim.Freezing(made(), freeze="embeddings", gradual=True)

    assert [sum(freezing.trained(epoch)) for epoch in range(6)] == [1, 2, 3, 4, 4, 4]
    assert freezing.trained(1) == [False, False, False, True, True]


def test_frozen_modules_have_no_dropout():
    levels = made()
    freezing = optim.Freezing(levels, freeze="1", gradual=False)
    for module in levels.modules:
        module.train()

    freezing.quiet(0)

    assert [module.training for module in levels.modules] == [False, False, True, True]


def test_more_frozen_layers_than_there_are_is_refused():
    with pytest.raises(SpecError, match="3 layers"):
        optim.Freezing(made(), freeze="4", gradual=False)


def test_nothing_to_train_is_refused():
    with pytest.raises(SpecError, match="Nothing is left"):
        optim.optimizer([], torch.device("cpu"))
