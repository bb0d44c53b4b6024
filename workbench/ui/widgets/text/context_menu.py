"""Context menus for the row, span or text under the mouse or, by key, at the caret."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QMenu, QWidget

from workbench.ui.commands import MenuChoice
from workbench.ui.style import escaping

Choices = Sequence[MenuChoice | None]


def fill(menu: QMenu, choices: Choices) -> None:
    """Replace the entries of a menu. None is a separator."""
    menu.clear()
    menu.setToolTipsVisible(any(choice is not None and choice.tip for choice in choices))
    for choice in choices:
        if choice is None:
            menu.addSeparator()
        elif choice.choices:
            inner = menu.addMenu(choice.title)
            inner.setEnabled(choice.enabled)
            fill(inner, choice.choices)
        else:
            _add(menu, choice)


def _add(menu: QMenu, choice: MenuChoice) -> None:
    key = choice.key or _shortcut(menu, choice.command)
    action = menu.addAction(f"{choice.title}\t{key}" if key else choice.title)
    action.setEnabled(choice.enabled)
    escaping.set_tip(action, choice.tip)
    if choice.on is not None:
        action.setCheckable(True)
        action.setChecked(choice.on)
    action.triggered.connect(lambda _checked=False: choice.act())


def _shortcut(menu: QMenu, command: str) -> str:
    """The key of a command, from the menu bar of its window; "" if there is none."""
    if not command:
        return ""
    parent: QObject | None = menu
    while parent is not None and not hasattr(parent, "menus"):
        parent = parent.parent()
    return parent.menus.shortcut(command) if parent is not None else ""


class ContextMenu(QObject):
    """Opens a menu over `widget` on right-click or the menu key.

    `ask(point)` returns the choices at a point of the widget (of its viewport if it scrolls) or,
    with None, those of the current item; without choices no menu opens. `place()` returns the
    position of the menu when opened by key.
    """

    def __init__(
        self,
        widget: QWidget,
        ask: Callable[[QPoint | None], Choices],
        place: Callable[[], QPoint] | None = None,
    ):
        super().__init__(widget)
        self._widget, self._ask, self._place = widget, ask, place
        self._surface = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
        for part in {widget, self._surface}:
            part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QContextMenuEvent) and isinstance(watched, QWidget):
            self._open(watched, event)
            return True
        return super().eventFilter(watched, event)

    def _open(self, watched: QWidget, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        point = None if by_key else self._surface.mapFrom(watched, event.pos())
        choices = self._ask(point)
        if not choices:
            return
        menu = QMenu(self._widget)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fill(menu, choices)
        at = point if point is not None else (self._place() if self._place else QPoint(8, 8))
        menu.popup(self._surface.mapToGlobal(at))


class RowMenu(ContextMenu):
    """The context menu of a table or list: `choices()` of the selected rows.

    A right-click on an unselected row selects it first; outside the rows no menu opens.
    """

    def __init__(self, view: QAbstractItemView, choices: Callable[[], Choices]):
        super().__init__(view, self._at, self._by_current)
        self._view, self._choices = view, choices

    def _at(self, point: QPoint | None) -> Choices:
        view = self._view
        index = view.currentIndex() if point is None else view.indexAt(point)
        if not index.isValid():
            return ()
        selection = view.selectionModel()
        if not selection.isSelected(index):
            flag = selection.SelectionFlag
            selection.setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
        return self._choices()

    def _by_current(self) -> QPoint:
        box = self._view.visualRect(self._view.currentIndex())
        inside = self._view.viewport().rect()
        return QPoint(max(box.left(), 0) + 12, min(max(box.bottom(), 0), inside.bottom()))
