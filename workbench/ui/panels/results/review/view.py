"""A review: a list of possible errors on the left, the chosen one in its text on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.text.result_view import DISTANCE, LOSS
from workbench.ui.panels.results.review.error_detail import ErrorDetail, Titles
from workbench.ui.panels.results.review.error_keys import ERROR_COMMANDS
from workbench.ui.panels.results.review.state import NONE
from workbench.ui.shell import key_positions
from workbench.ui.shell.bare_keys import BareKeys
from workbench.ui.style.formats import decimal, points
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.text.labels import Label
    from workbench.ui.panels.results.review.state import ReviewState

CHOSEN = frozenset(("chosen", "detail"))  # fields that change with the chosen row alone
_NONE: dict[str, list[str]] = {}


class ReviewTable(Table):
    """Leaves the keys of the review to the part around it, which sets `keys`."""

    keys: ReviewKeys | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        digit = event.text().isdigit() and not event.modifiers()
        if digit or (self.keys is not None and self.keys.action(event)):
            event.ignore()
        else:
            super().keyPressEvent(event)


class ReviewKeys:
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


class ReviewView(QFrame):
    """A subclass makes the columns, what is above the list, and what is on its left side, and fills
    them in `_show_list`. titles: of the decisions.
    """

    def __init__(self, state: ReviewState, empty: EmptyState, titles: Titles | None = None):
        super().__init__()
        self.state = state
        self._looks: dict[str, Label] = {}
        self._view = state.view
        self._keys = ReviewKeys(state.context.settings)
        name, columns = self._list()
        self.table = ReviewTable(columns, name=name, key=lambda item: item.identity)
        self.table.keys = self._keys
        self.table.chosen.connect(self._row_chosen)
        self.table.opened.connect(lambda _one: state.open())
        self._detail, self._none = ErrorDetail(state, titles), empty
        state.listen(state.changed, self._changed)

    def _lay_out(self, left: QWidget, *above: QWidget, margins: Sequence[int], gap: int) -> None:
        self._left, self._body = left, QFrame()
        body = QHBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(12)
        body.addWidget(left)
        body.addWidget(self._detail, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*margins)
        layout.setSpacing(gap)
        for part in above:
            layout.addWidget(part)
        layout.addWidget(self._body, 1)
        layout.addWidget(self._none, 1)

    def take_focus(self) -> None:
        """The list, whose keys answer."""
        self.table.setFocus()

    # ---------------------------------------------------------------- of a subclass

    def _list(self) -> tuple[str, Sequence[Column]]:
        """Name and columns of the list."""
        raise NotImplementedError

    def _show_list(self) -> None:
        """Show everything but the chosen one."""
        raise NotImplementedError

    # ---------------------------------------------------------------- columns

    def _sides(self, predicted: str, width: int, most: int) -> tuple[Column, ...]:
        """Gold and prediction, in the colour of the label while they are open."""
        sides = (_("Gold"), True), (predicted, False)
        return tuple(
            Column(title, chip=partial(self._chip, gold=gold), width=width, most=most)
            for title, gold in sides
        )

    def _chip(self, item: ReviewItem, *, gold: bool) -> tuple[str, Any, str]:
        side = self._view.side(item.mistake, item.text, gold=gold)
        return side or NONE, None if item.verdict else self._looks.get(side), ""

    def _value(self, item: ReviewItem) -> str:
        """What the list is sorted by, or how confident the model is."""
        sort = self.state.sort
        if sort == DISTANCE:
            return decimal(item.mistake.distance or 0.0, 2)
        if self._view.by_size or sort == LOSS:
            return decimal(item.mistake.loss, 2)
        return points(item.mistake.confidence)

    def _value_title(self) -> str:
        titles = {LOSS: _("Loss"), DISTANCE: _("Distance")}
        return _("Error") if self._view.by_size else titles.get(self.state.sort, _("Conf."))

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
            layer, self._view = state.layer, state.view
            self._looks = {label.name: label for label in layer.labels} if layer else {}
            self._show_list()
        self.table.choose({state.chosen} if state.chosen is not None else set())
        self._detail.show_state()
        if "asked" in fields:
            self.table.setFocus()

    # ---------------------------------------------------------------- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self._keys.action(event)
        if event.text().isdigit() and not event.modifiers() and self.state.others():
            self.state.set_label_at(int(event.text()) - 1)
        elif action:
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


def combo(name: str, chosen: Callable[[Any], None] | None = None) -> QComboBox:
    """chosen: called with the value that the user chooses."""
    box = QComboBox()
    box.setAccessibleName(name)
    if chosen is not None:
        box.activated.connect(lambda _at: chosen(box.currentData()))
    return box


def fill(box: QComboBox, choices: Sequence[tuple[str, str]], value: object) -> None:
    """(title, value) of each choice, and the one that is shown."""
    if [box.itemData(at) for at in range(box.count())] != [data for _title, data in choices]:
        box.clear()
        for title, data in choices:
            box.addItem(title, data)
    box.setCurrentIndex(max(box.findData(value), 0))
