"""A line over named steps, such as the entropy after each token."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import ChartLayer, ChartLine, ChartText, Points

MAX_STEPS = 14  # steps that are drawn, the last ones
MOST_NAME = 90  # width of a name, pixels


class StepLine(QWidget):
    """`set` replaces the points: (name, value from 0). The last value is written beside it."""

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(104))
        self._points: tuple[tuple[str, float], ...] = ()
        self._frame = ChartFrame(Axis(), Axis(), self, baseline=False)
        self._frame.above = 6  # for the last value

    def set(self, points: Sequence[tuple[str, float]]) -> None:
        self._points = tuple(points)[-MAX_STEPS:]
        message = ", ".join(f"{name} {formats.decimal(value, 1)}" for name, value in self._points)
        self.setAccessibleDescription(message)
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame.setGeometry(self.rect())
        self._draw()

    def _draw(self) -> None:
        """Names are as long as the width allows."""
        if not self._points:
            self._frame.show_layers(())
            return
        most = 4.0 * max(1, math.ceil(max(value for _name, value in self._points) / 4))
        levels = tuple((most * share, formats.decimal(most * share, 0)) for share in (0, 0.5, 1))
        self._frame.set_axes(Axis(names=()), Axis(names=levels))
        x = -0.5, len(self._points) - 0.5
        self._frame.show_layers([*self._layers()], x, (0.0, most))

    def _layers(self) -> Iterator[ChartLayer]:
        names, values = zip(*self._points, strict=True)
        x, last = [float(at) for at in range(len(values))], len(values) - 1
        yield ChartLine(x, values)
        yield Points(x[:-1], values[:-1], size=5, edge="accent")
        yield Points(x[-1:], values[-1:], size=8, edge="accent")
        room = min(self._frame.area().width() / len(values), MOST_NAME)
        for at, name in enumerate(names):
            tone, weight = ("text", 600) if at == last else ("muted", 400)
            metrics = QFontMetricsF(theme.font("caption", weight))
            elided = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            yield ChartText(x[at], 0.0, elided, tone, weight, (0.5, -0.2))
        yield ChartText(x[-1], values[-1], formats.decimal(values[-1], 1), "text", 600, (0.5, 1.4))
