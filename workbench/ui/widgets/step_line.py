"""A line over named steps, such as the entropy after each token."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import formats, theme

MAX_STEPS = 14  # steps that are drawn, the last ones
SIDE, ABOVE, BELOW = 30, 16, 20  # pixels around the drawing


class StepLine(QWidget):
    """`set` replaces the points: (name, value from 0). The last value is written beside it."""

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(104))
        self._points: tuple[tuple[str, float], ...] = ()

    def set(self, points: Sequence[tuple[str, float]]) -> None:
        self._points = tuple(points)[-MAX_STEPS:]
        message = ", ".join(f"{name} {formats.decimal(value, 1)}" for name, value in self._points)
        self.setAccessibleDescription(message)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._points:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("caption"))
        area = QRectF(self.rect()).adjusted(SIDE, ABOVE, -SIDE, -BELOW)
        most = 4.0 * max(1, math.ceil(max(value for _name, value in self._points) / 4))
        self._paint_grid(painter, area, most)
        wide = area.width() / max(1, len(self._points) - 1)
        places = [
            QPointF(area.left() + wide * at, area.bottom() - area.height() * value / most)
            for at, (_name, value) in enumerate(self._points)
        ]
        painter.setPen(QPen(theme.qcolour("accent"), 2))
        painter.drawPolyline(places)
        for at, place in enumerate(places):
            last = at == len(places) - 1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("accent"))
            painter.drawEllipse(place, 4 if last else 2.5, 4 if last else 2.5)
            self._paint_name(painter, place, area, at, last, min(wide, 90.0))

    def _paint_grid(self, painter: QPainter, area: QRectF, most: float) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        for share in (0, 0.5, 1):
            y = area.bottom() - area.height() * share
            painter.setPen(theme.qcolour("line"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.qcolour("muted"))
            room = QRectF(0, y - 8, SIDE - 8, 16)
            painter.drawText(room, middle, formats.decimal(most * share, 0))

    def _paint_name(
        self, painter: QPainter, place: QPointF, area: QRectF, at: int, last: bool, wide: float
    ) -> None:
        name, value = self._points[at]
        center = Qt.AlignmentFlag.AlignHCenter
        painter.setFont(theme.font("caption", 600 if last else 400))
        painter.setPen(theme.qcolour("text" if last else "muted"))
        shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(wide))
        room = QRectF(place.x() - wide / 2, area.bottom() + 4, wide, BELOW - 4)
        painter.drawText(room, center, shown)
        if last:
            above = QRectF(place.x() - 40, place.y() - 20, 80, 14)
            painter.drawText(above, center, formats.decimal(value, 1))
