"""Charts of measured curves: lines with dashes and markers, bars, a chosen point; PNG, SVG, CSV.

Drawn with QPainter, so that the same code paints the screen and the saved picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.legend import NO_MARK, draw_marker, draw_names
from workbench.ui.widgets.charts.saving import Savable
from workbench.ui.widgets.focus_ring import FocusRing

LEFT, BELOW, ABOVE, RIGHT = 44, 36, 30, 10  # room for scales and names, pixels at 100%
HIT_RADIUS = 14  # pixels from a point at which a click or the mouse meets it
MOST_EMPTY = 320  # width of the text of a chart without data, pixels at 100%
MOST_MARKS = 60  # points of a curve up to which each has a marker
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True)
class Series:
    """A curve. notes: a text per point, shown on hover after the values; () for none.

    low, high: the ends of an interval around each y, drawn as whiskers; () for none.
    line: the points are connected; otherwise each has its marker, however many there are.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    tone: str = "accent"
    dashed: bool = False
    marker: str = NO_MARK
    notes: Sequence[str] = ()
    width: float = 2.0
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    line: bool = True


@dataclass(frozen=True)
class Axis:
    """name: display text. low, high: range, None to fit the data. whole: of whole numbers."""

    name: str
    low: float | None = None
    high: float | None = None
    whole: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Bar:
    """A grey bar from x to x + width; height is a fraction of the chart."""

    x: float
    width: float
    height: float


