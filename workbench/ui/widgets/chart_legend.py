"""The names of the curves of a chart, each with a sample of its line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui import theme
from workbench.ui.widgets.chart import CIRCLE, Series
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, row
from workbench.ui.widgets.words import words

WIDE, HIGH = 26, 14  # pixels of a sample at 100%


class ChartLegend(QFrame):
    """`set` replaces all names; they wrap where there is little room."""

    def __init__(self) -> None:
        super().__init__()
        self._line = QVBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)

    def set(self, series: Sequence[Series]) -> None:
        clear(self._line)
        pairs = [row(_Sample(item), words(item.name, "caption", "muted"), gap=5) for item in series]
        self._line.addWidget(flow(*pairs, gap=14))


class _Sample(QWidget):
    def __init__(self, series: Series):
        super().__init__()
        self._series = series
        self.setFixedSize(QSize(theme.px(WIDE), theme.px(HIGH)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, series = QPainter(self), self._series
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(theme.qcolour(series.tone), series.width, style))
        middle = self.height() / 2
        painter.drawLine(QPointF(0, middle), QPointF(self.width(), middle))
        if series.marker:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour(series.tone))
            box = QRectF(self.width() / 2 - 3.5, middle - 3.5, 7, 7)
            draw = painter.drawEllipse if series.marker == CIRCLE else painter.drawRect
            draw(box)
