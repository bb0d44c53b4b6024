"""A number field."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSpinBox


class SpinBox(QSpinBox):
    """Takes the mouse wheel only while it has the focus.

    Scrolling a form would otherwise change the numbers below the pointer.
    """

    def __init__(self, low: int, high: int):
        super().__init__()
        self.setRange(low, high)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
