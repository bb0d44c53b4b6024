"""Two runs side by side: scores, and the documents that only one of them predicts correctly."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui import formats, plain, theme
from workbench.ui.formats import points
from workbench.ui.panels.results.state import ResultsState
from workbench.ui.run_words import score_names, score_title
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.layout import card, row, scrolled
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import Elided, words

LEAST_TABLE = 120  # pixels at 100 %; below, the page scrolls


class ComparisonView(QFrame):
    def __init__(self, state: ResultsState):
        super().__init__()
        self._state = state
        self._title = Elided("", "heading", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        self._words, self._problem = words("", "small", "muted", wrap=True), Callout("", "warn")
        back = Button(
            _("Show first only"),
            small=True,
            on=lambda: state.choose(tuple(sorted(state.chosen)[:1])),
        )
        self._average = Button(
            _("Average these runs"),
            small=True,
            on=state.averaging.start,
        )
        columns = (
            Column(_("Score on dev, current gold"), lambda one: one[0]),
            Column(_("First"), lambda one: points(one[1]), 110, right=True),
            Column(_("Second"), lambda one: points(one[2]), 110, right=True),
            Column(
                _("Difference"),
                lambda one: formats.points(one[2] - one[1], signed=True),
                110,
                right=True,
            ),
        )
        self._scores = Table(
            columns, name=_("Scores side by side"), key=lambda one: one[0], sortable=True
        )
        self._first, self._second = (
            self._documents(_("Only first correct")),
            self._documents(_("Only second correct")),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 14, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(row((self._title, 1), self._average, back, gap=6))
        layout.addWidget(self._problem)
        inside = QFrame()
        self._body = scrolled(inside)
        body = QVBoxLayout(inside)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(12)
        body.addWidget(card(self._scores, self._words, gap=8))
        self._names = tuple(
            Elided("", weight=600, mode=Qt.TextElideMode.ElideMiddle) for _side in range(2)
        )
        self._counts = (words("", weight=600), words("", weight=600))
        sides = zip(self._names, self._counts, (self._first, self._second), strict=True)
        body.addWidget(
            row(*((card(row((name, 1), count), table), 1) for name, count, table in sides), gap=12),
            1,
        )
        layout.addWidget(self._body, 1)
        layout.addStretch(0)

    def _documents(self, name: str) -> Table:
        columns = (
            Column(_("Key"), lambda one: one.key, 72, tip=lambda one: one.key),
            Column(_("Text"), lambda one: one.text, tip=lambda one: one.text, prose=True),
            Column(_("Gold"), lambda one: one.gold, 92, tip=lambda one: one.gold),
            Column(
                _("Prediction"),
                lambda one: one.predicted,
                92,
                tip=lambda one: one.predicted,
                hint=_("Prediction of the other run"),
            ),
        )
        table = Table(columns, name=name, key=lambda one: one.document_id, sortable=True)
        table.setMinimumHeight(theme.px(LEAST_TABLE))
        table.opened.connect(
            lambda one: self._state.context.go("annotate", document=one.document_id)
        )
        return table

    def resizeEvent(self, event: QResizeEvent) -> None:
        for table in (self._first, self._second):
            # hide the key in favour of the text
            table.setColumnHidden(0, self.width() < theme.px(1000))
        super().resizeEvent(event)

    def render_part(self, _fields: frozenset[str]) -> None:
        state = self._state
        first, second = (state.run_of(id) for id in sorted(state.chosen))
        if first is None or second is None:
            return
        self._title.setText(f"{first.name}  ·  {second.name}")
        reason = state.averaging.problem
        self._average.setEnabled(not reason)
        told = _("Add a run whose class probabilities are the mean of these two")
        plain.set_tip(self._average, reason or told)
        self._problem.set(state.problem, "warn")
        found = state.comparison
        self._body.setVisible(found is not None)
        if found is None:
            return
        for number, run in ((1, first), (2, second)):
            self._scores.rows_model.set_title(number, run.name)
        names = score_names(found.first.scores, first.spec.get("task", ""))
        self._scores.set_rows(
            [
                (score_title(name), found.first.scores[name], found.second.scores[name])
                for name in names
            ]
        )
        self._scores.fit_height(8)
        self._words.setText(self._sentence(found))
        self._first.set_rows(found.only_first)
        self._second.set_rows(found.only_second)
        for number, (run, rows) in enumerate(
            ((first, found.only_first), (second, found.only_second))
        ):
            self._names[number].setText(_("Only {name} correct").format(name=run.name))
            self._counts[number].setText(str(len(rows)))

    @staticmethod
    def _sentence(found: Any) -> str:
        if not found.first.n:
            return _("There is no dev document with gold labels and predictions of both runs.")
        chance = found.chance
        p = _("p < 0.01") if chance < 0.01 else _("p = {p:.2f}").format(p=chance)
        told = _(
            "Both correct: {right}. Both wrong: {wrong}. Documents: {n}. Exact McNemar test: {p}."
        )
        return told.format(right=found.both_right, wrong=found.both_wrong, n=found.first.n, p=p)
