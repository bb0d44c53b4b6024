"""Charts of measured curves: lines with dashes and markers, bars, a chosen point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import (
    BAND_ALPHA,
    Bars,
    ChartBand,
    ChartLayer,
    ChartLine,
    ChartText,
    Points,
)
from workbench.ui.widgets.charts.legend import CIRCLE, NO_MARK, draw_names
from workbench.ui.widgets.charts.saving import Savable
from workbench.ui.widgets.focus_ring import FocusRing

HIT_RADIUS = 14  # pixels from a point at which a click or the mouse meets it
MOST_EMPTY = 320  # width of the text of a chart without data, pixels at 100%
MOST_MARKS = 60  # points of a curve up to which each has a marker


@dataclass(frozen=True)
class Series:
    """A curve. notes: a text per point, shown on hover after the values; () for none.

    low, high: ends of an interval around each y, drawn as whiskers or as a `band`; () for none.
    line: the points are connected; otherwise each has its marker, however many there are. alpha: of
    the colours of line and band, in (0, 1].
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    tone: str = "accent"
    dashed: bool | Qt.PenStyle = False
    marker: str = NO_MARK
    notes: Sequence[str] = ()
    width: float = 2.0
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    line: bool = True
    band: bool = False
    alpha: float = 1.0

    def layers(self) -> Iterator[ChartLayer]:
        if self.line:
            yield ChartLine(self.x, self.y, self.tone, self.width, self.dashed, alpha=self.alpha)
        if self.low and not self.band:
            x = [value for value in self.x for _end in range(2)]
            ends = [end for pair in zip(self.low, self.high, strict=True) for end in pair]
            yield ChartLine(x, ends, self.tone, 1.0, pairs=True)
        if self.marker and (len(self.x) <= MOST_MARKS or not self.line):
            yield Points(self.x, self.y, self.tone, self.marker)


