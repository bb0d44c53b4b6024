"""Accessibility interface of the text view: read-only multi-line text with caret and selection.

Offsets here are Qt's, UTF-16 units of the displayed text; they are converted to code points
immediately.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAccessibleTextCursorEvent,
    QAccessibleTextInterface,
)
from shiboken6 import VoidPtr

from workbench.ui.offsets import Utf16Map

_installed = False


class TextAccess(QAccessibleTextInterface):
    def __init__(self, view):
        super().__init__()
        self._view = view
        self._of, self._map = None, Utf16Map("")

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
    def __init__(self, view):
        super().__init__()
        self._view, self._text = view, TextAccess(view)

    def isValid(self) -> bool:
        return True

    def object(self):
        return self._view

    def window(self):
        return self._view.window().windowHandle()

    def role(self) -> QAccessible.Role:
        # the role "static text" would be reported as a mere caption
        return QAccessible.Role.EditableText

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._view.accessibleName()
        return self._view.accessibleDescription() if kind == QAccessible.Text.Description else ""

    def setText(self, _kind, _text) -> None:
        """Do nothing: the text is read-only."""

    def rect(self) -> QRect:
        return QRect(self._view.mapToGlobal(QPoint(0, 0)), self._view.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = state.readOnly = state.multiLine = state.selectableText = True
        state.focused, state.invisible = self._view.hasFocus(), not self._view.isVisible()
        return state

    def parent(self):
        return QAccessible.queryAccessibleInterface(self._view.parentWidget())

    def child(self, _index):
        return None

    def childCount(self) -> int:
        return 0

    def childAt(self, _x: int, _y: int):
        return None

    def indexOfChild(self, _child) -> int:
        return -1

    def interface_cast(self, kind: QAccessible.InterfaceType):
        # None would crash in shiboken6 (6.11.3): a null pointer must be passed explicitly
        return self._text if kind == QAccessible.InterfaceType.TextInterface else VoidPtr(0)


def install() -> None:
    """Install the accessibility factory for text views. Call once."""
    global _installed
    if not _installed:
        _installed = True
        QAccessible.installFactory(_make)


def _make(_class_name: str, thing):
    from workbench.ui.widgets.text_view import TextView

    if not isinstance(thing, TextView):
        return None
    thing.access = ViewAccess(thing)  # Qt keeps a raw pointer: store a reference on the view
    return thing.access


def tell_caret(view) -> None:
    """Notify screen readers of the caret position."""
    if QAccessible.isActive():
        access = getattr(view, "access", None)
        place = (
            Utf16Map(view.text.shown[: view.caret]).units
            if access is None
            else access._text.cursorPosition()
        )
        QAccessible.updateAccessibility(QAccessibleTextCursorEvent(view, place))
