"""The base of plots whose parts lead to documents.

Each part can be clicked, or chosen by the arrow keys and opened by Enter. Drawn with QPainter, so
that the same code paints the screen and the saved picture.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts.saving import Savable
from workbench.ui.widgets.focus_ring import FocusRing

ROW, GAP = 26, 10  # pixels at 100%
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_BACK = (Qt.Key.Key_Up, Qt.Key.Key_Left)
_ON = (Qt.Key.Key_Down, Qt.Key.Key_Right)


class Plot(Savable, QWidget):
    """`opened(number)`: a part was clicked, or Enter pressed on the chosen one.

    `moved(point)`: another part was chosen; its middle, to scroll to.
    """

    opened = Signal(int)
    moved = Signal(QPoint)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._chosen = -1
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    # ---------------------------------------------------------------- of each kind of plot

    def count(self) -> int:
        """Number of parts."""
        raise NotImplementedError

    def place(self, number: int, area: QRectF) -> QRectF:
        """Where a part is in the area of the plot."""
        raise NotImplementedError

    def tip(self, number: int) -> str:
        """A part as a sentence."""
        raise NotImplementedError

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Paint the plot into a rectangle of any device."""
        raise NotImplementedError

    # ---------------------------------------------------------------- the same for all

    def renew(self) -> None:
        """Call after the parts have changed."""
        self._chosen = min(self._chosen, self.count() - 1)
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, QRectF(self.rect()))
        self.paint_chosen(painter)

    def paint_chosen(self, painter: QPainter) -> None:
        """A frame around the chosen part while the plot has the focus."""
        if self.hasFocus() and 0 <= self._chosen < self.count():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.qcolour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = self.place(self._chosen, QRectF(self.rect())).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(box, 4, 4)

    def _at(self, point: QPointF) -> int:
        area = QRectF(self.rect())
        places = (self.place(number, area) for number in range(self.count()))
        return next((number for number, place in enumerate(places) if place.contains(point)), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number = self._at(event.position())
        cursor = Qt.CursorShape.PointingHandCursor if number >= 0 else Qt.CursorShape.ArrowCursor
        self.setCursor(cursor)
        text = self.tip(number) if number >= 0 else ""
        escaping.show_tip(event.globalPosition().toPoint(), text, self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self._at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and number >= 0:
            self.choose(number)
            self.opened.emit(number)

    def choose(self, number: int) -> None:
        """Choose a part, as the arrow keys do."""
        self._chosen = number
        self.setAccessibleDescription(self.tip(number))
        self.update()
        self.moved.emit(self.place(number, QRectF(self.rect())).center().toPoint())

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self._chosen < 0 and self.count():
            self.choose(0)
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, last = Qt.Key(event.key()), self.count() - 1
        if last < 0:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._chosen >= 0:
            self.opened.emit(self._chosen)
        elif key in (*_BACK, *_ON):
            self.choose(self.step(self._chosen, key))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.choose(0 if key == Qt.Key.Key_Home else last)
        else:
            super().keyPressEvent(event)

    def step(self, number: int, key: Qt.Key) -> int:
        """The part that an arrow key leads to."""
        return min(max(number + (1 if key in _ON else -1), 0), self.count() - 1)

    def picture_size(self) -> QSize:
        hint = self.sizeHint()
        return QSize(max(self.width(), 420), max(hint.height(), self.height(), 200))

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, area.adjusted(12, 8, -12, -8))
