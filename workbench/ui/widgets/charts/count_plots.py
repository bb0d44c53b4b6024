"""Plots with a scale of counts on the left: histograms, and values per day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent

from workbench.base.i18n import _
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import ChartLayer, ChartLine, ChartText, Points
from workbench.ui.widgets.charts.plot import Plot

LIMITS = 12  # height of the texts of limits above the area, pixels at 100%


class _CountPlot(Plot):
    """A plot whose parts are columns beside each other."""

    def __init__(self, name: str, x: Axis, y: Axis) -> None:
        super().__init__(name)
        self._frame = ChartFrame(x, y, self)

    def edges_of(self, number: int) -> tuple[float, float]:
        """Where a part begins and ends on the lower axis."""
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        return QSize(theme.px(300), theme.px(180))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(200), theme.px(140))

    def place(self, number: int, area: QRectF) -> QRectF:
        inner, (low, high) = self._frame.area(area.size()), self._frame.range[0]
        left, right = ((edge - low) / (high - low) for edge in self.edges_of(number))
        box = QRectF(0, inner.top(), (right - left) * inner.width(), inner.height())
        box.moveLeft(inner.left() + left * inner.width())
        return box.translated(area.topLeft())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The frame paints the plot above this."""
        self.paint_chosen(QPainter(self))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        if self.count():
            self._frame.draw(painter, area)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame.setGeometry(self.rect())


@dataclass(frozen=True)
class Steps:
    """Counts per bin. The first curve of a plot is solid in the accent, others dashed in grey."""

    name: str
    counts: tuple[int, ...]


class StepPlot(_CountPlot):
    """A histogram of one or two measures with limits as vertical lines; the parts are bins."""

    def __init__(self, name: str) -> None:
        super().__init__(name, Axis(whole=True), Axis(whole=True))
        self._frame.above = LIMITS
        self._frame.moved.connect(self._mark_limits)
        self.edges: tuple[int, ...] = ()
        self.curves: tuple[Steps, ...] = ()
        self.limits: tuple[tuple[int, str], ...] = ()

    def show_steps(
        self, edges: Sequence[int], curves: Sequence[Steps], limits: Sequence[tuple[int, str]]
    ) -> None:
        """edges: of the bins, one more than these. limits: value and text of each."""
        self.edges, self.curves, self.limits = tuple(edges), tuple(curves), tuple(limits)
        self.renew()
        if not self.count():
            self._frame.show_layers(())
            return
        layers = [self._line(number, curve) for number, curve in enumerate(self.curves)]
        top = max((max(curve.counts, default=0) for curve in self.curves), default=1) or 1
        self._frame.show_layers(layers[::-1], (0.0, float(self.edges[-1] or 1)), (0.0, float(top)))
        self._mark_limits()

    def _line(self, number: int, curve: Steps) -> ChartLine:
        x = [float(edge) for edge in self.edges for _side in range(2)]
        y = [0.0, *(float(count) for count in curve.counts for _side in range(2)), 0.0]
        tone, width = ("muted", 1.3) if number else ("accent", 1.8)
        return ChartLine(x, y, tone, width, dashed=bool(number))

    def count(self) -> int:
        return max(0, len(self.edges) - 1)

    def edges_of(self, number: int) -> tuple[float, float]:
        return self.edges[number], self.edges[number + 1]

    def tip(self, number: int) -> str:
        low, high = self.edges[number : number + 2]
        last = number == self.count() - 1
        message = _("{low} or more") if last else _("{low} to {high}")
        parts = [message.format(low=formats.count(low), high=formats.count(high - 1))]
        parts += [f"{curve.name}: {formats.count(curve.counts[number])}" for curve in self.curves]
        return " · ".join(parts)

    def numbers(self) -> Sequence[Sequence[object]]:
        head = ("from", "below", *(curve.name for curve in self.curves))
        rows = [
            (low, high, *(curve.counts[number] for curve in self.curves))
            for number, (low, high) in enumerate(pairwise(self.edges))
        ]
        return [head, *rows]

    def _mark_limits(self) -> None:
        if self.count():
            self._frame.mark([*self._limits()])

    def _limits(self) -> Iterator[ChartLayer]:
        """Lines with texts above them, left of the line or, where that is taken, right of it."""
        metrics, area = QFontMetricsF(theme.font("caption", 600)), self._frame.area()
        low = self._frame.range[1][0]
        above = self._frame.point(area.topLeft())[1]
        head = self._frame.point(QPointF(area.left(), area.top() - theme.px(LIMITS + 2)))[1]
        last = area.left()
        for value, text in self.limits:
            if value >= self.edges[-1]:
                continue
            yield ChartLine((value, value), (low, head), "faint", 1.0, dashed=True)
            x, wide = self._frame.place(value, low).x(), metrics.horizontalAdvance(text)
            is_left = x - wide - 4 >= last
            left = x - wide - 4 if is_left else x + 4
            if left < last or left + wide > area.right() + theme.px(8):
                continue
            last = left + wide
            at, _y = self._frame.point(QPointF(left, area.top()))
            yield ChartText(at, above, text, "text", 600, (0.0, 1.1))


class DayPlot(_CountPlot):
    """A value per day as a line with markers; the parts are days."""

    def __init__(self, name: str) -> None:
        super().__init__(name, Axis(), Axis())
        self.days: tuple[tuple[str, str, float, int], ...] = ()

    def show_days(self, days: Sequence[tuple[str, str, float, int]]) -> None:
        """ISO date, its display text, documents per hour, measured on so many documents."""
        self.days = tuple(days)
        self.renew()
        if not self.days:
            self._frame.show_layers(())
            return
        names = tuple((float(at), day[1]) for at, day in enumerate(self.days))
        self._frame.set_axes(Axis(names=names), Axis())
        x, y = [at for at, _name in names], [day[2] for day in self.days]
        layers: list[ChartLayer] = [ChartLine(x, y, width=1.8), Points(x, y, size=8)]
        self._frame.show_layers(layers, (-0.5, len(x) - 0.5), (0.0, 1.1 * max(y) or 1.0))

    def count(self) -> int:
        return len(self.days)

    def edges_of(self, number: int) -> tuple[float, float]:
        return number - 0.5, number + 0.5

    def tip(self, number: int) -> str:
        _day, text, value, count = self.days[number]
        return _(
            "{day}: {speed} per hour, measured on {n}",
            day=text,
            speed=formats.count(round(value)),
            n=formats.count(count),
        )

    def numbers(self) -> Sequence[Sequence[object]]:
        rows = [(day, speed, n) for day, _text, speed, n in self.days]
        return [("day", "documents_per_hour", "documents"), *rows]
