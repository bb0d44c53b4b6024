"""Rows of bars or ranges on one scale, with names and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPen,
)

from workbench.ui.style import theme
from workbench.ui.widgets.charts.plot import GAP, LEFT, RIGHT, ROW, Plot

CHIP = 8  # pixels at 100%
MOST_NAME = 0.42  # share of the width for names


@dataclass(frozen=True)
class PlotRow:
    """A name, a bar or a range, and a text on the right.

    low, high: ends of the bar on the scale from 0 to the top of the plot. middle: a tick in a
    range, None for a bar. colour: #RRGGBB of the chip and the bar, "" for the accent without chip.
    values: of the row in the saved table. whiskers: ends of an interval around the end of the bar.
    """

    name: str
    text: str
    tip: str
    high: float
    low: float = 0.0
    middle: float | None = None
    colour: str = ""
    values: tuple[object, ...] = ()
    whiskers: tuple[float, float] | None = None


class RowPlot(Plot):
    """Bars or ranges one below the other, on a common scale from 0.

    head: titles of the columns in the saved table.
    """

    def __init__(self, name: str, head: Sequence[str]) -> None:
        super().__init__(name)
        self.rows: tuple[PlotRow, ...] = ()
        self._head, self._top = tuple(head), 1.0

    def show_rows(self, rows: Sequence[PlotRow], top: float | None = None) -> None:
        """Show rows; top: end of the scale, None for the longest row."""
        self.rows = tuple(rows)
        self._top = max((row.high for row in rows), default=1.0) if top is None else top
        self._top = self._top or 1.0
        self.renew()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(300), theme.px(ROW) * len(self.rows))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(200), self.sizeHint().height())

    def count(self) -> int:
        return len(self.rows)

    def place(self, number: int, area: QRectF) -> QRectF:
        height = theme.px(ROW)
        return QRectF(area.left(), area.top() + number * height, area.width(), height)

    def tip(self, number: int) -> str:
        return self.rows[number].tip

    def numbers(self) -> Sequence[Sequence[object]]:
        return [self._head, *(row.values for row in self.rows)]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        font = theme.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        chip = theme.px(CHIP + 8) if any(row.colour for row in self.rows) else 0
        longest = max((metrics.horizontalAdvance(row.name) for row in self.rows), default=0) + 2
        name = min(longest, int(area.width() * MOST_NAME) - chip)
        right = max((metrics.horizontalAdvance(row.text) for row in self.rows), default=0) + 2
        gap = theme.px(GAP)
        for number, row in enumerate(self.rows):
            box = self.place(number, area).adjusted(4, 0, -4, 0)
            if row.colour:
                self._draw_chip(painter, box, row.colour)
            text = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, name)
            painter.setPen(theme.qcolour("text"))
            painter.drawText(QRectF(box.left() + chip, box.top(), name, box.height()), LEFT, text)
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(box, RIGHT, row.text)
            scale = box.adjusted(chip + name + gap, 0, -right - gap, 0)
            if scale.width() >= theme.px(24):
                self._draw_scale(painter, scale, row)

    def _draw_chip(self, painter: QPainter, box: QRectF, colour: str) -> None:
        size = theme.px(CHIP)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(QRectF(box.left(), box.center().y() - size / 2, size, size), 2, 2)

    def _draw_scale(self, painter: QPainter, scale: QRectF, row: PlotRow) -> None:
        def at(value: float) -> float:
            return scale.left() + scale.width() * min(max(value / self._top, 0.0), 1.0)

        thick, middle = theme.px(6), scale.center().y()
        ranged = row.middle is not None
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.qcolour("line"))
        track = 2 if ranged else thick
        painter.drawRoundedRect(
            QRectF(scale.left(), middle - track / 2, scale.width(), track), track / 2, track / 2
        )
        if not ranged and row.high <= 0:
            return
        painter.setBrush(
            theme.qcolour("accent", 0.35)
            if ranged
            else QColor(row.colour or theme.colour("accent"))
        )
        left = at(row.low)
        wide = max(at(row.high) - left, thick)
        painter.drawRoundedRect(QRectF(left, middle - thick / 2, wide, thick), 3, 3)
        if row.whiskers is not None:
            low, high = map(at, row.whiskers)
            painter.setPen(QPen(theme.qcolour("text"), 1))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
            for end in (low, high):
                painter.drawLine(QPointF(end, middle - thick), QPointF(end, middle + thick))
        if row.middle is not None:
            painter.setBrush(theme.qcolour("accent"))
            tick = QRectF(at(row.middle) - 1.5, middle - thick, 3, 2 * thick)
            painter.drawRoundedRect(tick, 1.5, 1.5)
