"""Schedules against the paper, and the rates of every layer over a run."""

from dataclasses import replace

import pytest

from workbench.base.errors import SpecError
from workbench.training.methods import spec as methods
from workbench.training.plan import Plan
from workbench.training.rates import (
    MOST_COLUMNS,
    constant,
    layer_steps,
    linear,
    schedule,
    slanted_triangular,
)
from workbench.training.spec import TrainSpec


@pytest.mark.parametrize(
    "step, rate",
    [(0, 0.0003125), (50, 0.00515625), (100, 0.01), (550, 0.00515625), (1000, 0.0003125)],
)
def test_slanted_triangular_rates_are_those_of_the_paper(step, rate):
    # Howard and Ruder 2018, equation 3, worked out by hand for T = 1000, cut_frac 0.1, ratio 32
    assert slanted_triangular(step, 1000, peak=0.01) == pytest.approx(rate, abs=1e-12)


def test_slanted_triangular_is_safe_where_the_rise_has_no_step():
    result = [slanted_triangular(step, 5, peak=1.0) for step in range(6)]

    assert (
        result[0] == 1.0
        and result[-1] == pytest.approx(1 / 32)
        and result == sorted(result, reverse=True)
    )
    with pytest.raises(SpecError):
        slanted_triangular(0, 0, peak=1.0)


def test_the_ratio_and_the_rising_fraction_of_the_slanted_schedule_are_settings():
    # worked out by hand: 20 steps of rise from 1 / 8, then a fall to 1 / 8
    rate = schedule("slanted", ratio=8.0)

    result = [rate(step, 100, peak=1.0, cut=0.2) for step in (0, 10, 20, 60, 100)]

    assert result == pytest.approx([1 / 8, 9 / 16, 1.0, 9 / 16, 1 / 8])


def test_the_linear_schedule_rises_then_falls_to_zero_after_the_last_step():
    result = [linear(step, 20, peak=1.0, cut=0.2) for step in range(21)]

    assert max(result) == result[4] == 1.0 and 0 < result[0] < result[3] < 1 and result[20] == 0


def test_the_constant_schedule_stays_at_its_peak():
    assert [constant(step, 10, peak=2.0, cut=0.2) for step in (0, 2, 9)] == [
        pytest.approx(2 / 3),
        2.0,
        2.0,
    ]


# ---------------------------------------------------------------- layers × steps

PLAN = Plan(4, 8, 0.01, 128, 5, 5, "macro_f1")  # 4 epochs of 5 steps


def made(**options):
    spec = TrainSpec("classify", "c", "model", options={"schedule": "constant", **options})
    return layer_steps(spec, PLAN, layers=3)


def column(found, step):
    return [round(row[found.steps.index(step)], 8) for row in found.rates]


def test_full_fine_tuning_gives_every_part_the_rate_of_the_schedule():
    result = made(schedule="linear")

    assert result.parts == ("embeddings", "layer_1", "layer_2", "layer_3", "head")
    assert result.steps == tuple(range(20)) and result.epochs == tuple(s // 5 for s in range(20))
    for row in result.rates:
        assert row == tuple(linear(step, 20, peak=0.01, cut=0.0) for step in range(20))


def test_gradual_unfreezing_trains_one_more_layer_in_each_epoch_at_discriminative_rates():
    result = made(method="gradual")  # Howard and Ruder 2018: each lower layer's rate / 2.6

    assert column(result, 0) == [0, 0, 0, 0, 0.01]
    assert column(result, 5) == [0, 0, 0, round(0.01 / 2.6, 8), 0.01]
    lowest = [0.01 / 2.6**depth for depth in (3, 2, 1, 0)]
    assert column(result, 15) == [0, *(round(rate, 8) for rate in lowest)]


def test_contrastive_tuning_trains_the_encoder_before_the_epochs_and_then_the_head():
    spec = TrainSpec("classify", "c", "model", options={"method": "contrastive"})
    plan = replace(PLAN, first_steps=10, first_rate=0.004)

    result = layer_steps(spec, plan, layers=3)

    assert result.total == 30 and result.epochs[8:12] == (-1, -1, 0, 0)
    assert column(result, 0) == [0.004, 0.004, 0.004, 0.004, 0]
    assert column(result, 9) == [0.0004, 0.0004, 0.0004, 0.0004, 0]  # linear, of its own steps
    assert column(result, 10) == [0, 0, 0, 0, 0.01]


@pytest.mark.parametrize(
    ("options", "trained"),
    [
        ({"freeze": "2"}, [0, 0, 0, 1, 1]),
        ({"freeze": "embeddings"}, [0, 1, 1, 1, 1]),
        ({"method": "frozen"}, [0, 0, 0, 0, 1]),
        ({"method": "lora"}, [0, 1, 1, 1, 1]),
    ],
)
def test_frozen_parts_have_the_rate_zero(options, trained):
    assert column(made(**options), 3) == [0.01 * part for part in trained]


def test_a_number_of_layers_that_the_model_lacks_is_refused():
    with pytest.raises(SpecError, match="only 3 layers"):
        made(freeze="4")


def test_long_runs_have_a_limited_number_of_columns():
    spec = TrainSpec("classify", "c", "model")
    plan = Plan(3, 8, 0.01, 128, 1000, 5, "macro_f1")

    result = layer_steps(spec, plan, layers=1)

    assert len(result.steps) == MOST_COLUMNS and result.total == 3000
    assert result.steps[0] == 0 and result.steps[-1] == 2985 and result.epochs[-1] == 2


def test_every_method_has_a_factor_for_every_part():
    for method in methods.all_methods():
        assert len(method.factors(3, {}, 0)) == 5
