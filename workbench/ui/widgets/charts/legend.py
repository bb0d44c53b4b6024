"""Legends of charts, and the markers that tell curves apart beside colours and dashes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, row

NO_MARK = ""
CIRCLE, SQUARE, TRIANGLE, DIAMOND, CROSS = "circle", "square", "triangle", "diamond", "cross"
MARKERS = (CIRCLE, SQUARE, TRIANGLE, DIAMOND, CROSS)
TONES = ("accent", "warn", "good", "bad", "muted")  # of curves beside each other
RADIUS = 3.5  # pixels
SAMPLE, HIGH = 26, 14  # width and height of a piece of a curve in a legend, pixels at 100%
CORNERS = {  # degrees at which the corners of a shape lie, counted from the right, downwards
    TRIANGLE: (-90, 30, 150),
    DIAMOND: (-90, 0, 90, 180),
}


class LegendEntry(Protocol):
    """What a legend says of a curve."""

    @property
    def name(self) -> str: ...
    @property
    def tone(self) -> str: ...
    @property
    def width(self) -> float: ...
    @property
    def dashed(self) -> bool | Qt.PenStyle: ...
    @property
    def marker(self) -> str: ...


def pen_style(dashed: bool | Qt.PenStyle) -> Qt.PenStyle:
    """Of a curve: solid, with dashes, or a style of its own."""
    if isinstance(dashed, Qt.PenStyle):
        return dashed
    return Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine


def distinct(number: int) -> tuple[str, str]:
    """(tone, marker) of curve `number`; the first 25 all differ, the first 5 in both."""
    turn = number // len(TONES)
    return TONES[number % len(TONES)], MARKERS[(number + turn) % len(MARKERS)]


def draw_marker(painter: QPainter, marker: str, tone: str, at: QPointF) -> None:
    """Paint a marker, with a thin edge that separates it from the curves below it."""
    colour = theme.qcolour(tone)
    if marker == CROSS:
        _draw_cross(painter, tone, at)
        return
    painter.setPen(QPen(theme.qcolour("surface"), 1))
    painter.setBrush(colour)
    box = QRectF(at.x() - RADIUS, at.y() - RADIUS, 2 * RADIUS, 2 * RADIUS)
    if marker == CIRCLE:
        painter.drawEllipse(box)
    elif marker == SQUARE:
        painter.drawRect(box)
    else:
        painter.drawPolygon(_polygon(CORNERS[marker], at))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _polygon(degrees: tuple[int, ...], at: QPointF) -> QPolygonF:
    reach = 1.5 * RADIUS  # about as much ink as the square
    turns = [math.radians(value) for value in degrees]
    return QPolygonF([at + QPointF(math.cos(turn), math.sin(turn)) * reach for turn in turns])


def _draw_cross(painter: QPainter, tone: str, at: QPointF) -> None:
    arm = QPointF(RADIUS, RADIUS), QPointF(RADIUS, -RADIUS)
    for name, width in (("surface", 4.0), (tone, 2.0)):
        painter.setPen(QPen(theme.qcolour(name), width))
        painter.drawLines([QLineF(at - end, at + end) for end in arm])


def draw_sample(painter: QPainter, box: QRectF, curve: LegendEntry) -> None:
    """Paint a piece of a curve with its marker across a box, for a legend."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.qcolour(curve.tone), curve.width, pen_style(curve.dashed)))
    middle = box.center()
    painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
    if curve.marker:
        draw_marker(painter, curve.marker, curve.tone, middle)


def draw_names(painter: QPainter, whole: QRectF, curves: Sequence[LegendEntry]) -> float:
    """Paint a legend at the lower end of a rectangle; long names are cut.

    Returns its height in pixels.
    """
    painter.setFont(theme.font("caption"))
    metrics = painter.fontMetrics()
    sample, gap, high = theme.px(SAMPLE), theme.px(8), metrics.height() + theme.px(4)
    room = int(whole.width()) - sample - 4 * gap
    x, row, placed = float(2 * gap), 0, []
    for curve in curves:
        name = metrics.elidedText(curve.name, Qt.TextElideMode.ElideMiddle, room)
        wide = sample + gap + metrics.horizontalAdvance(name)
        if x > 2 * gap and x + wide > whole.width():
            x, row = float(2 * gap), row + 1
        placed.append((curve, name, x, row))
        x += wide + 2 * gap
    top = whole.bottom() - (row + 1) * high
    for curve, name, left, number in placed:
        box = QRectF(whole.left() + left, top + number * high, sample, high)
        draw_sample(painter, box, curve)
        painter.setPen(theme.qcolour("muted"))
        box = QRectF(box.right() + gap, box.top(), room + gap, high)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
    return (row + 1) * high


def names_height(width: float, curves: Sequence[LegendEntry]) -> float:
    """The height in pixels that `draw_names` needs in a rectangle of this width."""
    nowhere = QImage(1, 1, QImage.Format.Format_RGB32)
    painter = QPainter(nowhere)
    high = draw_names(painter, QRectF(0, 0, width, 0), curves)
    painter.end()
    return high


class ChartLegend(QFrame):
    """`set` replaces all names; they wrap where there is little room."""

    def __init__(self) -> None:
        super().__init__()
        self._line = QVBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)

    def set(self, series: Sequence[LegendEntry]) -> None:
        clear(self._line)
        pairs = [
            row(LegendSample(item), words(item.name, "caption", "muted"), gap=5) for item in series
        ]
        self._line.addWidget(flow(*pairs, gap=14))


class LegendSample(QWidget):
    """A piece of a curve with its marker."""

    def __init__(self, series: LegendEntry):
        super().__init__()
        self._series = series
        self.setFixedSize(QSize(theme.px(SAMPLE), theme.px(HIGH)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_sample(QPainter(self), QRectF(self.rect()), self._series)
