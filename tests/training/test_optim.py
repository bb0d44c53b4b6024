"""Schedules against the paper, rates by layer, and what learns when."""

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.models.base import Parts
from workbench.training import optim


def parts(layers=3):
    def group():
        return (torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(2)))

    return Parts(
        group(),
        tuple(group() for _ in range(layers)),
        group(),
        group(),
        tuple(torch.nn.Linear(1, 1) for _ in range(layers + 1)),
    )


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


def test_the_linear_schedule_rises_then_falls_to_zero_after_the_last_step():
    rates = [optim.linear(step, 20, peak=1.0, cut=0.2) for step in range(21)]

    assert max(rates) == rates[4] == 1.0 and 0 < rates[0] < rates[3] < 1 and rates[20] == 0


def test_the_constant_schedule_stays_at_its_peak():
    assert [optim.constant(step, 10, peak=2.0, cut=0.2) for step in (0, 2, 9)] == [
        pytest.approx(2 / 3),
        2.0,
        2.0,
    ]


def test_lower_layers_learn_slower_by_the_same_factor():
    assert optim.layer_rates(2, 2.6) == pytest.approx((2.6**-3, 2.6**-2, 2.6**-1, 1.0))

    groups = optim.groups(parts(), rate=1.0, decay=2.0, weight_decay=0.1)

    assert sorted({one["peak"] for one in groups}) == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0]
    assert {one["weight_decay"] for one in groups if one["params"][0].ndim == 1} == {0.0}
    assert {one["weight_decay"] for one in groups if one["params"][0].ndim == 2} == {0.1}


@pytest.mark.parametrize(
    "freeze, learning",
    [("none", [True] * 5), ("embeddings", [False, True, True, True, True]), ("2", [False, False, False, True, True]), ("encoder", [False] * 4 + [True])],
)  # fmt: skip
def test_frozen_parts_have_no_gradients(freeze, learning):
    made = parts()
    freezing = optim.Freezing(made, freeze=freeze, gradual=False)

    freezing.apply(0)

    assert freezing.learning(0) == learning
    assert [
        members[0].requires_grad for members in (made.embeddings, *made.layers, made.head)
    ] == learning
    assert made.summit[0].requires_grad == (freeze != "encoder")


def test_gradual_unfreezing_adds_one_layer_an_epoch_from_the_top():
    freezing = optim.Freezing(parts(), freeze="embeddings", gradual=True)

    assert [sum(freezing.learning(epoch)) for epoch in range(6)] == [1, 2, 3, 4, 4, 4]
    assert freezing.learning(1) == [False, False, False, True, True]


def test_frozen_modules_drop_nothing():
    made = parts()
    freezing = optim.Freezing(made, freeze="1", gradual=False)
    for module in made.modules:
        module.train()

    freezing.quiet(0)

    assert [module.training for module in made.modules] == [False, False, True, True]


def test_more_frozen_layers_than_there_are_is_refused():
    with pytest.raises(SpecError, match="3 layers"):
        optim.Freezing(parts(), freeze="4", gradual=False)


def test_nothing_to_learn_is_refused():
    with pytest.raises(SpecError, match="Nothing is left"):
        optim.optimiser([], torch.device("cpu"))
