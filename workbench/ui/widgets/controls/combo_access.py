"""Accessible names of combo boxes.

Qt 6.11 on Unix reports a combo box's current text as its name, so two boxes with equal choices
cannot be distinguished. Here the name is the accessible name and the description is the current
text.
"""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QComboBox

_installed = False


class ComboAccess(QAccessibleWidget):
    def __init__(self, box: QComboBox):
        super().__init__(box, QAccessible.Role.ComboBox)
        self._box = box

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._box.accessibleName() or self._box.currentText()
        if kind in (QAccessible.Text.Description, QAccessible.Text.Value):
            return self._box.currentText()
        return super().text(kind)

    def childCount(self) -> int:
        return 0

    def child(self, _index: int) -> None:
        return None

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        return -1

    def actionNames(self) -> list[str]:
        return ["ShowMenu", "SetFocus"]

    def doAction(self, name: str) -> None:
        self._box.setFocus() if name == "SetFocus" else self._box.showPopup()


def install() -> None:
    """Install the accessibility factory for combo boxes. Call once."""
    global _installed
    if not _installed:
        _installed = True
        QAccessible.installFactory(_make)


def _make(class_name: str, thing: QObject) -> ComboAccess | None:
    if class_name != "QComboBox" or not isinstance(thing, QComboBox):
        return None
    access = ComboAccess(thing)
    cast(Any, thing).access = access  # Qt keeps a raw pointer: store a reference on the box
    return access
