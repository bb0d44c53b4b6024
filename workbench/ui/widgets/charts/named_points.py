"""Points with their names beside them, without overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QTimer
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.charts.axes import Axis, Range
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import ChartLayer, ChartText, Points
from workbench.ui.widgets.charts.legend import CIRCLE

GAP = 2  # pixels between the edge of a point and its name
NAMES_MS = 60  # after a change of the range
MOST_NAMES = 250


@dataclass(frozen=True)
class NamedPoint:
    """key: of the caller. The point looks as a marker of `Points`; tone and weight: of the name.

    always: named even where the name covers others.
    """

    key: str
    name: str
    x: float
    y: float
    marker: Points
    tone: str = "text"
    weight: int = 400
    always: bool = False


def marker(
    tone: str,
    size: float,
    *,
    shape: str = CIRCLE,
    filled: bool = True,
    edge: str = "",
    width: float = 1.0,
) -> Points:
    """The look of a point."""
    return Points((), (), tone, shape, size, edge or tone, width, filled)


class NamedPoints(ChartFrame):
    """Points that come first are named first, and drawn above the others.

    over_points: names may cover points without a name, of which there are many.
    """

    def __init__(
        self,
        x: Axis,
        y: Axis,
        parent: QWidget | None = None,
        *,
        interactive: bool = False,
        over_points: bool = False,
    ) -> None:
        super().__init__(x, y, parent, clip=interactive, interactive=interactive)
        self._over_points = over_points
        self._points: tuple[NamedPoint, ...] = ()
        self.names: tuple[str, ...] = ()  # those that are shown
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(NAMES_MS)
        self._clock.timeout.connect(self.place_names)
        self.moved.connect(self._clock.start)

    def show_points(self, points: Sequence[NamedPoint], x: Range, y: Range) -> None:
        self._points = tuple(points)
        looks: dict[Points, list[NamedPoint]] = {}
        for point in reversed(self._points):
            looks.setdefault(point.marker, []).append(point)
        self.show_layers([*_layers(looks)], x, y)
        self._clock.start()

    def at(self, place: QPointF) -> list[NamedPoint]:
        """The points at a place of the frame, the first of `show_points` first."""
        left, across, bottom, down = self.mapping()
        points = []
        for point in self._points:
            dx = left + point.x * across - place.x()
            dy = bottom + point.y * down - place.y()
            if dx * dx + dy * dy <= (point.marker.size / 2 + 2) ** 2:
                points.append(point)
        return points

    def place_names(self) -> None:
        """Name as many points as fit without overlap."""
        area = self.area()
        places = [self.place(point.x, point.y) for point in self._points]
        inside = [pair for pair in zip(self._points, places, strict=True) if area.contains(pair[1])]
        taken = [] if self._over_points else [_around(at) for _point, at in inside]
        texts: list[ChartText] = []
        for point, at in inside:
            if len(texts) >= MOST_NAMES:
                break
            metrics = QFontMetricsF(theme.font("caption", point.weight))
            wide, high = metrics.horizontalAdvance(point.name) + 2, metrics.height()
            gap = point.marker.size / 2 + GAP
            for right in (True, False):
                left = at.x() + gap if right else at.x() - gap - wide
                spot = QRectF(left, at.y() - high / 2, wide, high)
                free = not any(spot.intersects(other) for other in taken)
                if area.contains(spot) and (free or (point.always and not right)):
                    x, y = self.point(QPointF(spot.left() if right else spot.right(), at.y()))
                    anchor = (0.0 if right else 1.0, 0.5)
                    texts.append(ChartText(x, y, point.name, point.tone, point.weight, anchor))
                    taken += [spot, _around(at)] if self._over_points else [spot]
                    break
        self.names = tuple(text.text for text in texts)
        self.mark(texts)


def _around(place: QPointF) -> QRectF:
    return QRectF(place.x() - 4, place.y() - 4, 8, 8)


def _layers(looks: dict[Points, list[NamedPoint]]) -> Iterator[ChartLayer]:
    for look, points in looks.items():
        x, y = [point.x for point in points], [point.y for point in points]
        yield replace(look, x=x, y=y)
