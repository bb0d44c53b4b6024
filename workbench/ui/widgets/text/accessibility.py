"""Accessibility interface of the text view: read-only multi-line text with caret and selection.

Offsets here are Qt's, UTF-16 units of the displayed text; they are converted to code points
immediately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, QPoint, QPointF, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAccessibleTextCursorEvent,
    QAccessibleTextInterface,
    QWindow,
)
from PySide6.QtWidgets import QWidget
from shiboken6 import VoidPtr

from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map

if TYPE_CHECKING:
    from workbench.ui.widgets.text.view import TextView

_views: type[TextView] | None = None  # the class whose instances the factory serves


class TextAccess(QAccessibleTextInterface):
    def __init__(self, view: TextView) -> None:
        super().__init__()
        self._view = view
        self._of: DisplayText | None = None
        self._map = Utf16Map("")

    def _units(self) -> Utf16Map:
        if self._of is not self._view.text:
            self._of, self._map = self._view.text, Utf16Map(self._view.text.shown)
        return self._map

    def text(self, start: int, end: int) -> str:
        units = self._units()
        return self._view.text.shown[units.to_point(start) : units.to_point(end)]

    def characterCount(self) -> int:
        return self._units().units

    def cursorPosition(self) -> int:
        return self._units().to_units(self._view.caret)

    def setCursorPosition(self, position: int) -> None:
        self._view.move_caret(self._units().to_point(position))

    def selectionCount(self) -> int:
        return int(self._view.selection is not None)

    def selection(self, _index: int) -> tuple[int, int]:
        start, end = self._view.selection or (self._view.caret, self._view.caret)
        return self._units().to_units(start), self._units().to_units(end)

    def setSelection(self, _index: int, start: int, end: int) -> None:
        self._view.select(self._units().to_point(start), self._units().to_point(end))

    def addSelection(self, start: int, end: int) -> None:
        self.setSelection(0, start, end)

    def removeSelection(self, _index: int) -> None:
        self._view.select(self._view.caret, self._view.caret)

    def characterRect(self, offset: int) -> QRect:
        box = self._view.rect_of(self._units().to_point(offset))
        return QRect(
            self._view.viewport().mapToGlobal(box.topLeft().toPoint()), box.size().toSize()
        )

    def offsetAtPoint(self, point: QPoint) -> int:
        return self._units().to_units(
            self._view.position_at(QPointF(self._view.viewport().mapFromGlobal(point)))
        )

    def scrollToSubstring(self, start: int, end: int) -> None:
        self._view.show_range(self._units().to_point(start), self._units().to_point(end))

    def attributes(self, offset: int) -> tuple[str, int, int]:
        """No text attributes; the labels are listed in the table of spans."""
        return "", offset, self.characterCount()


class ViewAccess(QAccessibleInterface):
    def __init__(self, view: TextView) -> None:
        super().__init__()
        self._view, self._text = view, TextAccess(view)

    def isValid(self) -> bool:
        return True

    def object(self) -> QObject:
        return self._view

    def window(self) -> QWindow:
        return self._view.window().windowHandle()

    def role(self) -> QAccessible.Role:
        # the role "static text" would be reported as a mere caption
        return QAccessible.Role.EditableText

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._view.accessibleName()
        return self._view.accessibleDescription() if kind == QAccessible.Text.Description else ""

    def setText(self, _kind: QAccessible.Text, _text: str) -> None:
        """Do nothing: the text is read-only."""

    def rect(self) -> QRect:
        return QRect(self._view.mapToGlobal(QPoint(0, 0)), self._view.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = state.readOnly = state.multiLine = state.selectableText = True
        state.focused, state.invisible = self._view.hasFocus(), not self._view.isVisible()
        return state

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(cast(QWidget, self._view.parentWidget()))

    def child(self, _index: int) -> None:
        return None

    def childCount(self) -> int:
        return 0

    def childAt(self, _x: int, _y: int) -> None:
        return None

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        return -1

    def interface_cast(self, kind: QAccessible.InterfaceType) -> TextAccess | VoidPtr:
        # None would crash in shiboken6 (6.11.3): a null pointer must be passed explicitly
        return self._text if kind == QAccessible.InterfaceType.TextInterface else VoidPtr(0)


def install(views: type[TextView]) -> None:
    """Install the accessibility factory for text views; the first call does it."""
    global _views
    if _views is None:
        _views = views
        QAccessible.installFactory(_make)


def _make(_class_name: str, thing: QObject) -> ViewAccess | None:
    if _views is None or not isinstance(thing, _views):
        return None
    access = ViewAccess(thing)
    cast(Any, thing).access = access  # Qt keeps a raw pointer: store a reference on the view
    return access


def tell_caret(view: TextView) -> None:
    """Notify screen readers of the caret position."""
    if QAccessible.isActive():
        access = getattr(view, "access", None)
        place = (
            Utf16Map(view.text.shown[: view.caret]).units
            if access is None
            else access._text.cursorPosition()
        )
        QAccessible.updateAccessibility(QAccessibleTextCursorEvent(view, place))
