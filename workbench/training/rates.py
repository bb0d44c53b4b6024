"""Learning rates over the steps of a run, of every layer. Does not import torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import FIRST
from workbench.training.plan import Plan
from workbench.training.spec import TrainSpec

MOST_COLUMNS = 200  # steps at which rates are computed


def slanted_triangular(
    step: int, total: int, *, peak: float, cut: float = 0.1, ratio: float = 32
) -> float:
    """Learning rate at `step` (0-based) of `total`: short linear rise, long linear fall.

    The rate falls to `peak / ratio`.

    `cut` is the fraction of steps spent rising (cut_frac), in [0, 1). `peak` is the highest rate.
    Raises SpecError if total < 1.
    Source: Howard and Ruder 2018, section 3.2, equation 3.
    """
    if total < 1:
        raise SpecError(_("A schedule needs at least 1 step, not {total}.", total=total))
    top = int(total * cut)
    if step < top:
        part = step / top
    else:  # 1 - (t - top) / (top (1/cut - 1)) in the paper; top (1/cut - 1) is total - top
        part = max(0.0, 1 - (step - top) / max(1, total - top))
    return peak * (1 + part * (ratio - 1)) / ratio


def linear(step: int, total: int, *, peak: float, cut: float = 0.1) -> float:
    """Linear rise over `cut` of the steps, then a linear fall to 0 after the last step."""
    top = int(total * cut)
    if step < top:
        return peak * (step + 1) / (top + 1)
    return peak * max(0.0, (total - step) / max(1, total - top))


def constant(step: int, total: int, *, peak: float, cut: float = 0.1) -> float:
    top = int(total * cut)
    return peak * (step + 1) / (top + 1) if step < top else peak


Schedule = Callable[..., float]  # (step, total, peak, cut) → learning rate


def schedule(name: str, *, ratio: float) -> Schedule:
    """The function of a schedule; `ratio` is that of "slanted"."""
    schedules: dict[str, Schedule] = {
        "linear": linear,
        "constant": constant,
        "slanted": partial(slanted_triangular, ratio=ratio),
    }
    return schedules[name]


# ---------------------------------------------------------------- layers × steps


@dataclass(frozen=True)
class LayerRates(JsonRecord):
    """Learning rates of the parts of a model at some steps of a run.

    parts: embeddings, layer_1 … layer_L, head. steps: 0-based, ascending; epochs: of each of them,
    0-based, FIRST before the epochs. rates: by part, one for each step; 0 where a part is frozen.
    total: steps of the run, first_steps of them before the epochs.
    """

    parts: tuple[str, ...]
    steps: tuple[int, ...]
    epochs: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]
    total: int
    steps_per_epoch: int
    first_steps: int = 0


def layer_steps(spec: TrainSpec, plan: Plan, layers: int) -> LayerRates:
    """The rates of a run with these settings, for an encoder with this many layers.

    Raises SpecError if the settings do not fit the number of layers.
    """
    count = min(plan.steps, MOST_COLUMNS)
    steps = tuple(number * plan.steps // count for number in range(count))
    first, rest = plan.first_steps, plan.steps - plan.first_steps
    epochs = tuple(
        FIRST if step < first else (step - first) // plan.steps_per_epoch for step in steps
    )
    rate = schedule(spec.option("schedule"), ratio=spec.option("ratio"))
    factors = {
        epoch: methods.info(spec.method).factors(layers, spec.all_options, epoch)
        for epoch in dict.fromkeys(epochs)
    }
    peaks = [
        rate(step, first, peak=plan.first_rate, cut=plan.warmup)
        if step < first
        else rate(step - first, rest, peak=plan.learning_rate, cut=plan.warmup)
        for step in steps
    ]
    parts = ("embeddings", *(f"layer_{number}" for number in range(1, layers + 1)), "head")
    rates = tuple(
        tuple(peak * factors[epoch][part] for peak, epoch in zip(peaks, epochs, strict=True))
        for part in range(len(parts))
    )
    return LayerRates(parts, steps, epochs, rates, plan.steps, plan.steps_per_epoch, first)
