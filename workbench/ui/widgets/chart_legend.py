"""The names of the curves of a chart, each with a sample of its line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.charts.chart import Series
from workbench.ui.widgets.charts.legend import SAMPLE, draw_sample
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, row
from workbench.ui.widgets.words import words

HIGH = 14  # pixels of a sample at 100%


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
        self.setFixedSize(QSize(theme.px(SAMPLE), theme.px(HIGH)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_sample(QPainter(self), QRectF(self.rect()), self._series)
