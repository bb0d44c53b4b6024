"""What smaller weights of a run cost: a table that is measured on request, and its sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFileDialog, QFrame, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.style import formats
from workbench.ui.style.run_text import is_error, score_text, score_title
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, Wrapped, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, card, column, row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.exporters.model.weights import WeightsRow
    from workbench.ui.panels.export.weights_state import WeightsState

NAMES = ("title", "bytes", "ms_1", "ms_32", "equal_share", "score", "change")
SCORE = NAMES.index("score")


class WeightsCard(QFrame):
    def __init__(self, state: WeightsState) -> None:
        super().__init__()
        self.state = state
        self._about = Elided("", "small", "muted")
        self._start = Button(_("Measure"), "gauge", small=True, on=state.measure)
        self._save = Button(_("Save table…"), "save", "quiet", small=True, on=self._ask_file)
        self._cancel = Button(
            _("Cancel"), kind="danger", small=True, on=state.cancel, name=_("Cancel measuring")
        )
        title = Wrapped(_("What smaller weights cost"), weight=600)
        buttons = flow(self._save, self._cancel, self._start)
        head = TurningRow((column(title, self._about, gap=2), 1), buttons)
        self._stage = Elided("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress of measuring"))
        self._progress = row((self._stage, 1), (self._meter, 1), gap=12)
        self._table = Table(self._columns(), name=_("Smaller weights"), key=lambda item: item.id)
        self._table.setItemDelegateForColumn(SCORE, IntervalDelegate(self._table, self._interval))
        self._sentence = words("", "small", wrap=True, select=True)
        self._none = words("", "small", "muted", wrap=True)
        self._problem = Callout(tone="warn")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        parts = (head, self._none, self._progress, self._table, self._sentence, self._problem)
        layout.addWidget(card(*parts, gap=10))

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self.setVisible(state.run is not None)
        if concerns(fields, "rows", "table"):
            self._table.set_rows(state.rows)
            self._table.fit_height()
        busy, some = state.busy, bool(state.rows)
        self._progress.setVisible(busy)
        self._stage.setText(state.stage)
        self._meter.set(state.share)
        had_focus = self._start.hasFocus() or self._cancel.hasFocus()
        self._cancel.setVisible(busy)
        self._start.setVisible(not busy)
        if had_focus:  # else Qt would pass it to the server's buttons
            (self._cancel if busy else self._start).setFocus()
        self._start.set_text(_("Measure again") if state.table else _("Measure"))
        self._save.setVisible(state.table is not None and not busy)
        self._table.setVisible(some)
        self._none.setVisible(not some and not busy)
        self._none.setText(
            _(
                "Measures the run with weights of 32, 16 and 8 bits on documents of dev: size, "
                "speed, labels and score. It takes a few minutes; the table is kept with the run."
            )
        )
        self._about.setText(self._measured_on())
        self._about.setVisible(state.table is not None)
        self._sentence.setText(state.sentence)
        self._sentence.setVisible(bool(state.sentence))
        self._problem.set(state.problem)

    def _measured_on(self) -> str:
        table = self.state.table
        if table is None:
            return ""
        documents = ngettext(
            "{score} on {n} document of dev",
            "{score} on {n} documents of dev",
            table.documents,
            n=table.documents,
            score=score_title(table.score) if table.score else _("Labels"),
        )
        threads = ngettext("{n} thread", "{n} threads", table.threads, n=table.threads)
        return "  ·  ".join((documents, threads, formats.when_iso(table.at)))

    def _columns(self) -> list[Column]:
        described = self.state.columns()
        looks: dict[str, dict[str, Any]] = {
            "title": {"width": 168, "tip": lambda item: item.hint},
            "bytes": {"width": 76},
            "ms_1": {"title": _("ms (1)"), "width": 64, "digits": 1},
            "ms_32": {"title": _("ms (32)"), "width": 78, "digits": 1},
            "equal_share": {
                "title": described["equal_share"].title,  # counts, not a percentage
                "width": 108,
                "kind": ValueKind.COUNT,
                "tip": self._equal_tip,
            },
            "score": {"width": None, "display": self._score_text},
            "change": {"width": 72, "display": self._change_text, "right": True},
        }
        return [Column.of(described[name], **looks[name]) for name in NAMES]

    def _equal_tip(self, item: WeightsRow) -> str:
        if not item.kept:
            return item.problem
        return _("Kept in 32 bits: {names}", names=", ".join(item.kept))

    def _score_text(self, item: WeightsRow) -> str:
        text, score = partial(score_text, self.state.score), item.score
        if score.value is None:
            return "–"
        if score.interval is None:
            return text(score.value)
        low, high = map(text, score.interval)
        return f"{text(score.value)}  {low} – {high}"

    def _change_text(self, item: WeightsRow) -> str:
        value = item.change.value
        return "–" if value is None else score_text(self.state.score, value, signed=True)

    def _interval(self, number: int) -> Interval:
        item: WeightsRow = self._table.rows()[number]
        if item.problem:
            return Interval(None, note=item.problem)
        if item.score.value is None or is_error(self.state.score):
            return Interval(None)
        low, high = item.score.interval or (None, None)
        return Interval(item.score.value, low, high)

    def _ask_file(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save table"), "weights.csv", "CSV (*.csv);;TSV (*.tsv)"
        )
        if path:
            self.state.context.attempt(self.state.save, Path(path))