Pixels = tuple[tuple[QPointF, int], ...]  # a place from the corner of the area, number of the point


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
        self._ranges = self._range_of(0), self._range_of(1)
        self._pixels: dict[tuple[int, float, float], Pixels] = {}
        self._chosen: tuple[int, int] | None = None
        self._guides = False
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

    def set_series(self, series: Sequence[Series], bars: Sequence[Bar] = ()) -> None:
        """Replace all curves; the chosen point stays if it still exists."""
        self._series, self._bars = tuple(series), tuple(bars)
        self._ranges = self._range_of(0), self._range_of(1)
        self._pixels.clear()
        if self._chosen is not None:
            number, point = self._chosen
            if number >= len(self._series) or point >= len(self._series[number].x):
                self._chosen = None
        message = [f"{series.name}: {len(series.x)}" for series in self._series]
        self.setAccessibleDescription("; ".join(message) if self.has_data else self.empty)
        self.update()

    @property
    def has_data(self) -> bool:
        """Whether there is anything to draw between the scales."""
        values = (value for series in self._series for value in series.y)
        return bool(self._bars) or any(map(math.isfinite, values))

    def choose(self, series: int, point: int, *, guides: bool = False) -> None:
        """Mark a point; guides: dashed lines to both axes."""
        self._chosen, self._guides = (series, point), guides
        self.update()

    def set_level(self, level: float | None) -> None:
        """A dashed horizontal line at this value of y."""
        self._level = level
        self._ranges = self._range_of(0), self._range_of(1)
        self._pixels.clear()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(360), theme.px(240))

    # ---------------------------------------------------------------- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.draw(painter, QRectF(self.rect()))

    def draw(self, painter: QPainter, whole: QRectF) -> None:
        """Paint the chart into a rectangle of any device."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("caption"))
        if not self.has_data:
            self._draw_empty(painter, whole)
            return
        area = self._area(whole)
        self._draw_scales(painter, area)
        for bar in self._bars:
            low = self._place(area, bar.x, self._ranges[1][0])
            right = self._place(area, bar.x + bar.width, self._ranges[1][0])
            box = QRectF(low.x() + 2, 0, right.x() - low.x() - 4, area.height() * bar.height)
            box.moveBottom(area.bottom())
            painter.fillRect(box, theme.qcolour("strong_line", 0.45))
        if self._diagonal:
            self._draw_line(painter, (area.bottomLeft(), area.topRight()), "faint", 1.0, True)
        if self._level is not None:
            y = self._place(area, self._ranges[0][0], self._level).y()
            ends = QPointF(area.left(), y), QPointF(area.right(), y)
            self._draw_line(painter, ends, "faint", 1.0, True)
        for number in range(len(self._series)):
            self._draw_series(painter, area, number)
        self._draw_chosen(painter, area)

    def _draw_empty(self, painter: QPainter, whole: QRectF) -> None:
        """Scales without data would suggest values that nobody has measured."""
        side = max(0.0, (whole.width() - theme.px(MOST_EMPTY)) / 2)
        painter.setPen(theme.qcolour("muted"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(whole.adjusted(side, 0, -side, 0), flags, self.empty)

    def _area(self, whole: QRectF) -> QRectF:
        left, above, right, below = map(theme.px, (LEFT, ABOVE, RIGHT, BELOW))
        return whole.adjusted(left, above, -right, -below)

    def _draw_scales(self, painter: QPainter, area: QRectF) -> None:
        x, y = self._axes
        muted = theme.qcolour("muted")
        middle = Qt.AlignmentFlag.AlignCenter
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for value in ticks(*self._ranges[1], whole=y.whole):
            at = self._place(area, self._ranges[0][0], value)
            painter.setPen(QPen(theme.qcolour("line"), 1))
            painter.drawLine(at, QPointF(area.right(), at.y()))
            painter.setPen(muted)
            box = QRectF(0, at.y() - 9, area.left() - 8, 18)
            painter.drawText(box, side, scale_text(value))
        for value in ticks(*self._ranges[0], whole=x.whole):
            at = self._place(area, value, self._ranges[1][0])
            painter.setPen(muted)
            box = QRectF(at.x() - 32, area.bottom() + 3, 64, 16)
            painter.drawText(box, middle, scale_text(value))
        painter.setPen(QPen(theme.qcolour("strong_line"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(muted)
        painter.drawText(QPointF(2, area.top() - theme.px(14)), y.name)
        below = QRectF(area.left(), area.bottom() + theme.px(18), area.width(), 16)
        painter.drawText(below, middle, x.name)

    def _draw_series(self, painter: QPainter, area: QRectF, number: int) -> None:
        series = self._series[number]
        points = [at + area.topLeft() for at, _point in self._points(area, number)]
        if series.line:
            self._draw_line(painter, points, series.tone, series.width, series.dashed)
        for x, low, high in zip(series.x, series.low, series.high, strict=False):
            ends = self._place(area, x, low), self._place(area, x, high)
            self._draw_line(painter, ends, series.tone, 1.0, False)
        if series.marker and (len(points) <= MOST_MARKS or not series.line):
            for point in points:
                draw_marker(painter, series.marker, series.tone, point)

    def _draw_line(
        self, painter: QPainter, points: Sequence[QPointF], tone: str, width: float, dashed: bool
    ) -> None:
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(theme.qcolour(tone), width, style))
        painter.drawPolyline(QPolygonF(list(points)))

    def _draw_chosen(self, painter: QPainter, area: QRectF) -> None:
        if self._chosen is None:
            return
        series = self._series[self._chosen[0]]
        at = self._place(area, series.x[self._chosen[1]], series.y[self._chosen[1]])
        if self._guides:
            for end in (QPointF(at.x(), area.bottom()), QPointF(area.left(), at.y())):
                self._draw_line(painter, (at, end), series.tone, 1.0, True)
        tone = "accent" if self.hasFocus() else series.tone
        painter.setPen(QPen(theme.qcolour("surface"), 2))
        painter.setBrush(theme.qcolour(tone))
        painter.drawEllipse(at, 6, 6)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _place(self, area: QRectF, x: float, y: float) -> QPointF:
        (left, right), (low, high) = self._ranges[0], self._ranges[1]
        across = (x - left) / (right - left)
        up = (y - low) / (high - low)
        return QPointF(area.left() + across * area.width(), area.bottom() - up * area.height())

    def _range_of(self, number: int) -> tuple[float, float]:
        axis = self._axes[number]
        values = [
            value
            for series in self._series
            for value in (series.x, (*series.y, *series.low, *series.high))[number]
            if math.isfinite(value)
        ]
        if number == 1 and self._level is not None:
            values.append(self._level)
        low = min(values, default=0.0) if axis.low is None else axis.low
        high = max(values, default=1.0) if axis.high is None else axis.high
        margin = 1.0 if axis.whole else 0.5
        return (low, high) if high > low else (low - margin, low + margin)

    def _points(self, area: QRectF, number: int) -> Pixels:
        """The points of a curve in pixels; thousands are placed once per size."""
        size = area.width(), area.height()
        if size not in {key[1:] for key in self._pixels}:
            self._pixels.clear()
        key = (number, *size)
        if key not in self._pixels:
            series, origin = self._series[number], QRectF(0, 0, *size)
            placed = [
                (self._place(origin, x, y), point)
                for point, (x, y) in enumerate(zip(series.x, series.y, strict=True))
                if math.isfinite(x) and math.isfinite(y)
            ]
            self._pixels[key] = thinned(placed)
        return self._pixels[key]

    # ---------------------------------------------------------------- mouse and keys

    def _at(self, place: QPointF) -> tuple[int, int] | None:
        area = self._area(QRectF(self.rect()))
        best, found = float(HIT_RADIUS), None
        place = place - area.topLeft()
        for number in range(len(self._series)):
            for at, point in self._points(area, number):
                away = at - place
                distance = math.hypot(away.x(), away.y())
                if distance < best:
                    best, found = distance, (number, point)
        return found

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (found := self._at(event.position())):
            self._chosen = found
            self.update()
            self.opened.emit(*found)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self._at(event.position())
        text = "" if found is None else self.describe(*found)
        escaping.show_tip(event.globalPosition().toPoint(), text, self)

    def describe(self, series: int, point: int) -> str:
        """The values of a point as text."""
        item = self._series[series]
        x, y = self._axes
        parts = [
            item.name,
            f"{x.name} {formats.significant(item.x[point], 3)}",
            f"{y.name} {formats.significant(item.y[point], 3)}",
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
            self.update()
            self.moved.emit(number, point)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._chosen is not None:
            self.opened.emit(number, point)
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return QSize(max(self.width(), 480), max(self.height(), 320))

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        """Paint the chart, with the names of its curves below it if there are several."""
        high = draw_names(painter, area, self._series) if len(self._series) > 1 else 0
        self.draw(painter, area.adjusted(0, 0, 0, -high))

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "curve", "x", "y", "note"
        for series in self._series:
            notes = series.notes or ("",) * len(series.x)
            for values in zip(series.x, series.y, notes, strict=True):
                yield series.name, *values


def ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Round values for a scale, at most seven; whole: whole numbers only."""
    room = high - low
    power = 10.0 ** math.floor(math.log10(room)) if room > 0 else 1.0
    step = next(
        found
        for scale in (1.0, 10.0)
        for step in STEPS
        if room / (found := step * power * scale) <= 6 and not (whole and found % 1)
    )
    first = math.ceil(low / step - 1e-9)
    return [step * number for number in range(first, math.floor(high / step + 1e-9) + 1)]


def scale_text(value: float) -> str:
    """Short enough for the room beside a scale: 0.25, 2e-4."""
    if value == 0 or abs(value) >= 1e-3:
        return formats.significant(value, 4)
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    return f"{formats.significant(value / 10**exponent, 2)}e{exponent}"


def thinned(placed: Sequence[tuple[QPointF, int]]) -> Pixels:
    """Leave out each point that lies within half a pixel of the one before it."""
    kept: list[tuple[QPointF, int]] = []
    last = (math.inf, math.inf)
    for at, point in placed:
        cell = round(2 * at.x()), round(2 * at.y())
        if cell != last:
            kept.append((at, point))
            last = cell
    return tuple(kept)
