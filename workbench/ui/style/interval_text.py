"""Intervals of scores as text, and what a score shows on hover: definition, rule, interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import _, ngettext
from workbench.operations.evaluation.quality import interval_method
from workbench.operations.evaluation.scoring import label_columns
from workbench.operations.evaluation.slices import MIN_EXAMPLES
from workbench.ui.style.run_text import label_hint, score_hint, score_text

__all__ = [
    "LabelIntervals", "few_tip", "interval_method", "interval_text", "label_columns",
    "named_interval", "pair_of", "score_tip",
]  # fmt: skip

if TYPE_CHECKING:
    from workbench.metrics.classes import LabelScore
    from workbench.metrics.evaluation import Evaluation

    class Bounded(Protocol):
        """Something with the ends of an interval; None if they are unknown."""

        @property
        def low(self) -> float | None: ...

        @property
        def high(self) -> float | None: ...


def pair_of(bounds: Bounded | None) -> tuple[float, float] | None:
    if bounds is None or bounds.low is None or bounds.high is None:
        return None
    return bounds.low, bounds.high


def interval_text(interval: tuple[float, float] | None, name: str = "") -> str:
    """An interval of a score, in percentage points for fractions; "–" if it is unknown."""
    if interval is None:
        return "–"
    low, high = (score_text(name, end) for end in interval)
    return f"{low} – {high}"


def named_interval(interval: tuple[float, float] | None, name: str = "") -> str:
    """An interval that says what it is; "" if it is unknown."""
    if interval is None:
        return ""
    return _("95%: {interval}", interval=interval_text(interval, name))


def score_tip(name: str, interval: tuple[float, float] | None) -> str:
    """On hover: the definition of a score, its rule for zero division, and its interval."""
    return _with_interval(score_hint(name), interval, name)


def few_tip(support: int) -> str:
    """Why a label has no interval; "" if it has enough examples."""
    message = ngettext("fewer than {n} example", "fewer than {n} examples", MIN_EXAMPLES)
    return message.format(n=MIN_EXAMPLES) if support < MIN_EXAMPLES else ""


def _with_interval(hint: str, interval: tuple[float, float] | None, name: str) -> str:
    if interval is None:
        return hint
    message = _("95% interval: {interval}", interval=interval_text(interval, name))
    return f"{hint}\n{message}".strip()


class LabelIntervals:
    """The intervals of scores by label of an evaluation, which can change: `evaluation()`."""

    def __init__(self, evaluation: Callable[[], Evaluation | None]) -> None:
        self._evaluation = evaluation

    def of(self, row: LabelScore, name: str = "f1") -> tuple[float, float] | None:
        """None if it is unknown or the label has too few examples."""
        evaluation = self._evaluation()
        if evaluation is None or few_tip(row.support):
            return None
        return evaluation.of_label(row.label, name).interval

    def tip(self, name: str, row: LabelScore) -> str:
        """On hover over a score of a label: its definition, rule, and interval or why there is
        none.
        """
        hint, few = label_hint(name), few_tip(row.support)
        return f"{hint}\n{few}" if few else _with_interval(hint, self.of(row, name), name)
