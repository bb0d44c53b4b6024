"""The frame that shows which of the widgets that paint themselves has the keyboard focus."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QWidget

from workbench.ui.style import theme

WIDTH = 2  # pixels


class FocusRing(QWidget):
    """A frame within `owner` while it has the focus. Only the frame itself is ever repainted.

    wanted: False where a frame around the owner shows it already.
    """

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self._owner, self.wanted = owner, True
        owner.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn and self.wanted:
            self._place()
            self.raise_()
            self.show()
        elif event.type() == QEvent.Type.FocusOut:
            self.hide()
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        whole = QRect(0, 0, self._owner.width(), self._owner.height())
        self.setGeometry(whole)
        inner = whole.adjusted(WIDTH, WIDTH, -WIDTH, -WIDTH)
        self.setMask(QRegion(whole).subtracted(QRegion(inner)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.qcolour("accent"))
