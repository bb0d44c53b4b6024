"""The Errors part: a list of single errors on the left, the chosen one in its text on the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout
from shiboken6 import isValid

from workbench.base.i18n import _, ngettext
from workbench.base.settings import Settings
from workbench.base.terms import term
from workbench.text.mistakes import BOUNDARY, KINDS, LABEL, MISSED, SPURIOUS, TITLES
from workbench.text.result_view import DISTANCE
from workbench.ui.panels.results.review.error_detail import ErrorDetail
from workbench.ui.panels.results.review.error_keys import ERROR_COMMANDS
from workbench.ui.panels.results.review.errors_state import LOSS, NONE, OPEN, REVIEWED, VERDICTS
from workbench.ui.panels.results.runs.gold_text import SPLITS
from workbench.ui.shell import key_positions
from workbench.ui.shell.bare_keys import BareKeys
from workbench.ui.style import theme
from workbench.ui.style.formats import decimal, points
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.errors import ErrorItem
    from workbench.text.labels import Label
    from workbench.ui.panels.results.review.errors_state import ErrorsState

ICONS = {
    LABEL: ("tags", "warn"),
    BOUNDARY: ("circle-dot", "warn"),
    MISSED: ("circle", "bad"),
    SPURIOUS: ("circle-x", "bad"),
}
LIST = 470  # width of the list in pixels at 100%
NARROW_LIST, WIDE_LIST = 400, 600
MOST_SHARE = 0.4  # of the width for the list
LONG_NAMES = 30  # added to the width for long names of labels
KIND, ICON_ONLY = 118, 60  # widths of the column of kinds
CHOSEN = frozenset(("chosen", "detail"))  # fields that change with the chosen row alone
_NONE: dict[str, list[str]] = {}
WAIT = 250  # milliseconds after the last letter of a search


class ErrorTable(Table):
    """Leaves the keys of the review to the part around it, which sets `keys`."""

    keys: ErrorKeys | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        digit = event.text().isdigit() and not event.modifiers()
        if digit or (self.keys is not None and self.keys.action(event)):
            event.ignore()
        else:
            super().keyPressEvent(event)


class ErrorKeys:
    """The keys of a review, as the user has set them."""

    def __init__(self, settings: Settings) -> None:
        self._own = BareKeys(lambda: settings.window.get("keys", _NONE), ERROR_COMMANDS)

    def action(self, event: QKeyEvent) -> str:
        """accept, keep, next or open for the keys A, K, Space and Return; "" for any other."""
        meant = self._own.meant(event, ())
        if meant is None or meant.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return ""
        if meant.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return "open"
        if meant.key() == Qt.Key.Key_Space:
            return "next"
        key = (key_positions.meant(meant) or meant.text()).lower()
        return {"a": "accept", "k": "keep"}.get(key, "")


class ErrorsView(QFrame):
    """Errors of the selected run on one split."""

    def __init__(self, state: ErrorsState):
        super().__init__()
        self.state = state
        self._looks: dict[str, Label] = {}
        self._view = state.view
        self._one_kind = False  # its name is left out then
        self._keys = ErrorKeys(state.context.settings)
        self.table = self._error_table(state)
        self.table.keys = self._keys
        self._detail = ErrorDetail(state)
        self._none = EmptyState("triangle-alert", "")
        self._clear = Button(_("Clear filters"), "x", "quiet", small=True, on=state.clear)
        self._on_data = Button(
            _("Show documents on Data"), "database", "quiet", small=True, on=state.show_documents
        )
        self._only = Callout("", "accent", self._on_data, icon="filter")
        self._filters = self._filter_bar(state)
        self._left = self._list_side(state)
        self._body = QFrame()
        body = QHBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(12)
        body.addWidget(self._left)
        body.addWidget(self._detail, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._filters)
        layout.addWidget(self._only)
        layout.addWidget(self._body, 1)
        layout.addWidget(self._none, 1)
        state.listen(state.changed, self._changed)

    # ---------------------------------------------------------------- parts

    def _error_table(self, state: ErrorsState) -> ErrorTable:
        columns = (
            Column(
                _("Kind"),
                self._kind_or_outcome,
                KIND,
                icon=lambda row: ("check", "good") if row.verdict else ICONS[row.mistake.kind],
                tip=_describe,
            ),
            Column(_("Text"), self._text, tip=_describe, prose=True),
            Column(_("Gold"), chip=lambda row: self._chip(row, gold=True), width=96, most=180),
            Column(
                _("Predicted"),
                chip=lambda row: self._chip(row, gold=False),
                width=96,
                most=180,
            ),
            Column(_("Value"), self._value, 66, right=True),
        )
        table = ErrorTable(columns, name=_("Errors"), key=lambda item: item.identity)
        table.chosen.connect(self._row_chosen)
        table.opened.connect(lambda _one: state.open())
        return table

    def _filter_bar(self, state: ErrorsState) -> QFrame:
        self._split = Segments(*SPLITS.items(), name=_("Errors on"))
        self._split.chosen.connect(state.show_split)
        kinds = [(kind, _(TITLES[kind])) for kind in KINDS]
        self._kind = Segments(("", _("All")), *kinds, name=_("Kind of error"))
        self._kind.chosen.connect(lambda kind: state.narrow(kind=kind))
        self._gold = _combo(_("Gold label"), lambda name: state.narrow(gold=name))
        self._predicted = _combo(_("Predicted label"), lambda name: state.narrow(predicted=name))
        self._state = _combo(_("State of the review"), lambda name: state.narrow(state=name))
        for title, value in (
            (_("Open and reviewed"), ""),
            (_("Open"), OPEN),
            (_("Reviewed"), REVIEWED),
        ):
            self._state.addItem(title, value)
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search in documents"))
        self._search.setAccessibleName(_("Search in documents"))
        self._search.setClearButtonEnabled(True)
        self._search.setFixedWidth(theme.px(180))
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT)
        self._wait.timeout.connect(lambda: state.narrow(match=self._search.text().strip()))
        self._search.textEdited.connect(lambda _text: self._wait.start())
        parts = (self._split, self._kind, self._gold, self._predicted, self._state)
        return flow(*parts, self._search, self._clear, gap=8)

    def _list_side(self, state: ErrorsState) -> QFrame:
        self._count = words("", weight=600)
        self._reviewed = words("", "small", "muted")
        self._meter = Meter(name=_("Reviewed errors"))
        self._sort = _combo(_("Order"), lambda name: state.narrow(sort=name))
        head = row(self._count, None, self._reviewed)
        return column(head, self._meter, self._sort, (self.table, 1), gap=6)

    # ---------------------------------------------------------------- cells

    def _text(self, item: ErrorItem) -> str:
        return self._view.about(item.mistake, item.quote)

    def _chip(self, item: ErrorItem, *, gold: bool) -> tuple[str, Any, str]:
        side = self._view.side(item.mistake, item.text, gold=gold)
        return side or NONE, None if item.verdict else self._looks.get(side), ""

    def _kind_or_outcome(self, item: ErrorItem) -> str:
        if item.verdict:
            return _(VERDICTS[item.verdict])
        return "" if self._one_kind else self._view.kind_title(item.mistake.kind)

    def _value(self, item: ErrorItem) -> str:
        sort = self.state.filters.sort
        if sort == DISTANCE:
            return decimal(item.mistake.distance or 0.0, 2)
        if self._view.by_size or sort == LOSS:
            return decimal(item.mistake.loss, 2)
        return points(item.mistake.confidence)

    def _row_chosen(self) -> None:
        rows = self.table.chosen_rows()
        if rows and rows[0].identity != self.state.chosen:
            self.state.choose(rows[0].identity)

    # ---------------------------------------------------------------- showing

    def render_part(self, _fields: frozenset[str]) -> None:
        self.state.follow()
        self._changed(frozenset())

    def _changed(self, fields: frozenset[str]) -> None:
        if not isValid(self) or not self.isVisibleTo(self.window()):
            return
        state = self.state
        if not fields or not fields <= CHOSEN:  # reading all rows again takes a while
            self._show_list()
        self.table.choose({state.chosen} if state.chosen is not None else set())
        self._detail.show_state()
        if "asked" in fields:
            self.table.setFocus()

    def _show_list(self) -> None:
        state = self.state
        layer = state.layer
        self._looks = {label.name: label for label in layer.labels} if layer else {}
        self._view = state.view
        has = bool(state.items)
        self._body.setVisible(has)
        self._filters.setVisible(has or "test" in state.selection.splits_shown)
        self._none.setVisible(state.items is not None and not has)
        if state.problem:
            self._none.set(_("Errors cannot be listed"), state.problem, "triangle-alert")
        else:
            self._none.set(_("No errors"), _("Nothing differs from gold."), "circle-check")
        self._show_filters()
        self._one_kind = len(state.counts) < 2
        self.table.set_width(0, KIND if state.reviewed or not self._one_kind else ICON_ONLY)
        titles = {LOSS: _("Loss"), DISTANCE: _("Distance")}
        title = titles.get(state.filters.sort, _("Conf."))
        self.table.rows_model.set_title(4, _("Error") if self._view.by_size else title)
        self.table.set_rows(state.shown)
        self._fit_list()
        self._show_counts()

    def _show_filters(self) -> None:
        state, filters = self.state, self.state.filters
        self._split.setVisible("test" in state.selection.splits_shown)
        self._split.set(state.split)
        counts = state.counts
        self._kind.setVisible(len(counts) > 1)
        self._kind.set_words("", f"{_('All')}  {sum(counts.values())}")
        for kind in KINDS:
            self._kind.set_words(kind, f"{self._view.kind_title(kind)}  {counts[kind]}")
            self._kind.button(kind).setVisible(counts[kind] > 0)
        self._kind.set(filters.kind)
        for combo, side, every in (
            (self._gold, "gold", _("All gold labels")),
            (self._predicted, "predicted", _("All predictions")),
        ):
            _fill(combo, [(every, ""), *((name, name) for name in state.labels(side))])
            _set(combo, getattr(filters, side))
            combo.setVisible(self._view.by_label)
        _set(self._state, filters.state)
        _fill(self._sort, state.orders)
        _set(self._sort, filters.sort)
        if not self._wait.isActive() and self._search.text().strip() != filters.match:
            self._search.setText(filters.match)
        self._clear.setVisible(filters.restricts)
        self._only.set(self._restricted())
        self._on_data.setVisible(filters.documents is not None)

    def _restricted(self) -> str:
        state = self.state
        if not state.caption:
            return ""
        documents = state.filters.documents
        if documents is None:
            return state.caption
        wrong = len({item.document_id for item in state.shown})
        return ngettext(
            "{what}: {wrong} of {n} document has an error.",
            "{what}: {wrong} of {n} documents have an error.",
            len(documents),
            what=state.caption,
            wrong=wrong,
        )

    def _show_counts(self) -> None:
        state = self.state
        n, every = len(state.shown), len(state.items or ())
        about = {"n": n, "total": every, "split": term(state.split)}
        if n == every:
            message = ngettext("{n:,} error on {split}", "{n:,} errors on {split}", n)
        else:
            message = ngettext(
                "{n:,} of {total:,} error on {split}", "{n:,} of {total:,} errors on {split}", every
            )
        self._count.setText(message.format(**about))
        done = _("{n:,} reviewed, {accepted:,} accepted", n=state.reviewed, accepted=state.accepted)
        self._reviewed.setText(done)
        self._reviewed.setVisible(state.reviewed > 0)
        self._meter.set(state.reviewed / every if every else 0.0)

    # ---------------------------------------------------------------- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if action := self._keys.action(event):
            getattr(self.state, action)()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.watch(True)
        self._changed(frozenset({"asked"} if self.state.take_asked() else ()))

    def hideEvent(self, event: QHideEvent) -> None:
        self.state.watch(False)
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_list()
        super().resizeEvent(event)

    def _fit_list(self) -> None:
        """In a wide window the list takes more room, most of all for long names of labels."""
        width = self.width()
        wide = WIDE_LIST if width > theme.px(1600) else LIST if width > theme.px(1150) else None
        most = 4 * LONG_NAMES if wide == WIDE_LIST else LONG_NAMES if wide else 0
        more = min(theme.px(most), self.table.room_for_names())
        most_of_all = int(width * MOST_SHARE)  # with large text, the document needs its room
        self._left.setFixedWidth(min(theme.px(wide or NARROW_LIST) + more, most_of_all))


def _describe(item: ErrorItem) -> str:
    """The tooltip of a row."""
    mistake = item.mistake
    message = _(
        "{key}: {kind}, gold {gold}, predicted {predicted}",
        key=item.key,
        kind=_(TITLES[mistake.kind]),
        gold=mistake.gold or NONE,
        predicted=mistake.predicted or NONE,
    )
    return f"{message} ({_(VERDICTS[item.verdict])})" if item.verdict else message


def _combo(name: str, chosen: Callable[[Any], None]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.activated.connect(lambda _at: chosen(box.currentData()))
    return box


def _fill(box: QComboBox, choices: list[tuple[str, str]]) -> None:
    if [box.itemData(at) for at in range(box.count())] != [value for _title, value in choices]:
        box.clear()
        for title, value in choices:
            box.addItem(title, value)


def _set(box: QComboBox, value: str) -> None:
    box.setCurrentIndex(max(box.findData(value), 0))
