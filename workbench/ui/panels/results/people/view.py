"""People: agreement by layer with intervals, pairs, where they differ, and on which documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QComboBox, QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.text.result_view import NONE
from workbench.ui.panels.results.people.state import PeopleState, Row, documents_text
from workbench.ui.style import formats, theme
from workbench.ui.style.interval_text import interval_text, pair_of
from workbench.ui.style.run_text import is_fraction, score_hint, score_text, score_title
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate
from workbench.ui.widgets.charts.matrix import Matrix
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.layout import card, column, layout_of, row, scrolled
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatStyle, HeatTable
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.people.agreement import Agreement, Value

TWO_COLUMNS_WIDTH = 1000  # pixels at 100% from which cards are in two columns
LINES = 8  # of the table of measures; more scroll
LISTED = 300  # least height of the list of documents, pixels at 100%
VALUES = 230  # width of a value with its bar, pixels at 100%
Measured = tuple["Agreement", "Value"]


class PeopleView(QFrame):
    def __init__(self, state: PeopleState):
        super().__init__()
        self.state = state
        self._who = QWidget()
        self._boxes = FlowLayout(self._who, gap=14)
        self._names: tuple[object, ...] = ()
        self._busy = words("", "small", "accent")
        self._verdict = Callout("", "accent")
        self._problem = Callout("", "warn")
        self.values = Table(
            _value_columns(),
            name=_("Agreement by layer"),
            key=lambda row: (row[0].layer.name, row[1].name),
        )
        self.values.setItemDelegateForColumn(2, IntervalDelegate(self.values, self._interval))
        self._measure = QComboBox()
        self._measure.setAccessibleName(_("Measure of the pairs"))
        self._measure.activated.connect(
            lambda _at: state.choose_measure(self._measure.currentData())
        )
        self.pairs = HeatTable(
            _("Pairs"), _("Rows and columns: people and runs."), HeatStyle(60, 110)
        )
        self.pairs.moved.connect(state.choose_pair)
        self._layer = QComboBox()
        self._layer.setAccessibleName(_("Layer"))
        self._layer.textActivated.connect(state.choose_layer)
        self.matrix = Matrix(_("Where they differ"))
        self.matrix.opened.connect(lambda down, across: state.choose_cell((down, across)))
        self._axes = words("", "caption", "muted", wrap=True)
        self._no_matrix = words(_("This layer has no labels to compare."), "small", "muted")
        self._count = words("", "small", "muted")
        self._table_place = QVBoxLayout()
        self._table_place.setContentsMargins(0, 0, 0, 0)
        self.documents: Table | None = None
        self._columns: tuple[str, ...] = ()
        values, pairs, differ, listed = self._build_cards()
        upper = row((values, 3), (pairs, 2), gap=12)
        lower = row((differ, 2), (listed, 3), gap=12)
        self._rows = [layout_of(part) for part in (upper, lower)]
        self._whole = scrolled(column(upper, (lower, 1), gap=12))
        act = state.context.app.act
        assign = Button(_("Assign documents…"), "users", "primary", on=lambda: act("assign"))
        self._none = EmptyState(
            "users",
            _("No document is labelled by two people"),
            _(
                "Assign the same documents to several people: each gets a file of their own. Then "
                "merge what they labelled. A person and a run are compared too."
            ),
            assign,
            Button(_("Merge…"), "plus", on=lambda: act("merge")),
        )
        self._blind = EmptyState(
            "eye-off",
            _("Blind mode hides the labels of others"),
            _("Turn it off to compare people."),
            Button(_("People…"), on=lambda: act("people")),
        )
        rounds = words(_("2,000 bootstrap samples over documents"), "small", "muted")
        head = row(
            words(_("Between"), "small", "muted"), (self._who, 1), self._busy, rounds, gap=10
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 12, 20, 14)
        layout.setSpacing(10)
        self._head = head
        for part in (head, self._problem, self._verdict):
            layout.addWidget(part)
        layout.addWidget(self._whole, 1)
        layout.addWidget(self._none, 1)
        layout.addWidget(self._blind, 1)
        state.listen(state.changed, self.render)
        self._arrange()
        self.render(frozenset())

    def _build_cards(self) -> tuple[QFrame, ...]:
        values = card(
            row(
                words(_("Agreement by layer"), weight=600),
                words(_("95% interval"), "small", "muted"),
                None,
                save_menu("agreement", _("Save the agreement"), self.values),
            ),
            (self.values, 1),
            words(
                _(
                    "Kappa, alpha and AC1 take off the agreement expected by chance. Partial "
                    "counts spans that overlap one half."
                ),
                "caption",
                "muted",
                wrap=True,
            ),
        )
        pairs = card(row(words(_("Pairs"), weight=600), None, self._measure), (self.pairs, 1))
        differ = card(
            row(words(_("Where they differ"), weight=600), None, self._layer),
            (self.matrix, 1),
            self._no_matrix,
            self._axes,
        )
        place = QFrame()
        place.setLayout(self._table_place)
        listed = card(
            row(words(_("Documents with disagreements"), weight=600), self._count, None),
            (place, 1),
        )
        return values, pairs, differ, listed

    # ---------------------------------------------------------------- render

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        measured = state.agreements
        self._busy.setText("" if state.share is None else _("Measuring…"))
        self._problem.set(state.problem, "warn")
        self._verdict.set(state.verdict)
        self._show_names()
        self._head.setVisible(bool(state.annotators))
        self._whole.setVisible(bool(measured))
        empty = measured is not None and not measured and not state.problem
        self._none.setVisible(empty and not state.blind)
        self._blind.setVisible(empty and state.blind)
        if not measured:
            return
        self.values.set_rows([(item, value) for item in measured for value in item.values])
        self.values.fit_height(LINES)
        names = [item.layer.name for item in measured]
        if [self._layer.itemText(at) for at in range(self._layer.count())] != names:
            self._layer.clear()
            self._layer.addItems(names)
        self._layer.setCurrentText(state.layer)
        if (compared := state.current) is not None:
            self._show_pairs(compared)
            self._show_matrix(compared)
            self._show_documents(compared)

    def _show_names(self) -> None:
        state = self.state
        names = tuple((item.kind, item.id, item.name) for item in state.annotators)
        if names == self._names:
            return
        self._names = names
        while (item := self._boxes.takeAt(0)) is not None:
            if (box := item.widget()) is not None:
                box.deleteLater()
        for annotator in state.annotators:
            box = QCheckBox(annotator.name.replace("&", "&&"))
            box.setChecked((annotator.kind, annotator.id) not in state.left_out)
            box.toggled.connect(partial(state.include, annotator))
            self._boxes.addWidget(box)

    def _show_pairs(self, compared: Agreement) -> None:
        self._measure.clear()
        for value in compared.values:
            self._measure.addItem(value.title, value.name)
        self._measure.setCurrentIndex(self._measure.findData(self.state.measure))
        names = [annotator.name for annotator in compared.annotators]
        name = self.state.measure

        def value_of(down: int, across: int) -> float | None:
            return compared.pairs.get((min(down, across), max(down, across)), {}).get(name)

        def cell(down: int, across: int) -> HeatCell:
            value = value_of(down, across)
            if down == across or value is None:
                return HeatCell("", 0.0, barred=True)
            return HeatCell(score_text(name, value), max(0.0, min(1.0, value)))

        def tip(down: int, across: int) -> str:
            value = value_of(down, across)
            text = NONE if value is None else score_text(name, value)
            return f"{names[down]} – {names[across]}: {score_title(name)} {text}"

        self.pairs.set_cells(names, names, cell, tip)

    def _show_matrix(self, compared: Agreement) -> None:
        confusion = self.state.confusion
        self.matrix.setVisible(confusion is not None)
        self._no_matrix.setVisible(confusion is None)
        first, second = (compared.annotators[at].name for at in self.state.pair)
        self._axes.setText(
            _(
                "Rows: {first}. Columns: {second}. A click lists the documents; a cell of Pairs "
                "chooses whom.",
                first=first,
                second=second,
            )
            if confusion is not None
            else ""
        )
        if confusion is not None:
            names = [name or NONE for name in confusion.labels]
            self.matrix.set_sides(first, second)
            self.matrix.set_counts(names, confusion.counts.tolist())

    def _show_documents(self, compared: Agreement) -> None:
        names = tuple(annotator.name for annotator in compared.annotators)
        if self.documents is None or names != self._columns:
            self._columns = names
            if self.documents is not None:
                self._table_place.removeWidget(self.documents)
                self.documents.deleteLater()
            self.documents = Table(
                _document_columns(names),
                name=_("Documents with disagreements"),
                key=lambda row: row[1].document_id,
            )
            self.documents.opened.connect(self.state.open_document)
            self.documents.setMinimumHeight(theme.px(LISTED))
            self._table_place.addWidget(self.documents)
        rows = self.state.rows
        self.documents.set_rows(rows)
        self._count.setText(documents_text(compared))

    def _interval(self, number: int) -> Interval:
        value = self.values.rows()[number][1]
        if not is_fraction(value.name):  # has no scale from 0 to 1
            return Interval(None)
        return Interval(value.value, value.low, value.high)

    # ---------------------------------------------------------------- layout

    def take_focus(self) -> None:
        (self.documents or self.values).setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        self.state.watch(False)
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        super().resizeEvent(event)

    def _arrange(self) -> None:
        beside = self.width() > theme.px(TWO_COLUMNS_WIDTH)
        ways = QBoxLayout.Direction
        for layout in self._rows:
            layout.setDirection(ways.LeftToRight if beside else ways.TopToBottom)


def _value_columns() -> tuple[Column, ...]:
    return (
        Column(_("Layer"), _layer_name, 90),
        Column(
            _("Measure"),
            lambda row: row[1].title,
            tip=lambda row: score_hint(row[1].name),
        ),
        Column(_("Value"), _value_text, VALUES),
        Column(_("Documents"), lambda row: formats.count(len(row[0].documents)), 96, right=True),
    )


def _layer_name(measured: Measured) -> str:
    """Once for all measures of a layer."""
    compared, value = measured
    return compared.layer.name if value.name == compared.main else ""


def _value_text(measured: Measured) -> str:
    """Two spaces separate the parts that the delegate draws."""
    value = measured[1]
    if value.value is None:
        return NONE
    bounds = "" if (pair := pair_of(value)) is None else interval_text(pair, value.name)
    return f"{score_text(value.name, value.value)}  {bounds}"


def _document_columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    def version(number: int, item: Row) -> str:
        return item[1].versions[number]

    return (
        Column(_("Key"), lambda row: row[1].key, 80),
        Column(_("Text"), lambda row: row[1].text, tip=lambda row: row[1].text, prose=True),
        *(
            Column(name, partial(version, number), 110, tip=partial(version, number))
            for number, name in enumerate(names)
        ),
    )
