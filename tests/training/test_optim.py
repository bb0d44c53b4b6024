"""Schedules against the paper, learning rates by layer, and what is trained when."""

from dataclasses import replace

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.tasks.base import Model
from workbench.training import optim


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

    found = optim.groups(levels, rate=0.01, decay=1.0, weight_decay=0.1)

    (fast,) = [group for group in found if group["factor"] == 100.0]
    assert fast["params"][0] is levels.head[0] and fast["peak"] == pytest.approx(1.0)
    assert {group["peak"] for group in found if group is not fast} == {0.01}
    assert sum(len(group["params"]) for group in found) == 8


@pytest.mark.parametrize(
    "step, rate",
    [(0, 0.0003125), (50, 0.00515625), (100, 0.01), (550, 0.00515625), (1000, 0.0003125)],
)
def test_slanted_triangular_rates_are_those_of_the_paper(step, rate):
    # Howard and Ruder 2018, equation 3, worked out by hand for T = 1000, cut_frac 0.1, ratio 32
    assert optim.slanted_triangular(step, 1000, peak=0.01) == pytest.approx(rate, abs=1e-12)


def test_slanted_triangular_is_safe_where_the_rise_has_no_step():
    rates = [optim.slanted_triangular(step, 5, peak=1.0) for step in range(6)]

    assert (
        rates[0] == 1.0
        and rates[-1] == pytest.approx(1 / 32)
        and rates == sorted(rates, reverse=True)
    )
    with pytest.raises(SpecError):
        optim.slanted_triangular(0, 0, peak=1.0)


def test_the_ratio_and_the_rising_fraction_of_the_slanted_schedule_are_settings():
    # worked out by hand: 20 steps of rise from 1 / 8, then a fall to 1 / 8
    rate = optim.schedule("slanted", ratio=8.0)

    rates = [rate(step, 100, peak=1.0, cut=0.2) for step in (0, 10, 20, 60, 100)]

    assert rates == pytest.approx([1 / 8, 9 / 16, 1.0, 9 / 16, 1 / 8])


def test_the_linear_schedule_rises_then_falls_to_zero_after_the_last_step():
    rates = [optim.linear(step, 20, peak=1.0, cut=0.2) for step in range(21)]

    assert max(rates) == rates[4] == 1.0 and 0 < rates[0] < rates[3] < 1 and rates[20] == 0


def test_the_constant_schedule_stays_at_its_peak():
    assert [optim.constant(step, 10, peak=2.0, cut=0.2) for step in (0, 2, 9)] == [
        pytest.approx(2 / 3),
        2.0,
        2.0,
    ]


def test_each_lower_layer_learns_slower_by_the_same_factor():
    assert optim.layer_rates(2, 2.6) == pytest.approx((2.6**-3, 2.6**-2, 2.6**-1, 1.0))

    groups = optim.groups(made(), rate=1.0, decay=2.0, weight_decay=0.1)

    assert sorted({one["peak"] for one in groups}) == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0]
    assert {one["weight_decay"] for one in groups if one["params"][0].ndim == 1} == {0.0}
    assert {one["weight_decay"] for one in groups if one["params"][0].ndim == 2} == {0.1}
    assert all(one["lr"] == one["peak"] for one in groups)


def test_the_pooler_learns_at_the_rate_of_the_head():
    levels = made(1)

    groups = optim.groups(levels, rate=1.0, decay=2.0, weight_decay=0.0)

    top = {id(p) for one in groups if one["peak"] == 1.0 for p in one["params"]}
    assert top == {id(p) for p in (*levels.pooler, *levels.head)}


def test_frozen_parameters_get_no_group():
    levels = made(1)
    for parameter in (*levels.embeddings, *levels.pooler):
        parameter.requires_grad_(False)

    groups = optim.groups(levels, rate=1.0, decay=1.0, weight_decay=0.0)

    given = {id(p) for one in groups for p in one["params"]}
    assert given == {id(p) for p in (*levels.layers[0], *levels.head)}


@pytest.mark.parametrize("own", [False, True])
def test_the_levels_of_a_model_hold_every_parameter_once(tiny_model, own):
    if own:
        model = Model(load(tiny_model, LoadOptions()), torch.nn.Linear(16, 3))
    else:
        model = Model(load(tiny_model, LoadOptions(head="sequence", outputs=("x", "y"))))

    levels = optim.Levels.of(model)

    found = [id(p) for level in levels.parameters() for p in level]
    assert sorted(found) == sorted(id(p) for p in model.parameters())
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
