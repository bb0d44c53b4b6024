"""Intervals of scores as text, and what a score shows on hover: definition, rule, interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import _, ngettext
from workbench.operations.evaluation.quality import interval_method
from workbench.operations.evaluation.slices import MIN_EXAMPLES
from workbench.ui.style.run_text import label_hint, score_hint, score_text

__all__ = [
    "few_tip", "interval_method", "interval_text", "label_tip", "named_interval", "pair_of",
    "score_tip",
]  # fmt: skip

if TYPE_CHECKING:

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


def label_tip(name: str, interval: tuple[float, float] | None, support: int) -> str:
    """On hover over a score of a label: its definition, rule, and interval or why there is none.

    support: the number of gold examples of the label.
    """
    few = few_tip(support)
    return f"{label_hint(name)}\n{few}" if few else _with_interval(label_hint(name), interval, name)


def few_tip(support: int) -> str:
    """Why a label has no interval; "" if it has enough examples."""
    message = ngettext("fewer than {n} example", "fewer than {n} examples", MIN_EXAMPLES)
    return message.format(n=MIN_EXAMPLES) if support < MIN_EXAMPLES else ""


def _with_interval(hint: str, interval: tuple[float, float] | None, name: str) -> str:
    if interval is None:
        return hint
    message = _("95% interval: {interval}", interval=interval_text(interval, name))
    return f"{hint}\n{message}".strip()