class BandPoint(Protocol):
    """A mean with the ends of its band."""

    @property
    def x(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def banded(
    name: str,
    points: Sequence[BandPoint],
    place: Callable[[int], float],
    unit: float = 1.0,
    **looks: Any,
) -> Series:
    """A curve of means in a band. place: of x on the axis; unit: factor of the values; looks: other
    fields of `Series`.
    """
    values = [tuple(unit * getattr(at, end) for at in points) for end in ("mean", "low", "high")]
    x = tuple(place(at.x) for at in points)
    return Series(name, x, values[0], low=values[1], high=values[2], band=True, **looks)


@dataclass(frozen=True)
class Mark:
    """A place on the x-axis with an interval, drawn as a line in a band; text is beside the line.

    high: None if the interval has no upper end. y: of a point on the line.
    """

    x: float
    low: float
    high: float | None
    y: float
    text: str
    tone: str = "accent"

    def layers(self, x: tuple[float, float], y: tuple[float, float]) -> Iterator[ChartLayer]:
        low = min(max(self.low, x[0]), x[1])
        high = x[1] if self.high is None else min(max(self.high, x[0]), x[1])
        yield ChartBand((low, high), (y[0], y[0]), (y[1], y[1]), self.tone, 0.1)
        if x[0] <= self.x <= x[1]:
            yield ChartLine((self.x, self.x), y, self.tone, 1.5)
            yield Points((self.x,), (self.y,), self.tone, CIRCLE, 11)
            at_left = self.x > (x[0] + x[1]) / 2  # the text is where there is room
            anchor = (1.05, 1.2) if at_left else (-0.05, 1.2)
            yield ChartText(self.x, y[0], self.text, self.tone, 600, anchor)


@dataclass(frozen=True)
class Bar:
    """A grey bar from x to x + width; height is a fraction of the chart."""

    x: float
    width: float
    height: float


class Chart(Savable, QWidget):
    """`empty` is what the page says in place of a chart without data: what will appear there.

    `opened(series, point)`: a point was clicked, or Enter pressed on the chosen one.

    `moved(series, point)`: the arrow keys chose another point.
    """

    opened = Signal(int, int)
    moved = Signal(int, int)

    def __init__(self, name: str, x: Axis, y: Axis, *, empty: str, diagonal: bool = False):
        super().__init__()
        self.empty = empty
        self._axes, self._diagonal = (x, y), diagonal
        self._series: tuple[Series, ...] = ()
        self._bars: tuple[Bar, ...] = ()
        self._level: float | None = None
        self._level_text, self._level_tone = "", "warn"
        self._place_mark: Mark | None = None
        self._chosen: tuple[int, int] | None = None
        self._guides = False
        self._frame = ChartFrame(x, y, self)
        self._frame.hide()
        self.setAccessibleName(name)
        self.setAccessibleDescription(empty)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setMinimumHeight(theme.px(150))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    # ---------------------------------------------------------------- data

    @property
    def series(self) -> tuple[Series, ...]:
        return self._series

    def set_axes(self, x: Axis, y: Axis) -> None:
        """Takes effect with the next series."""
        self._axes = x, y
        self._frame.set_axes(x, y)

    def set_series(self, series: Sequence[Series], bars: Sequence[Bar] = ()) -> None:
        """Replace all curves; the chosen point stays if it still exists."""
        self._series, self._bars = tuple(series), tuple(bars)
        if self._chosen is not None:
            number, point = self._chosen
            if number >= len(self._series) or point >= len(self._series[number].x):
                self._chosen = None
        message = [f"{series.name}: {len(series.x)}" for series in self._series]
        self.setAccessibleDescription("; ".join(message) if self.has_data else self.empty)
        self._show()

    @property
    def has_data(self) -> bool:
        """Whether there is anything to draw between the scales."""
        values = (value for series in self._series for value in series.y)
        return bool(self._bars) or any(map(math.isfinite, values))

    @property
    def place_mark(self) -> Mark | None:
        return self._place_mark

    def choose(self, series: int, point: int, *, guides: bool = False) -> None:
        """Mark a point; guides: dashed lines to both axes."""
        self._chosen, self._guides = (series, point), guides
        self._mark()

    def set_level(
        self, level: float | None, text: str = "", mark: Mark | None = None, *, tone: str = "warn"
    ) -> None:
        """A dashed horizontal line at this value of y, with a text, and a mark on the x-axis."""
        self._level, self._level_text, self._place_mark = level, text, mark
        self._level_tone = tone
        self._show()

    @property
    def level(self) -> tuple[float | None, str]:
        """The horizontal line and its text."""
        return self._level, self._level_text

    def place(self, x: float, y: float) -> QPointF:
        """Where a point is on the chart."""
        return self._frame.place(x, y)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(360), theme.px(240))

    # ---------------------------------------------------------------- drawing

    def _show(self) -> None:
        has_data = self.has_data
        if has_data:
            ranges = [axis.range_of(self._values(at)) for at, axis in enumerate(self._axes)]
            self._frame.show_layers([*self._layers(ranges[0], ranges[1])], ranges[0], ranges[1])
        self._frame.setVisible(has_data)
        self._mark()
        self.update()

    def _values(self, number: int) -> Iterator[float]:
        """Of all points on one of the axes."""
        for series in self._series:
            yield from (series.x, (*series.y, *series.low, *series.high))[number]
        if number == 1 and self._level is not None:
            yield self._level

    def _layers(self, x: tuple[float, float], y: tuple[float, float]) -> Iterator[ChartLayer]:
        low, high = y
        for bar in self._bars:
            inset = 0.04 * bar.width
            height = (high - low) * bar.height
            yield Bars(
                [bar.x + inset], bar.width - 2 * inset, [height], "strong_line", low, alpha=0.45
            )
        if self._diagonal:
            yield ChartLine(x, y, "faint", 1.0, dashed=True)
        if self._level is not None:
            tone = self._level_tone if self._level_text else "faint"
            yield ChartLine(x, (self._level, self._level), tone, 1.0, dashed=True)
        if self._place_mark is not None:
            yield from self._place_mark.layers(x, y)
        for series in self._series:
            if series.band and len(series.x) > 1:
                alpha = BAND_ALPHA * series.alpha
                yield ChartBand(series.x, series.low, series.high, series.tone, alpha)
        for series in self._series:
            yield from series.layers()
        if self._level is not None and self._level_text:
            is_high = self._level > low + 0.9 * (high - low)  # there is no room above the line
            anchor = (-0.1, -0.1) if is_high else (-0.1, 1.1)
            yield ChartText(x[0], self._level, self._level_text, self._level_tone, 600, anchor)

    def _mark(self) -> None:
        """Mark the chosen point."""
        if self._chosen is None or not self.has_data:
            self._frame.mark(())
            return
        series, point = self._series[self._chosen[0]], self._chosen[1]
        x, y = series.x[point], series.y[point]
        (left, _right), (low, _high) = self._frame.range
        guides = [((x, x), (y, low)), ((x, left), (y, y))] if self._guides else []
        tone = "accent" if self.hasFocus() else series.tone
        point_ = Points((x,), (y,), tone, CIRCLE, 13, edge_width=2.0)
        self._frame.mark(
            [*(ChartLine(*ends, series.tone, 1.0, dashed=True) for ends in guides), point_]
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.has_data:
            self._draw_empty(QPainter(self), QRectF(self.rect()))

    def _draw_empty(self, painter: QPainter, whole: QRectF) -> None:
        """Scales without data would suggest values that nobody has measured."""
        side = max(0.0, (whole.width() - theme.px(MOST_EMPTY)) / 2)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(whole.adjusted(side, 0, -side, 0), flags, self.empty)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame.setGeometry(self.rect())

    # ---------------------------------------------------------------- mouse and keys

    def _at(self, place: QPointF) -> tuple[int, int] | None:
        """(series, point) of the nearest point within HIT_RADIUS."""
        if not self.has_data:
            return None
        left, across, bottom, down = self._frame.mapping()
        best, nearest = float(HIT_RADIUS), None
        for number, series in enumerate(self._series):
            for point, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
                dx, dy = left + x * across - place.x(), bottom + y * down - place.y()
                if abs(dx) < best and (distance := math.hypot(dx, dy)) < best:
                    best, nearest = distance, (number, point)
        return nearest

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (at := self._at(event.position())):
            self._chosen = at
            self._mark()
            self.opened.emit(*at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        text = "" if at is None else self.describe(*at)
        escaping.show_tip(event.globalPosition().toPoint(), text, self)

    def describe(self, series: int, point: int) -> str:
        """The values of a point as text."""
        item = self._series[series]
        x, y = self._axes
        parts = [
            item.name,
            f"{x.name} {x.text_of(item.x[point])}",
            f"{y.name} {y.text_of(item.y[point])}",
        ]
        if item.notes:
            parts.append(item.notes[point])
        return " · ".join(part for part in parts if part)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        number, point = self._chosen or (0, 0)
        if step is not None and self._series and self._series[number].x:
            point = min(max(point + step, 0), len(self._series[number].x) - 1)
            self._chosen = (number, point)
            self._mark()
            self.moved.emit(number, point)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._chosen is not None:
            self.opened.emit(number, point)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._mark()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._mark()

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return QSize(max(self.width(), 480), max(self.height(), 320))

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        """The chart, with the names of its curves below it if there are several."""
        if not self.has_data:
            self._draw_empty(painter, area)
            return
        high = draw_names(painter, area, self._series) if len(self._series) > 1 else 0
        self._frame.draw(painter, area.adjusted(0, 0, 0, -high))

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "curve", "x", "y", "note"
        for series in self._series:
            notes = series.notes or ("",) * len(series.x)
            for x, y, note in zip(series.x, series.y, notes, strict=True):
                yield series.name, self._axes[0].number_at(x), y, note
