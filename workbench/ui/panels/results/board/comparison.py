"""Runs compared: tests, scores, labels, slices and settings on the left, documents on the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QTabBar, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.base.i18n import N_, _, ngettext
from workbench.ui.panels.results.board.comparison_parts import (
    LabelsPart,
    ScoresPart,
    SettingsPart,
    SlicesPart,
    TestsPart,
)
from workbench.ui.panels.results.board.comparison_state import Comparing
from workbench.ui.panels.results.runs.details import TrainOverlap
from workbench.ui.panels.results.runs.train_overlap_warning import TrainOverlapWarning
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import card, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.pairs import SystemPair

PARTS = {
    "tests": N_("Tests"),
    "scores": N_("Scores"),
    "labels": N_("Labels"),
    "slices": N_("Slices"),
    "settings": N_("Settings"),
}
BESIDE = 1000  # pixels at 100% from which the documents are beside the tests
FIRST, SECOND, NEITHER = "only_first", "only_second", "both_wrong"


class ComparisonView(QFrame):
    """`actions`: further buttons of the head."""

    def __init__(self, comparing: Comparing, *actions: QWidget):
        super().__init__()
        self._state = comparing
        self._title = Elided("", weight=600)
        self._busy = words("", "small", "accent")
        self._swap = Button(_("Swap A and B"), "rotate-ccw", "quiet", small=True, on=comparing.swap)
        self._score = Button(_("Score all"), small=True, on=comparing.score_all)
        self._again = Button(_("Compare again"), small=True, on=comparing.load)
        self._problem = Callout("", "warn", self._score, self._again)
        self._meter = Meter(name=_("Progress of the comparison"))
        self._meter.setFixedWidth(theme.px(120))
        self._cancel = Button(_("Cancel"), "x", "quiet", small=True, on=comparing.cancel)
        self._train_overlap = TrainOverlapWarning(comparing.open_documents)
        self._head = row(
            (self._title, 1), self._busy, self._meter, self._cancel, self._swap, *actions, gap=8
        )
        self._tabs = QTabBar()
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(_("Parts of the comparison"))
        for title in PARTS.values():
            self._tabs.addTab(_(title))
        kinds = (TestsPart, ScoresPart, LabelsPart, SlicesPart, SettingsPart)
        builders = [lambda kind=kind: kind(comparing) for kind in kinds]
        self._parts = LaterStack(*builders, made=self._fill)
        self._tabs.currentChanged.connect(self._parts.setCurrentIndex)
        self._parts.setCurrentIndex(0)
        self._documents = DocumentsCard(comparing)
        self._body = QFrame()
        self._sides = QHBoxLayout(self._body)
        self._sides.setContentsMargins(0, 0, 0, 0)
        self._sides.setSpacing(12)
        self._sides.addWidget(card(self._tabs, (self._parts, 1), margins=(12, 8, 12, 10)), 5)
        self._sides.addWidget(self._documents, 6)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 10, 20, 14)
        layout.setSpacing(8)
        layout.addWidget(self._head)
        layout.addWidget(self._problem)
        layout.addWidget(self._train_overlap)
        layout.addWidget(self._body, 1)
        layout.addStretch(0)
        comparing.selection.listen(comparing.changed, self._changed)

    def _changed(self, fields: frozenset[str]) -> None:
        if isValid(self) and self.isVisible():
            self.render_part(fields)

    def _fill(self, number: int) -> None:
        part: Any = self._parts.widget(number)
        part.show_state()

    def resizeEvent(self, event: QResizeEvent) -> None:
        beside = self.width() > theme.px(BESIDE)
        way = QBoxLayout.Direction
        self._sides.setDirection(way.LeftToRight if beside else way.TopToBottom)
        super().resizeEvent(event)

    def render_part(self, fields: frozenset[str]) -> None:
        state = self._state
        if fields == {"share"} and state.share is not None:
            self._meter.set(state.share)
            return
        pair = state.pair
        self._busy.setText(state.busy)
        running = state.share is not None
        self._meter.setVisible(running)
        self._cancel.setVisible(running)
        self._meter.set(state.share or 0.0)
        self._problem.set(state.problem, "warn")
        self._again.setVisible(state.cancelled)
        self._score.setVisible(bool(state.unscored) and not state.busy)
        self._score.setEnabled(not state.project.read_only)
        self._body.setVisible(pair is not None)
        self._swap.setVisible(pair is not None)
        systems = state.comparison.systems if state.comparison is not None else ()
        self._train_overlap.show_systems(
            [
                TrainOverlap(system.run.name, state.split, system.trained_on, len(system.evidence))
                for system in systems
            ]
        )
        if pair is None:
            names = "  ·  ".join(state.name(id) for id in state.ids)
            self._title.setText(names)
            return
        message = _("{a} {first}  compared with  {b} {second}")
        about = {"first": state.name(pair.first), "second": state.name(pair.second)}
        letters = {"a": state.letter(pair.first), "b": state.letter(pair.second)}
        title = message.format(**about, **letters)
        if (n := len(state.ids)) > 2:
            title = ngettext("{title}, of {n} run", "{title}, of {n} runs", n, title=title)
        self._title.setText(title)
        swap = _("Swap {a} and {b}", **letters)
        self._swap.set_text(swap)
        for number in self._parts.made():
            self._fill(number)
        self._documents.show_state(pair)


class DocumentsCard(QFrame):
    """Documents that only one of the two systems, or neither, predicts correctly."""

    def __init__(self, comparing: Comparing):
        super().__init__()
        self._state = comparing
        self._kind = FIRST
        self._kinds = Segments(
            (FIRST, ""), (SECOND, ""), (NEITHER, ""), name=_("Documents of the comparison")
        )
        self._kinds.chosen.connect(self._choose)
        self._review = Button(_("Review"), "arrow-up-right", small=True, on=self._open_all)
        columns = (
            Column(_("Key"), lambda row: row.key, 100, tip=lambda row: row.key),
            Column(_("Text"), lambda row: row.text, tip=lambda row: row.text, prose=True),
            Column(
                _("Gold"),
                lambda row: row.gold,
                118,
                most=200,
                chip=self._chip,
                tip=lambda row: row.gold,
            ),
            Column(
                _("A"),
                lambda row: row.first,
                132,
                most=200,
                icon=self._mark(0),
                tip=self._tip("first"),
            ),
            Column(
                _("B"),
                lambda row: row.second,
                132,
                most=200,
                icon=self._mark(1),
                tip=self._tip("second"),
            ),
        )
        self.table = Table(
            columns, name=_("Documents"), key=lambda row: row.document_id, sortable=True
        )
        self.table.opened.connect(self._open)
        self.table.setMinimumHeight(theme.px(96))
        self._none = words(_("No documents."), "small", "muted")
        self._none.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        inner = card(
            row((self._kinds, 1), self._review),
            (self.table, 1),
            (self._none, 1),
            margins=(12, 10, 12, 10),
        )
        layout.addWidget(inner)

    def _chip(self, item: Any) -> tuple[str, Any, str] | None:
        """Gold in the colour of its label; None for other texts, such as spans."""
        label = self._state.labels.get(item.gold)
        return (item.gold, label, "") if label is not None else None

    def _mark(self, side: int) -> Callable[[Any], tuple[str, str]]:
        def mark(_row: Any) -> tuple[str, str]:
            right = self._kind == (FIRST, SECOND)[side]
            return ("check", "good") if right else ("x", "bad")

        return mark

    @staticmethod
    def _tip(side: str) -> Callable[[Any], str]:
        return lambda item: str(getattr(item, side))

    def resizeEvent(self, event: QResizeEvent) -> None:
        # hide the key in favour of the text
        self.table.setColumnHidden(0, self.width() < theme.px(560))
        super().resizeEvent(event)

    def _choose(self, kind: object) -> None:
        self._kind = str(kind)
        if (pair := self._state.pair) is not None:
            self.show_state(pair)

    def show_state(self, pair: SystemPair) -> None:
        a, b = (self._state.letter(id) for id in (pair.first, pair.second))
        titles = {
            FIRST: _("{a} right, {b} wrong  {n}"),
            SECOND: _("{b} right, {a} wrong  {n}"),
            NEITHER: _("Both wrong  {n}"),
        }
        for kind, title in titles.items():
            n = formats.count(len(getattr(pair, kind)))
            self._kinds.set_words(kind, title.format(a=a, b=b, n=n))
        self._kinds.set(self._kind)
        for number, letter in ((3, a), (4, b)):
            self.table.rows_model.set_title(number, letter)
        rows = getattr(pair, self._kind)
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self._none.setVisible(not rows)
        self._review.setEnabled(bool(rows))

    def _ids(self) -> tuple[int, ...]:
        return tuple(item.document_id for item in self.table.rows())

    def _open(self, chosen: Any) -> None:
        self._state.review(self._ids(), chosen.document_id)

    def _open_all(self) -> None:
        self._state.review(self._ids())
