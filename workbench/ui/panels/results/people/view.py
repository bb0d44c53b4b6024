"""People: agreement by layer with intervals, pairs, where they differ, and on which documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QComboBox, QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.text.result_view import NONE
from workbench.ui.panels.results.board.average import ask_file
from workbench.ui.panels.results.people.state import (
    BLOCKS,
    PAUSE,
    WEEK,
    PeopleState,
    Row,
    documents_text,
    pause_text,
    progress_columns,
    speed_columns,
    twice_columns,
    twice_rows,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.interval_text import interval_text, pair_of
from workbench.ui.style.run_text import is_fraction, score_hint, score_text, score_title
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate
from workbench.ui.widgets.charts.legend import CIRCLE
from workbench.ui.widgets.charts.matrix import Matrix
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.layout import card, column, layout_of, row, scrolled
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatStyle, HeatTable
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.people.agreement import Agreement, Value
    from workbench.operations.people.over_time import OverTime
    from workbench.operations.people.progress import Progress, Speed
    from workbench.text import columns

TWO_COLUMNS_WIDTH = 1000  # pixels at 100% from which cards are in two columns
VALUE, WITH_RUNS = 2, 3  # columns of the table of measures
CHART = 220  # height of the plot over time, pixels at 100%
NUMBERS, TEXTS = 96, 108  # widths of columns of reports, pixels at 100%
LINES = 8  # of the table of measures; more scroll
LISTED = 300  # least height of the list of documents, pixels at 100%
WIDE = 1500  # width from which values with and without runs have bars, pixels at 100%
NARROW_VALUES = 142  # width of a value without its bar, pixels at 100%
VALUES = 230  # width of a value with its bar, pixels at 100%
KEY = 140  # most width of a key, pixels at 100%
VERSION = 200  # most width of what one has labelled, pixels at 100%
Measured = tuple["Agreement", "Value"]


class PeopleView(QFrame):
    def __init__(self, state: PeopleState):
        super().__init__()
        self.state = state
        self._who = QWidget()
        self._boxes = FlowLayout(self._who, gap=14)
        self._names: tuple[object, ...] = ()
        self._busy = words("", "small", "accent")
        self._ask = Button(_("Add to the guideline"), "plus", small=True, on=state.add_to_guideline)
        escaping.set_tip(
            self._ask,
            _("Adds the most frequent difference to the guideline of its layer as a question"),
        )
        self._verdict = Callout("", "accent", self._ask, icon="lightbulb")
        self._problem = Callout("", "warn")
        self.values = Table(
            _value_columns(),
            name=_("Agreement by layer"),
            key=lambda row: (row[0].layer.name, row[1].name),
        )
        for at, read in ((VALUE, _own), (WITH_RUNS, _with_run)):
            delegate = IntervalDelegate(self.values, partial(self._interval, read))
            self.values.setItemDelegateForColumn(at, delegate)
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
        middle = row((differ, 2), (listed, 3), gap=12)
        lower = row((self._time_cards(), 2), (self._people_cards(), 3), gap=12)
        self._rows = [layout_of(part) for part in (upper, middle, lower)]
        self._whole = scrolled(column(upper, (middle, 1), lower, gap=12))
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
        rounds = words(_("2,000 bootstrap samples over documents"), "small", "muted")
        head = row(
            words(_("Between"), "small", "muted"),
            (self._who, 1),
            self._busy,
            rounds,
            Button(_("Save report…"), "save", small=True, on=self._ask_report),
            gap=10,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 12, 20, 14)
        layout.setSpacing(10)
        self._head = head
        for part in (head, self._problem, self._verdict):
            layout.addWidget(part)
        layout.addWidget(self._whole, 1)
        layout.addWidget(self._none, 1)
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
        self.adjudicate = Button("", "arrow-up-right", small=True, on=self.state.adjudicate)
        self.adjudicate.hide()
        place = QFrame()
        place.setLayout(self._table_place)
        listed = card(
            row(
                *(words(_("Documents with disagreements"), weight=600), self._count, None),
                self.adjudicate,
            ),
            (place, 1),
        )
        return values, pairs, differ, listed

    def _time_cards(self) -> QFrame:
        self._periods = combo(name=_("Periods"))
        titles = [(WEEK, _("by week"))]
        titles += [(n, ngettext("by {n} document", "by {n} documents", n)) for n in BLOCKS]
        fill(self._periods, titles, WEEK)
        self._periods.activated.connect(
            lambda _at: self.state.choose_periods(self._periods.currentData())
        )
        self.time = Chart(
            _("Agreement over time"),
            Axis(),
            Axis(),
            empty=_("Agreement by period appears here when two people have labelled documents."),
        )
        self.time.setFixedHeight(theme.px(CHART))
        self._drift = words("", "caption", "muted", wrap=True)
        self._of_time = words("", "small", "muted")
        menu = save_menu("agreement-time", _("Save the plot"), self.time)
        title = words(_("Over time"), weight=600)
        over = card(row(title, self._of_time, None, self._periods, menu), self.time, self._drift)
        self.again = _table(twice_columns(), _("The same person twice"), _named_value)
        self._no_again = words(
            _("Nobody has labelled documents of this layer with equal texts twice."),
            "small",
            "muted",
            wrap=True,
        )
        head = words(_("The same person twice"), weight=600)
        return column(over, card(head, self.again, self._no_again), None, gap=12)

    def _people_cards(self) -> QFrame:
        self.speeds = _table(speed_columns(), _("Documents per hour"), _person)
        self.progress = _table(progress_columns(), _("Progress"), _person_and_layer)
        pause = words(pause_text(PAUSE), "caption", "muted", wrap=True)
        return column(
            card(
                row(words(_("Progress"), weight=600), None,
                    save_menu("progress", _("Save the progress"), self.progress)),
                self.progress,
            ),
            card(words(_("Documents per hour"), weight=600), self.speeds, pause),
            None,
            gap=12,
        )  # fmt: skip

    def _ask_report(self) -> None:
        kinds = _("HTML (*.html);;CSV (*.csv)")
        name = f"{self.state.project.path.stem}-agreement.html"
        path = ask_file(self, name, kinds, _("Save report"))
        if path is not None:
            self.state.save_report(path)

    # ---------------------------------------------------------------- render

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        measured = state.agreements
        self.adjudicate.set_text(
            ngettext("Adjudicate {n:,} difference", "Adjudicate {n:,} differences", state.open)
        )
        self.adjudicate.setVisible(bool(state.open))
        self._busy.setText("" if state.share is None else _("Measuring…"))
        self._problem.set(state.problem, "warn")
        self._verdict.set(state.verdict)
        self._show_names()
        self._head.setVisible(bool(state.annotators))
        self._whole.setVisible(bool(measured))
        self._none.setVisible(measured is not None and not measured and not state.problem)
        if not measured:
            return
        self._ask.setVisible(state.disputed is not None and not state.project.read_only)
        self.values.set_rows([(item, value) for item in measured for value in item.values])
        with_runs = any(item.with_runs for item in measured)
        self.values.setColumnHidden(WITH_RUNS, not with_runs)
        self._arrange()
        of_people = all(item.is_of_people for item in measured)
        self.values.rows_model.set_title(VALUE, _("Between people") if of_people else _("Value"))
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
            self._show_further(compared)

    def _show_further(self, compared: Agreement) -> None:
        further, name = self.state.further, self.state.measure
        for table, rows in (
            (self.progress, further.progress),
            (self.speeds, further.speeds),
            (self.again, [item for item in twice_rows(further.twice) if item[1].name == name]),
        ):
            table.set_rows(rows)
            table.fit_height(LINES)
        self.again.setVisible(bool(further.twice))
        self._no_again.setVisible(not further.twice)
        over = further.over
        self._of_time.setText(f"{compared.layer.name}: {score_title(name)}")
        self._drift.setText(self.state.drift)
        self._show_time(over, name)

    def _show_time(self, over: OverTime | None, name: str) -> None:
        periods = over.periods if over is not None else ()
        names = tuple((float(at), over.title(at)) for at in range(len(periods)) if over is not None)
        known = [
            (float(at), value, period.documents)
            for at, period in enumerate(periods)
            if (value := period.values.get(name)) is not None and value.value is not None
        ]
        unit = 100.0 if is_fraction(name) else 1.0
        series = Series(
            score_title(name),
            tuple(at for at, _value, _n in known),
            tuple(unit * (value.value or 0.0) for _at, value, _n in known),
            marker=CIRCLE,
            notes=[ngettext("{n:,} document", "{n:,} documents", n) for _at, _value, n in known],
            low=tuple(unit * _end(value, value.low) for _at, value, _n in known),
            high=tuple(unit * _end(value, value.high) for _at, value, _n in known),
        )
        is_score = is_fraction(name) and all(low >= 0 for low in series.low)
        scale = Axis("", 0.0, 100.0) if is_score else Axis(score_title(name))
        self.time.set_axes(Axis("", -0.4, max(1, len(names)) - 0.6, names=names), scale)
        self.time.set_series([series] if known else [])

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

    def _interval(self, read: Callable[[Measured], Value | None], number: int) -> Interval:
        value = read(self.values.rows()[number])
        if value is None or not is_fraction(value.name):  # has no scale from 0 to 1
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
        narrow = self.width() < theme.px(WIDE) and not self.values.isColumnHidden(WITH_RUNS)
        for at in (VALUE, WITH_RUNS):
            self.values.set_width(at, NARROW_VALUES if narrow else VALUES)
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
        Column(_("Value"), partial(_value_text, _own), VALUES),
        Column(
            _("People and runs"),
            partial(_value_text, _with_run),
            VALUES,
            hint=_("Mean over pairs of a person and a run, or a prompt"),
        ),
        Column(_("Documents"), lambda row: formats.count(row[1].documents), 96, right=True),
    )


def _end(value: Value, bound: float | None) -> float:
    """An end of the interval; the value itself without one."""
    return (value.value or 0.0) if bound is None else bound


def _own(measured: Measured) -> Value:
    return measured[1]


def _with_run(measured: Measured) -> Value | None:
    return measured[0].with_run(measured[1].name)


def _table(columns: Iterable[columns.Column], name: str, key: Callable[[Any], Any]) -> Table:
    """A table of a report. The first column takes the room that others leave."""
    shown = [
        Column.of(column, *(() if at == 0 else (NUMBERS if column.kind.is_number else TEXTS,)))
        for at, column in enumerate(columns)
    ]
    return Table(shown, name=name, key=key)


def _named_value(item: tuple[str, Value]) -> tuple[str, str]:
    return item[0], item[1].name


def _person(item: Speed) -> int:
    return item.person.id


def _person_and_layer(item: Progress) -> tuple[int, str]:
    return item.person.id, item.layer


def _layer_name(measured: Measured) -> str:
    """Once for all measures of a layer."""
    compared, value = measured
    return compared.layer.name if value.name == compared.main else ""


def _value_text(read: Callable[[Measured], Value | None], measured: Measured) -> str:
    """Two spaces separate the parts that the delegate draws."""
    value = read(measured)
    if value is None or value.value is None:
        return NONE
    bounds = "" if (pair := pair_of(value)) is None else interval_text(pair, value.name)
    return f"{score_text(value.name, value.value)}  {bounds}"


def _document_columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    def version(number: int, item: Row) -> str:
        return item[1].versions[number]

    width = 110 if len(names) <= 3 else 84
    return (
        Column(_("Key"), lambda row: row[1].key, 84, most=KEY),
        Column(_("Text"), lambda row: row[1].text, tip=lambda row: row[1].text, prose=True),
        *(
            Column(
                name, partial(version, number), width, tip=partial(version, number), most=VERSION
            )
            for number, name in enumerate(names)
        ),
    )
