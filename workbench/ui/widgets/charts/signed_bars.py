"""Named signed numbers as bars to the right and left of zero."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import formats, theme
from workbench.ui.widgets.focus_ring import FocusRing

NAME, NUMBER = 120, 64  # widths of the name and the number, pixels at 100%
HIGH = 24  # height of a row


class SignedBars(QWidget):
    """`set` replaces the rows: (number, name, value). ↑ and ↓ move; `chosen(number)` tells.

    Positive bars are blue, negative ones orange with a dashed outline.
    """

    chosen = Signal(int)

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.rows: tuple[tuple[int, str, float], ...] = ()
        self._number = -1

    def set(self, rows: Sequence[tuple[int, str, float]]) -> None:
        self.rows = tuple(rows)
        self.setMinimumHeight(len(self.rows) * theme.px(HIGH))
        self.updateGeometry()
        self.update()

    def choose(self, number: int) -> None:
        """Mark a row; emits nothing."""
        self._number = number
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high, left = theme.px(HIGH), theme.px(NAME + NUMBER) + 12
        room = max(40.0, self.width() - left - 8.0)
        least = min((value for *_names, value in self.rows), default=0.0)
        most = max((value for *_names, value in self.rows), default=0.0)
        span = (max(most, 0.0) - min(least, 0.0)) or 1.0
        zero = left + room * -min(least, 0.0) / span
        painter.setPen(theme.qcolour("strong_line"))
        painter.drawLine(QPointF(zero, 0), QPointF(zero, len(self.rows) * high))
        for at, (number, name, value) in enumerate(self.rows):
            area = QRectF(0, at * high, self.width(), high)
            if area.intersects(QRectF(event.rect())):
                self._paint(painter, area, name, value, number == self._number)
                self._paint_bar(painter, area, zero, room * value / span)

    def _paint(
        self, painter: QPainter, area: QRectF, name: str, value: float, chosen: bool
    ) -> None:
        if chosen:
            painter.fillRect(area, theme.qcolour("accent_soft"))
        painter.setFont(theme.font("small", 600 if chosen else 400))
        painter.setPen(theme.qcolour("text"))
        middle, metrics = Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics()
        elided = metrics.elidedText(name, Qt.TextElideMode.ElideRight, theme.px(NAME))
        painter.drawText(area.adjusted(2, 0, 0, 0), middle, elided)
        room = QRectF(theme.px(NAME), area.top(), theme.px(NUMBER), area.height())
        number = formats.decimal(value, 3, signed=True)
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, number)

    def _paint_bar(self, painter: QPainter, area: QRectF, zero: float, wide: float) -> None:
        bar = QRectF(zero + min(0.0, wide), area.top() + 7, max(1.0, abs(wide)), area.height() - 14)
        if wide >= 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("accent"))
        else:
            painter.setPen(QPen(theme.qcolour("warn"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(theme.qcolour("warn_soft"))
        painter.drawRect(bar)

    def _take(self, at: int) -> None:
        if 0 <= at < len(self.rows):
            number, name, value = self.rows[at]
            self.choose(number)
            self.setAccessibleDescription(f"{name} {formats.decimal(value, 3, signed=True)}")
            self.chosen.emit(number)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._take(int(event.position().y() // theme.px(HIGH)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        numbers = [number for number, *_rest in self.rows]
        at = numbers.index(self._number) + step if self._number in numbers else 0
        self._take(min(max(at, 0), len(numbers) - 1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._number < 0:
            self._take(0)
