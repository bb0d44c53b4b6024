"""Tables of the scores of a run: all scores, and the matching of spans."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt

from workbench.base.i18n import _
from workbench.ui.panels.results.runs.details import SchemeRow, ScoreRow
from workbench.ui.style import formats
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import interval_method, interval_text, pair_of
from workbench.ui.widgets.tables.table import Column, Table

OUTCOMES = {
    "correct": _("Correct"),
    "incorrect": _("Wrong"),
    "partial": _("Partial"),
    "missed": _("Missed"),
    "spurious": _("Spurious"),
}


ORIGINAL, CURRENT = 1, 2  # columns of `score_table`


def span_table() -> Table:
    """Rows are `SchemeRow`; it scrolls sideways, as every outcome is needed to read a row."""
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
    table = Table(columns, name=_("Matching of spans"), key=lambda row: row.scheme)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    return table


def score_table() -> Table:
    """Rows are `ScoreRow`."""
    columns = (
        Column(_("Score"), _score_name, tip=lambda row: row.hint),
        Column(
            _("Original"),
            lambda row: row.text(row.original),
            76,
            right=True,
            hint=_(
                "Against the gold labels at the end of the run; on test, when the score "
                "was first shown"
            ),
        ),
        Column(
            _("Current"),
            lambda row: row.text(row.current),
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


def _outcome(name: str, row: SchemeRow) -> str:
    return formats.count(row.outcomes[name])


def _score_name(row: ScoreRow) -> str:
    if row.split == "dev":
        return row.name
    return _("{score}, test", score=row.name)
