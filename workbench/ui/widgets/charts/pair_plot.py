"""How often two names occur together, as a triangle of numbers on coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
)

from workbench.base.i18n import _
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.plot import GAP, LEFT, ROW, Plot

LEAST_CELL = 30  # pixels at 100%


class PairPlot(Plot):
    """How often two names occur together, in a triangle; how often each occurs, on its edge."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.names: tuple[str, ...] = ()
        self.cells: tuple[tuple[int, int, int], ...] = ()

    def show_pairs(self, names: Sequence[str], counts: Mapping[tuple[int, int], int]) -> None:
        """counts: the positions of two names, the first not above the second → number."""
        self.names = tuple(names)
        self.cells = tuple(
            (row, column, counts.get((column, row), 0))
            for row in range(len(names))
            for column in range(row + 1)
        )
        self.renew()

    def sizeHint(self) -> QSize:
        names = len(self.names)
        wide = self._name_width() + names * theme.px(LEAST_CELL)
        return QSize(wide, (names + 1) * theme.px(ROW))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _name_width(self) -> int:
        metrics = QFontMetrics(theme.font("small"))
        longest = max(map(metrics.horizontalAdvance, self.names), default=0) + theme.px(GAP)
        return min(longest, theme.px(130))

    def count(self) -> int:
        return len(self.cells)

    def place(self, number: int, area: QRectF) -> QRectF:
        row, column, _count = self.cells[number]
        left, wide, high = self._grid(area)
        return QRectF(left + column * wide, area.top() + row * high, wide, high)

    def _grid(self, area: QRectF) -> tuple[float, float, float]:
        left = area.left() + self._name_width()
        wide = min((area.right() - left) / max(1, len(self.names)), theme.px(72))
        return left, max(wide, float(theme.px(LEAST_CELL))), theme.px(ROW)

    def tip(self, number: int) -> str:
        row, column, count = self.cells[number]
        if row == column:
            message = _("Documents with {label}: {n}")
            return message.format(label=self.names[row], n=formats.count(count))
        message = _("Documents with {first} and {second}: {n}")
        return message.format(
            first=self.names[column], second=self.names[row], n=formats.count(count)
        )

    def step(self, number: int, key: Qt.Key) -> int:
        row, column, _count = self.cells[max(number, 0)]
        row += (key == Qt.Key.Key_Down) - (key == Qt.Key.Key_Up)
        column += (key == Qt.Key.Key_Right) - (key == Qt.Key.Key_Left)
        row = min(max(row, 0), len(self.names) - 1)
        column = min(max(column, 0), row)
        return row * (row + 1) // 2 + column

    def numbers(self) -> Sequence[Sequence[object]]:
        rows = [(self.names[column], self.names[row], n) for row, column, n in self.cells]
        return [("label", "other", "documents"), *rows]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        most = max((n for row, column, n in self.cells if row != column), default=0) or 1
        left, wide, high = self._grid(area)
        small, caption = theme.font("small"), theme.font("caption")
        metrics, narrow = QFontMetrics(small), QFontMetrics(caption)
        painter.setPen(theme.qcolour("text"))
        painter.setFont(small)
        room = int(left - area.left() - theme.px(GAP) + 2)
        for number, name in enumerate(self.names):
            box = QRectF(area.left(), area.top() + number * high, room, high)
            elided = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(box, LEFT, elided)
        painter.setFont(caption)
        for number, (row, column, count) in enumerate(self.cells):
            edge = row == column
            ground = theme.colour("line") if edge else theme.sequential(count / most)
            box = self.place(number, area).adjusted(1, 1, -1, -1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(box, 3, 3)
            painter.setPen(QColor(theme.readable(ground, "text", "surface")))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, formats.count(count))
        painter.setPen(theme.qcolour("muted"))
        below = area.top() + len(self.names) * high
        for number, name in enumerate(self.names):
            box = QRectF(left + number * wide, below, wide, theme.px(ROW) * 0.8)
            elided = narrow.elidedText(name, Qt.TextElideMode.ElideRight, int(wide) - 4)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, elided)
