"""A chart that grows during a run: legend in the header, best point marked, values on hover.

It is drawn at most twice per second. A curve keeps all its points.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QFrame, QSizePolicy

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.charts.axes import Axis, Range
from workbench.ui.widgets.charts.chart import Series
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import ChartLayer, ChartLine, Points, decimated
from workbench.ui.widgets.charts.legend import TONES, ChartLegend, draw_names, names_height
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import TurningRow, fill, row

REDRAW_MS = 500
LIMIT_TONE = "warn"
MARGIN = 0.04  # of the range, around all points


@dataclass
class PlotCurve:
    """`x`, `y` of equal length; `tone` is a colour name of the theme, `width` in pixels."""

    tone: str = "accent"
    width: float = 2.0
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)


class LivePlot(Savable, QFrame):
    """`add(name, x, y)` adds a point, `set_curves` replaces all, `mark_best` marks one."""

    def __init__(
        self,
        title: str,
        *,
        empty: str,
        x_name: str = "step",
        percent: bool = False,
        logarithmic: bool = False,
        low: float | None = None,
    ):
        """`empty`: shown until there is a point: what will appear, and when.

        `low`: where the y-axis begins, None to fit the data.

        `percent`: values are fractions of 1 and the axis shows them times 100.

        `logarithmic`: of the y-axis; values must be positive.
        """
        super().__init__()
        self._title, self._x_name, self._percent = title, x_name, percent
        self._low, self._limit = low, 0.0
        self._logarithmic, self._empty = logarithmic, words(empty, "caption", "muted", wrap=True)
        self.curves: dict[str, PlotCurve] = {}
        self._named: tuple[str, ...] = ()  # curves of the legend
        self._best: tuple[float, float] | None = None
        self._limit_name = ""
        self.setProperty("part", "card")
        self.setMouseTracking(True)
        self._build()
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(REDRAW_MS)
        self._clock.timeout.connect(self.draw)

    def _build(self) -> None:
        self._legend = ChartLegend()
        self._value = Elided("", "caption", "muted", whole=True)
        more = save_menu(self._title, _("Save {title}", title=self._title), self)
        head = TurningRow(
            (row(words(self._title, weight=600), (self._value, 1)), 1),
            row(self._legend, more),
            gap=8,
        )
        self.frame = ChartFrame(*self._axes())
        self.frame.setAccessibleName(self._title)
        self.frame.setMinimumHeight(120)
        self.frame.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._empty.setMinimumHeight(120)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        fill(self, head, (self.frame, 1), (self._empty, 1), gap=4, margins=(14, 8, 8, 8))
        self.frame.hide()

    def _axes(self) -> tuple[Axis, Axis]:
        y = Axis(low=self._low, percent=self._percent, logarithmic=self._logarithmic)
        return Axis(whole=True), y

    # ---------------------------------------------------------------- public methods

    def set_curves(
        self,
        curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
        tones: Mapping[str, str] | None = None,
        widths: Mapping[str, float] | None = None,
    ) -> None:
        """Replace all curves: name → (x, y)."""
        self.clear()
        for name, (x, y) in curves.items():
            tone, width = (tones or {}).get(name, ""), (widths or {}).get(name, 2.0)
            self._curve(name, tone, width).x[:] = list(x)
            self.curves[name].y[:] = list(y)
        self.draw()

    def add(self, name: str, x: float, y: float, *, tone: str = "", width: float = 2.0) -> None:
        """Add a point; non-finite values are ignored."""
        if not math.isfinite(y):
            return
        curve = self._curve(name, tone, width)
        curve.x.append(x)
        curve.y.append(y)
        if not self._clock.isActive():
            self._clock.start()

    def mark_best(self, x: float, y: float) -> None:
        self._best = (x, y)
        if not self._clock.isActive():
            self._clock.start()

    def clear(self) -> None:
        self.curves.clear()
        self._best = None
        self._value.setText("")

    def draw(self) -> None:
        """Draw now; called by the timer."""
        self._show_legend()
        has_data = any(curve.x for curve in self.curves.values())
        if has_data:
            curves = [self._drawn(curve) for curve in self.curves.values()]
            x = self._x_range()
            limit = [self._limit] if self._limit else []
            y = self._y_range([*limit, *(value for line in curves for value in line.y)])
            self.frame.show_layers([*self._layers(curves, x, y)], x, y)
        self.frame.setVisible(has_data)
        self._empty.setVisible(not has_data)

    def set_limit(self, value: float, name: str = "") -> None:
        """A dashed line at a value, named in the legend; 0 for none."""
        if value != self._limit:
            self._limit, self._limit_name = value, name
            self._named = ()
            self.draw()

    def set_percent(self, percent: bool) -> None:
        """Whether the values are fractions of 1, shown times 100."""
        if percent != self._percent:
            self._percent = percent
            self.frame.set_axes(*self._axes())

    # ---------------------------------------------------------------- drawing

    def _drawn(self, curve: PlotCurve) -> ChartLine:
        x, y = decimated(curve.x, curve.y)
        return ChartLine(x, [*map(self._place, y)], curve.tone, curve.width)

    def _place(self, value: float) -> float:
        """On the axis."""
        return math.log10(value) if self._logarithmic else value

    def _layers(self, curves: Sequence[ChartLine], x: Range, y: Range) -> Iterator[ChartLayer]:
        if self._limit:
            yield ChartLine(x, (self._limit, self._limit), LIMIT_TONE, 1.2, dashed=True)
        for line in curves:
            yield line
            if len(line.x) == 1:
                yield Points(line.x, line.y, line.tone, size=6, edge=line.tone)
        if self._best is not None:
            at, value = self._best[0], self._place(self._best[1])
            yield ChartLine((at, at), y, "good", 1.0, dashed=True)
            yield Points((at,), (value,), "good", size=10, edge_width=2.0)

    def _x_range(self) -> Range:
        """With fewer than two steps, a default range."""
        steps = {x for curve in self.curves.values() for x in (*curve.x[:1], *curve.x[-1:])}
        if len(steps) < 2:
            return 0.0, float(2 * max(steps) or 1)
        return _widened(min(steps), max(steps))

    def _y_range(self, places: Sequence[float]) -> Range:
        longest = max(len(curve.x) for curve in self.curves.values())
        if self._percent and longest < 2:
            return _widened(0.0, 1.0)
        return _widened(*self._axes()[1].range_of(places))

    def _curve(self, name: str, tone: str = "", width: float = 2.0) -> PlotCurve:
        if name not in self.curves:
            self.curves[name] = PlotCurve(tone or TONES[len(self.curves) % len(TONES)], width)
        return self.curves[name]

    def _show_legend(self) -> None:
        if tuple(self.curves) == self._named:
            return
        self._named = tuple(self.curves)
        self._legend.set(self._samples())

    # ---------------------------------------------------------------- hover

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = self.frame.mapFrom(self, event.position())
        inside = self.frame.isVisible() and self.frame.rect().contains(place.toPoint())
        text = self.values_at(place) if inside else ""
        self._value.setText(text)
        fits = self._value.fontMetrics().horizontalAdvance(text) <= self._value.width()
        escaping.show_tip(event.globalPosition().toPoint(), "" if fits else text, self)

    def values_at(self, place: QPointF) -> str:
        """The step at a place of the frame, and the value of each curve."""
        x = self.frame.point(place)[0]
        values = [
            f"{name} {self._figure(curve.y[nearest(curve.x, x)])}"
            for name, curve in self.curves.items()
            if curve.x
        ]
        longest = max(self.curves.values(), key=lambda curve: len(curve.x))
        step = longest.x[nearest(longest.x, x)] if longest.x else x
        return f"{self._x_name} {formats.significant(step)}:  " + "  ".join(values)

    def leaveEvent(self, event: QEvent) -> None:
        self._value.setText("")
        super().leaveEvent(event)

    def _figure(self, value: float) -> str:
        return formats.points(value) if self._percent else formats.significant(value, 3)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return self.frame.size() + QSize(0, self._names_height())

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        named = self._samples()
        if len(named) > 1:
            draw_names(painter, area, named)
        self.frame.draw(painter, area.adjusted(0, 0, 0, -self._names_height()))

    def _names_height(self) -> int:
        """Pixels below the plot for the names of the curves."""
        named = self._samples()
        return math.ceil(names_height(self.frame.width(), named)) if len(named) > 1 else 0

    def _samples(self) -> list[Series]:
        """The names and colours of the curves."""
        curves = self.curves.items()
        named = [Series(name, (), (), curve.tone, width=curve.width) for name, curve in curves]
        limit = Series(self._limit_name, (), (), LIMIT_TONE, True, width=1.2)
        return [*named, limit] if self._limit else named

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "curve", self._x_name, "value"
        for name, curve in self.curves.items():
            for x, y in zip(curve.x, curve.y, strict=True):
                yield name, x, y


def nearest(x: Sequence[float], value: float) -> int:
    """Index of the point closest to `value`; `x` is sorted in ascending order and not empty."""
    after = bisect_left(x, value)
    if after in (0, len(x)):
        return min(after, len(x) - 1)
    return after if x[after] - value < value - x[after - 1] else after - 1


def _widened(low: float, high: float) -> Range:
    margin = MARGIN * (high - low)
    return low - margin, high + margin
