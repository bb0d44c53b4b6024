"""Plots with a scale of counts on the left: histograms, and values per day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPen,
    QPolygonF,
)

from workbench.base.i18n import _
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.axes import scale_text, ticks
from workbench.ui.widgets.plot import GAP, LEFT, RIGHT, Plot


class _Scaled(Plot):
    """A plot with a scale of counts on the left and values below."""

    BELOW, ABOVE = 20, 18

    def sizeHint(self) -> QSize:
        return QSize(theme.px(300), theme.px(180))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(200), theme.px(140))

    def _inner(self, area: QRectF) -> QRectF:
        top = scale_text(ticks(0, self._top())[-1])
        left = QFontMetrics(theme.font("caption")).horizontalAdvance(top) + theme.px(GAP)
        return area.adjusted(left, theme.px(self.ABOVE), -theme.px(8), -theme.px(self.BELOW))

    def _top(self) -> float:
        raise NotImplementedError

    def _draw_left(self, painter: QPainter, area: QRectF, inner: QRectF) -> None:
        painter.setFont(theme.font("caption"))
        for value in ticks(0, self._top()):
            y = inner.bottom() - value / self._top() * inner.height()
            painter.setPen(QPen(theme.qcolour("line" if value else "strong_line"), 1))
            painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y))
            painter.setPen(theme.qcolour("muted"))
            box = QRectF(area.left(), y - 9, inner.left() - area.left() - theme.px(6), 18)
            painter.drawText(box, RIGHT, scale_text(value))

    def _draw_below(
        self, painter: QPainter, inner: QRectF, texts: Sequence[tuple[float, str]]
    ) -> None:
        """Texts at these x, as many as there is room for."""
        metrics, last = QFontMetrics(theme.font("caption")), float("-inf")
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        for x, text in texts:
            wide = metrics.horizontalAdvance(text)
            if x - wide / 2 < last + 8:
                continue
            last = x + wide / 2
            box = QRectF(x - wide / 2 - 2, inner.bottom() + 2, wide + 4, theme.px(self.BELOW) - 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


@dataclass(frozen=True)
class Steps:
    """Counts per bin. The first curve of a plot is solid in the accent, others dashed in grey."""

    name: str
    counts: tuple[int, ...]


class StepPlot(_Scaled):
    """A histogram of one or two measures with limits as vertical lines; the parts are bins."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.edges: tuple[int, ...] = ()
        self.curves: tuple[Steps, ...] = ()
        self.limits: tuple[tuple[int, str], ...] = ()

    def show_steps(
        self, edges: Sequence[int], curves: Sequence[Steps], limits: Sequence[tuple[int, str]]
    ) -> None:
        """edges: of the bins, one more than these. limits: value and text of each."""
        self.edges, self.curves, self.limits = tuple(edges), tuple(curves), tuple(limits)
        self.renew()

    def count(self) -> int:
        return max(0, len(self.edges) - 1)

    def _top(self) -> float:
        return float(
            max((max(curve.counts) for curve in self.curves if curve.counts), default=1) or 1
        )

    def _x(self, inner: QRectF, value: float) -> float:
        return inner.left() + value / (self.edges[-1] or 1) * inner.width()

    def place(self, number: int, area: QRectF) -> QRectF:
        inner = self._inner(area)
        left, right = (self._x(inner, self.edges[number + at]) for at in (0, 1))
        return QRectF(left, inner.top(), right - left, inner.height())

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

    def draw(self, painter: QPainter, area: QRectF) -> None:
        if not self.count():
            return
        inner = self._inner(area)
        self._draw_left(painter, area, inner)
        marks = ticks(0, self.edges[-1])
        texts = [(self._x(inner, value), scale_text(value)) for value in marks]
        self._draw_below(painter, inner, texts)
        self._draw_limits(painter, inner)
        for number, curve in reversed(list(enumerate(self.curves))):
            style = Qt.PenStyle.DashLine if number else Qt.PenStyle.SolidLine
            tone = theme.qcolour("muted" if number else "accent")
            painter.setPen(QPen(tone, 1.3 if number else 1.8, style))
            points = [QPointF(inner.left(), inner.bottom())]
            for at, count in enumerate(curve.counts):
                y = inner.bottom() - count / self._top() * inner.height()
                points.append(QPointF(self._x(inner, self.edges[at]), y))
                points.append(QPointF(self._x(inner, self.edges[at + 1]), y))
            points.append(QPointF(inner.right(), inner.bottom()))
            painter.drawPolyline(QPolygonF(points))

    def _draw_limits(self, painter: QPainter, inner: QRectF) -> None:
        font = theme.font("caption", 600)
        metrics, last = QFontMetrics(font), inner.left()
        painter.setFont(font)
        for value, text in self.limits:
            if value >= self.edges[-1]:
                continue
            x, wide = self._x(inner, value), metrics.horizontalAdvance(text)
            painter.setPen(QPen(theme.qcolour("faint"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, inner.top() - theme.px(14)), QPointF(x, inner.bottom()))
            left = x - wide - 4 if x - wide - 4 >= last else x + 4
            if left + wide > inner.right() + theme.px(8):
                continue
            last = left + wide
            painter.setPen(theme.qcolour("text"))
            box = QRectF(left, inner.top() - theme.px(self.ABOVE), wide + 2, theme.px(16))
            painter.drawText(box, LEFT, text)


class DayPlot(_Scaled):
    """A value per day as a line with markers; the parts are days."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.days: tuple[tuple[str, str, float, int], ...] = ()

    def show_days(self, days: Sequence[tuple[str, str, float, int]]) -> None:
        """ISO date, its display text, documents per hour, measured on so many documents."""
        self.days = tuple(days)
        self.renew()

    def count(self) -> int:
        return len(self.days)

    def _top(self) -> float:
        return max((value for _day, _text, value, _n in self.days), default=1.0) * 1.1 or 1.0

    def _point(self, number: int, inner: QRectF) -> QPointF:
        share = (number + 0.5) / len(self.days)
        y = inner.bottom() - self.days[number][2] / self._top() * inner.height()
        return QPointF(inner.left() + share * inner.width(), y)

    def place(self, number: int, area: QRectF) -> QRectF:
        inner = self._inner(area)
        wide = inner.width() / len(self.days)
        return QRectF(inner.left() + number * wide, inner.top(), wide, inner.height())

    def tip(self, number: int) -> str:
        _day, text, value, count = self.days[number]
        message = _("{day}: {speed} per hour, measured on {n}")
        return message.format(day=text, speed=formats.count(round(value)), n=formats.count(count))

    def numbers(self) -> Sequence[Sequence[object]]:
        rows = [(day, speed, n) for day, _text, speed, n in self.days]
        return [("day", "documents_per_hour", "documents"), *rows]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        if not self.days:
            return
        inner = self._inner(area)
        self._draw_left(painter, area, inner)
        points = [self._point(number, inner) for number in range(len(self.days))]
        texts = [(point.x(), day[1]) for point, day in zip(points, self.days, strict=True)]
        self._draw_below(painter, inner, texts)
        painter.setPen(QPen(theme.qcolour("accent"), 1.8))
        painter.drawPolyline(QPolygonF(points))
        painter.setPen(QPen(theme.qcolour("surface"), 1))
        painter.setBrush(theme.qcolour("accent"))
        for point in points:
            painter.drawEllipse(point, 4, 4)
