"""Gain of one score over another, absolute and as the part of the errors that is gone."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.records import JsonRecord


@dataclass(frozen=True)
class Gain(JsonRecord):
    """absolute: positive if the score is better, in its own unit (fractions of 1).

    errors_removed: the fraction of the baseline's errors that is gone; None for a loss, and without
    an error.
    """

    absolute: float
    errors_removed: float | None


def gain(value: float | None, baseline: float | None, *, is_error: bool = False) -> Gain | None:
    """Gain of `value` over `baseline`, fractions of 1 of which 1 is perfect; None if one is not
    known.

    is_error: both are errors in the unit of gold, of which 0 is perfect.
    Source: Peters et al. 2018, table 1 ("relative increase"): Δ / (1 - baseline).
    """
    if value is None or baseline is None:
        return None
    absolute = baseline - value if is_error else value - baseline
    left = baseline if is_error else 1.0 - baseline
    return Gain(absolute, absolute / left if absolute >= 0 and left > 0 else None)
