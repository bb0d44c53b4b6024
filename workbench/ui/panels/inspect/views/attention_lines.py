"""The weights of one attention head as lines from queries to keys."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen

from workbench.base.i18n import _
from workbench.ui.panels.inspect.views.attention_rows import MIN_SIDE, PAD, TokenRows
from workbench.ui.style import theme

FAINT = 0.04  # smaller weights are not drawn as lines


class HeadLines(TokenRows):
    """Queries left, keys right, a line for each weight; those of the selected query are
    highlighted.
    """

    def __init__(self) -> None:
        super().__init__(_("Attention lines"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._over = -1

    def measure(self) -> None:
        if not self.count:
            return
        self.label = min(self.widest(), self.viewport().width() * 0.3)
        self.above = float(theme.px(22))
        room = (self.viewport().height() - self.above - PAD) / self.count
        self.cell = float(int(min(max(room, theme.px(MIN_SIDE) + 3), theme.px(24))))
        self.scroll_down()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.result is None or not self.count:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = self.viewport().rect()
        self._paint_heads(painter, room)
        painter.setClipRect(room.adjusted(0, int(self.above), 0, 0))
        self._paint_lines(painter, room.width())
        chosen = self._over if self._over >= 0 else self.row
        keys = self._strong(chosen)
        for row in self.seen():
            top = self.top + row * self.cell
            left = QRectF(0, top, self.label, self.cell)
            right = QRectF(room.width() - self.label, top, self.label, self.cell)
            self.write(painter, left, row, row == chosen, Qt.AlignmentFlag.AlignRight)
            self.write(painter, right, row, row in keys, Qt.AlignmentFlag.AlignLeft)

    def _paint_heads(self, painter: QPainter, room: QRect) -> None:
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        high, middle = int(self.above) - 4, Qt.AlignmentFlag.AlignVCenter
        wide = max(int(self.label), theme.px(44))
        left, right = QRect(0, 0, wide, high), QRect(room.width() - wide, 0, wide, high)
        painter.drawText(left, middle | Qt.AlignmentFlag.AlignRight, _("Query"))
        painter.drawText(right, middle | Qt.AlignmentFlag.AlignLeft, _("Key"))

    def _strong(self, row: int) -> set[int]:
        """The keys that receive most of the weight of a query."""
        if row < 0:
            return set()
        weights = self.head.weights[row]
        return set(np.flatnonzero(weights > max(0.25, float(weights.max()) * 0.75)).tolist())

    def _paint_lines(self, painter: QPainter, width: int) -> None:
        chosen = self._over if self._over >= 0 else self.row
        for row in self.seen():
            if row != chosen:
                self._paint_row(painter, row, width, "strong_line", 0.25 if chosen >= 0 else 0.7)
        if chosen >= 0:
            self._paint_row(painter, chosen, width, "accent", 1.0)

    def _paint_row(
        self, painter: QPainter, row: int, width: int, colour: str, depth: float
    ) -> None:
        weights, start, end = self.head.weights[row], self.label + PAD, width - self.label - PAD
        middle, half = (start + end) / 2, self.cell / 2
        for column in np.flatnonzero(weights >= FAINT).tolist():
            weight = float(weights[column])
            ink = theme.qcolour(colour, min(1.0, 1.3 * depth * weight**0.6))
            painter.setPen(QPen(ink, 0.8 + 3.2 * weight))
            y, to = self.top + row * self.cell + half, self.top + column * self.cell + half
            path = QPainterPath(QPointF(start, y))
            path.cubicTo(QPointF(middle, y), QPointF(middle, to), QPointF(end, to))
            painter.drawPath(path)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().y())
        if row != self._over:
            self._over = row
            self.hovered.emit(row, -1)
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._over = -1
        self.viewport().update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (row := self.row_at(event.position().y())) >= 0:
            self.take(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self.count and not event.modifiers():
            self.take(min(max(self.row + step, 0), self.count - 1))
            return
        super().keyPressEvent(event)
