"""Layers of a chart: lines, points, bars and texts, as items of pyqtgraph.

Colours are names of the theme; items are made again when it changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPen

from workbench.ui.style import theme
from workbench.ui.widgets.charts.legend import (
    CIRCLE,
    CROSS,
    DIAMOND,
    RADIUS,
    SQUARE,
    TRIANGLE,
    pen_style,
)

MOST_JOINED = 300  # maximum number of points drawn as one smooth path
MOST_POINTS = 1000  # maximum number of points drawn per curve: more than a chart has pixels
BAND_ALPHA = 0.16  # of the colour of a band
MOST_SHAPES = 200  # points of a layer up to which each is a shape in a saved picture
_SYMBOLS = {CIRCLE: "o", SQUARE: "s", TRIANGLE: "t1", DIAMOND: "d", CROSS: "x"}
_GROWN = {TRIANGLE: 1.3, DIAMOND: 1.5, CROSS: 1.6}  # for about as much ink as the square


class ChartLayer(Protocol):
    """items: what is added to the scene; `pg` is pyqtgraph, which has no types.

    ratio: pixels of the device per unit of length.
    """

    def items(self, pg: Any, ratio: float) -> list[Any]: ...


@dataclass(frozen=True)
class ChartLine:
    """Points that are connected; pairs: each two of them, as for whiskers. width: pixels. alpha: of
    the colour, in (0, 1]. dashed: with dashes, or as this style.
    """

    x: Sequence[float]
    y: Sequence[float]
    tone: str = "accent"
    width: float = 2.0
    dashed: bool | Qt.PenStyle = False
    pairs: bool = False
    alpha: float = 1.0

    def items(self, pg: Any, ratio: float) -> list[Any]:
        x, y = _finite(self.x, self.y)
        if not self.pairs:
            x, y = decimated(x, y)
        pen = scaled_pen(self.tone, self.width * ratio, self.dashed, self.alpha)
        connect = "pairs" if self.pairs else "all"
        item = pg.PlotCurveItem(x, y, pen=pen, antialias=True, connect=connect)
        # as one path, 2,000 points take half a second to paint; as lines 0.03 s, with dots at the
        # joints
        joined = self.dashed or self.pairs or len(x) <= MOST_JOINED
        item.setSegmentedLineMode("off" if joined else "on")
        return [item]


@dataclass(frozen=True)
class ChartBand:
    """The area between two lines over the same x. alpha: of the colour, in (0, 1]."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    tone: str = "accent"
    alpha: float = BAND_ALPHA

    def items(self, pg: Any, _ratio: float) -> list[Any]:
        edges = [pg.PlotCurveItem([*self.x], [*side], pen=None) for side in (self.low, self.high)]
        return [pg.FillBetweenItem(*edges, brush=theme.qcolour(self.tone, self.alpha))]


@dataclass(frozen=True)
class Points:
    """A marker for each point. size: pixels. edge: its outline; filled: not only the outline."""

    x: Sequence[float]
    y: Sequence[float]
    tone: str = "accent"
    marker: str = CIRCLE
    size: float = 2 * RADIUS
    edge: str = "surface"
    edge_width: float = 1.0
    filled: bool = True

    def items(self, pg: Any, ratio: float) -> list[Any]:
        x, y = _finite(self.x, self.y)
        item = pg.ScatterPlotItem(
            x=x,
            y=y,
            size=self.size * _GROWN.get(self.marker, 1.0),
            symbol=_SYMBOLS[self.marker],
            pen=scaled_pen(self.edge, self.edge_width * ratio),
            brush=theme.qcolour(self.tone if self.filled else "surface"),
            antialias=True,
            useCache=len(x) > MOST_SHAPES,
        )
        return [item]


@dataclass(frozen=True)
class Bars:
    """Bars from `bottom` up: x is the left edge of each. alpha: of the colour, in (0, 1]."""

    x: Sequence[float]
    width: float
    height: Sequence[float]
    tone: str = "accent"
    bottom: float = 0.0
    alpha: float = 1.0

    def items(self, pg: Any, _ratio: float) -> list[Any]:
        brush, pen = theme.qcolour(self.tone, self.alpha), QPen(Qt.PenStyle.NoPen)
        edges = {"x0": list(self.x), "width": self.width, "y0": self.bottom}
        return [pg.BarGraphItem(**edges, height=list(self.height), brush=brush, pen=pen)]


@dataclass(frozen=True)
class ChartText:
    """A text at a point. anchor: the part of the text that is there, as fractions of its size."""

    x: float
    y: float
    text: str
    tone: str = "text"
    weight: int = 400
    anchor: tuple[float, float] = (0.5, 0.5)

    def items(self, pg: Any, _ratio: float) -> list[Any]:
        item = pg.TextItem(self.text, color=theme.colour(self.tone), anchor=self.anchor)
        item.setFont(theme.font("caption", self.weight))
        item.textItem.document().setDocumentMargin(0)
        item.updateTextPos()
        item.setPos(QPointF(self.x, self.y))
        return [item]


def pen_of(tone: str, width: float, dashed: bool | Qt.PenStyle = False, alpha: float = 1.0) -> QPen:
    """A pen in a colour of the theme."""
    return QPen(theme.qcolour(tone, alpha), width, pen_style(dashed))


def scaled_pen(
    tone: str, width: float, dashed: bool | Qt.PenStyle = False, alpha: float = 1.0
) -> QPen:
    """A pen as wide in pixels of the device at every scale."""
    pen = pen_of(tone, width, dashed, alpha)
    pen.setCosmetic(True)
    return pen


def _finite(x: Sequence[float], y: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    pairs = zip(x, y, strict=True)
    points = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return [a for a, _b in points], [b for _a, b in points]


def decimated(
    x: Sequence[float], y: Sequence[float], most: int = MOST_POINTS
) -> tuple[Sequence[float], Sequence[float]]:
    """Reduce a curve to at most `most` points (plus both ends) that look the same.

    Each of `most / 2` intervals of equal length contributes its minimum and maximum, in order.
    """
    count, stretches = len(x), most // 2
    if count <= most:
        return x, y
    numbers = {0, count - 1}
    for number in range(stretches):
        stretch = range(number * count // stretches, (number + 1) * count // stretches)
        numbers |= {min(stretch, key=y.__getitem__), max(stretch, key=y.__getitem__)}
    places = sorted(numbers)
    return [x[at] for at in places], [y[at] for at in places]
