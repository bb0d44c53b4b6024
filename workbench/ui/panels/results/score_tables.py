"""Tables of the scores of a run: all scores, and the matching of spans."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui import formats
from workbench.ui.formats import points
from workbench.ui.panels.results.details import ScoreRow
from workbench.ui.panels.results.measures import SpanRow, interval_method
from workbench.ui.run_words import label_hint, score_hint, score_text
from workbench.ui.widgets.table import Column, Table

if TYPE_CHECKING:
    from workbench.metrics.report import Measured
    from workbench.metrics.slices import SliceScore

OUTCOMES = {
    "correct": _("Correct"),
    "incorrect": _("Wrong"),
    "partial": _("Partial"),
    "missed": _("Missed"),
    "spurious": _("Spurious"),
}


def pair_of(row: ScoreRow | SpanRow | SliceScore | Measured) -> tuple[float, float] | None:
    return None if row.low is None or row.high is None else (row.low, row.high)


def span_table() -> Table:
    """Rows are `SpanRow`."""
    columns = (
        Column(_("Scheme"), lambda row: row.scheme, tip=lambda row: row.hint),
        Column(_("F1"), lambda row: points(row.f1), 58, right=True),
        Column(
            _("95%"),
            lambda row: interval_text(pair_of(row)),
            112,
            right=True,
            hint=interval_method(),
        ),
        *(
            Column(title, partial(_outcome, outcome), 72, right=True)
            for outcome, title in OUTCOMES.items()
        ),
    )
    return Table(columns, name=_("Matching of spans"), key=lambda row: row.scheme)


def score_table() -> Table:
    """Rows are `ScoreRow`."""
    columns = (
        Column(_("Score"), _score_name, tip=lambda row: row.hint),
        Column(
            _("As run"),
            lambda row: row.text(row.as_run),
            76,
            right=True,
            hint=_(
                "Against the gold labels at the end of the run; on test, when the score "
                "was first shown"
            ),
        ),
        Column(
            _("Current"),
            lambda row: row.text(row.today),
            76,
            right=True,
            hint=_("The same predictions against the current gold labels"),
        ),
        Column(
            _("95%"),
            lambda row: interval_text(pair_of(row), row.key),
            112,
            right=True,
            hint=interval_method(),
        ),
    )
    return Table(columns, name=_("All scores"), key=_score_name, sortable=True)


def _outcome(name: str, row: SpanRow) -> str:
    return formats.count(row.outcomes[name])


def interval_text(found: tuple[float, float] | None, name: str = "") -> str:
    """An interval of a score, in percentage points for fractions; "–" if it is unknown."""
    if found is None:
        return "–"
    low, high = (score_text(name, end) for end in found)
    return f"{low} – {high}"


def score_tip(name: str, interval: tuple[float, float] | None) -> str:
    """On hover: the definition of a score, its rule for zero division, and its interval."""
    return _with_interval(score_hint(name), interval, name)


def label_tip(name: str, interval: tuple[float, float] | None) -> str:
    """On hover over a score of a label: its definition, rule and interval."""
    return _with_interval(label_hint(name), interval, name)


def _with_interval(hint: str, interval: tuple[float, float] | None, name: str) -> str:
    if interval is None:
        return hint
    message = _("95% interval: {interval}").format(interval=interval_text(interval, name))
    return f"{hint}\n{message}".strip()


def _score_name(row: ScoreRow) -> str:
    if row.split == "dev":
        return row.name
    return _("{score}, test").format(score=row.name)
