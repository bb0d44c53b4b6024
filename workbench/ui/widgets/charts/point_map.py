"""Points in a plane: zoom with the wheel, lasso by dragging, the nearest point under the mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts import point_stamps
from workbench.ui.widgets.focus_ring import FocusRing

MARGIN = 0.05  # of the size, around all points
HIT_RADIUS = 12  # pixels from a point at which the mouse meets it
STEP = 5  # pixels between two corners of a lasso
RECEDE = 0.78  # how far points that are not selected go towards the ground
SIZES = ((3_000, 4.0), (20_000, 3.0), (50_000, 1.9), (1 << 62, 1.3))  # up to n points: radius
ZOOM = 1.25
KEYS = {
    Qt.Key.Key_Left: (0.1, 0.0),
    Qt.Key.Key_Right: (-0.1, 0.0),
    Qt.Key.Key_Up: (0.0, 0.1),
    Qt.Key.Key_Down: (0.0, -0.1),
}


@dataclass(frozen=True)
class PointGroup:
    """Points of one colour, #RRGGBB or a name of the theme, and one of `point_stamps.SHAPES`."""

    name: str
    colour: str
    shape: str = "circle"


class PointMap(QWidget):
    """`selected(numbers)`: the lasso has selected points, an int array. `opened(number)`: a point
    was double-clicked. `describe(number)` gives the text of the point under the mouse.

    Keys: arrows move, + and - zoom, 0 shows all, Ctrl+A selects all, Esc selects none.
    """

    selected = Signal(object)
    opened = Signal(int)

    def __init__(self, name: str, describe: Callable[[int], str]):
        super().__init__()
        self._text_of = describe
        self.points: np.ndarray = np.zeros((0, 2), np.float32)
        self.chosen: np.ndarray = np.zeros(0, bool)
        self._codes: np.ndarray = np.zeros(0, np.int16)
        self._groups: tuple[PointGroup, ...] = ()
        self._here: tuple[float, float] | None = None
        self._here_name = ""
        self._scale, self._centre = 1.0, (0.0, 0.0)
        self._image: QImage | None = None
        self._pixels: np.ndarray | None = None  # places of the points on the widget
        self._lasso: list[QPointF] = []
        self._dragged: QPointF | None = None
        self._hovered = -1
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setMinimumSize(theme.px(200), theme.px(160))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        drop = theme.changed.connect(self._redraw)
        self.destroyed.connect(lambda *_: drop())

    def sizeHint(self) -> QSize:
        return QSize(theme.px(420), theme.px(320))

    # ---------------------------------------------------------------- data

    def set_points(
        self, points: Any, here: tuple[float, float] | None = None, here_name: str = ""
    ) -> None:
        """Replace the points, float (N, 2). here: a place that is marked and named."""
        self.points = np.asarray(points, np.float32).reshape(-1, 2)
        self.chosen = np.zeros(len(self.points), bool)
        self._codes = np.zeros(len(self.points), np.int16)
        self._groups = (PointGroup("", "accent"),)
        self._here, self._here_name, self._hovered = here, here_name, -1
        self.show_all()

    def set_groups(self, groups: Sequence[PointGroup], codes: Sequence[int]) -> None:
        """Colour the points: codes is the number of the group of each."""
        self._groups, self._codes = tuple(groups), np.asarray(codes, np.int16)
        self._redraw()

    def choose(self, numbers: Any) -> None:
        """Select points; emits nothing."""
        chosen = np.zeros(len(self.points), bool)
        chosen[np.asarray(numbers, np.int64)] = True
        if not np.array_equal(chosen, self.chosen):
            self.chosen = chosen
            self._redraw()

    def show_all(self) -> None:
        """Fit the range to the points."""
        if len(self.points):
            low, high = self.points.min(0), self.points.max(0)
            size = np.maximum(high - low, 1e-6)
            middle = (low + high) / 2
            self._centre = (float(middle[0]), float(middle[1]))
            room = (self.width() * (1 - 2 * MARGIN), self.height() * (1 - 2 * MARGIN))
            self._scale = max(1e-9, min(float(room[0] / size[0]), float(room[1] / size[1])))
        self._moved()

    # ---------------------------------------------------------------- places

    def _moved(self) -> None:
        self._pixels = None
        self._redraw()

    def _redraw(self) -> None:
        self._image = None
        self.update()

    @property
    def pixels(self) -> np.ndarray:
        """Places of the points on the widget, float32 (N, 2)."""
        if self._pixels is None:
            middle = np.array((self.width() / 2, self.height() / 2), np.float32)
            flip = np.array((self._scale, -self._scale), np.float32)
            self._pixels = (self.points - np.array(self._centre, np.float32)) * flip + middle
        return self._pixels

    def number_at(self, place: QPointF) -> int:
        """The nearest point within NEAR pixels, -1 if there is none."""
        if not len(self.points):
            return -1
        x = self.pixels[:, 0] - np.float32(place.x())
        y = self.pixels[:, 1] - np.float32(place.y())
        far = x * x + y * y
        number = int(far.argmin())
        return number if far[number] <= HIT_RADIUS * HIT_RADIUS else -1

    def numbers_in(self, corners: Sequence[QPointF]) -> np.ndarray:
        """int (M,): the points inside a polygon, by a mask of it."""
        mask = QImage(self.size(), QImage.Format.Format_Grayscale8)
        mask.fill(0)
        painter = QPainter(mask)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(Qt.GlobalColor.white)
        painter.drawPolygon(QPolygonF(list(corners)))
        painter.end()
        inside = np.frombuffer(mask.constBits(), np.uint8).reshape(mask.height(), -1)
        places = np.floor(self.pixels).astype(np.int64)
        x, y = places[:, 0], places[:, 1]
        visible = np.flatnonzero((x >= 0) & (x < self.width()) & (y >= 0) & (y < self.height()))
        numbers: np.ndarray = visible[inside[y[visible], x[visible]] > 0]
        return numbers

    # ---------------------------------------------------------------- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._image is None:
            self._image = self._painted()
        painter.drawImage(0, 0, self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._here is not None:
            self._paint_here(painter)
        if self._hovered >= 0:
            painter.setPen(QPen(theme.qcolour("text"), 1.5))
            place = QPointF(*map(float, self.pixels[self._hovered]))
            painter.drawEllipse(place, self.radius + 3, self.radius + 3)
        if len(self._lasso) > 1:
            painter.setPen(QPen(theme.qcolour("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(theme.qcolour("accent", 0.08))
            painter.drawPolygon(QPolygonF(self._lasso))

    @property
    def radius(self) -> float:
        """Radius of a point in pixels; smaller if there are many points."""
        base = next(size for most, size in SIZES if len(self.points) <= most)
        return base * theme.percent() / 100

    def _painted(self) -> QImage:
        """All points; those that are not selected recede while others are."""
        ratio = self.devicePixelRatioF()
        width, height = round(self.width() * ratio), round(self.height() * ratio)
        buffer = np.full((height, width), theme.packed("surface"), np.uint32)
        places = (self.pixels * np.float32(ratio)).astype(np.int32)
        colours = [theme.channels(group.colour) for group in self._groups]
        shapes = [group.shape for group in self._groups]
        radius = self.radius * ratio
        chosen = self.chosen
        if chosen.any():
            faint = [_mixed(colour, theme.channels("surface")) for colour in colours]
            rest = ~chosen
            point_stamps.paint(buffer, places[rest], self._codes[rest], faint, shapes, radius)
            point_stamps.paint(buffer, places[chosen], self._codes[chosen], colours, shapes, radius)
        else:
            point_stamps.paint(buffer, places, self._codes, colours, shapes, radius)
        image = QImage(buffer.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
        image.setDevicePixelRatio(ratio)
        return image

    def _paint_here(self, painter: QPainter) -> None:
        assert self._here is not None
        x = (self._here[0] - self._centre[0]) * self._scale + self.width() / 2
        y = (self._centre[1] - self._here[1]) * self._scale + self.height() / 2
        painter.setPen(QPen(theme.qcolour("text"), 2))
        painter.drawEllipse(QPointF(x, y), 8, 8)
        painter.drawLine(QPointF(x, y - 8), QPointF(x, y - 24))
        painter.setFont(theme.font("small", 600))
        wide = QFontMetricsF(painter.font()).horizontalAdvance(self._here_name) + 8
        area = QRectF(x - wide / 2, y - 44, wide, 20)
        inside = QRectF(self.rect()).adjusted(4, 4, -4, -4)
        area.moveLeft(min(max(area.left(), inside.left()), inside.right() - area.width()))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._here_name)

    # ---------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus()
        if event.button() == Qt.MouseButton.LeftButton:
            self._lasso = [event.position()]
        else:
            self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._dragged is not None:
            move = place - self._dragged
            self._dragged = place
            self.pan(move.x(), move.y())
        elif self._lasso:
            if (place - self._lasso[-1]).manhattanLength() >= STEP:
                self._lasso.append(place)
                self.update()
        else:
            self._hover(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None:
            self._dragged = None
            return
        lasso, self._lasso = self._lasso, []
        if not lasso:
            return
        if len(lasso) > 2:
            numbers = self.numbers_in(lasso)
        else:  # a click
            number = self.number_at(event.position())
            numbers = np.array([number] if number >= 0 else [], np.int64)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            numbers = np.union1d(numbers, np.flatnonzero(self.chosen))
        self._take(numbers)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        number = self.number_at(event.position())
        self._lasso = []
        if number >= 0:
            self.opened.emit(number)

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        self.zoom(ZOOM**steps, event.position())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.update()
        super().leaveEvent(event)

    def _hover(self, place: QPointF) -> None:
        number = self.number_at(place)
        if number != self._hovered:
            self._hovered = number
            escaping.set_tip(self, self._text_of(number) if number >= 0 else "")
            self.update()

    def _take(self, numbers: np.ndarray) -> None:
        self.choose(numbers)
        self.update()
        self.selected.emit(np.flatnonzero(self.chosen))

    # ---------------------------------------------------------------- moving

    def pan(self, x: float, y: float) -> None:
        """Move the points by pixels."""
        left, top = self._centre
        self._centre = (left - x / self._scale, top + y / self._scale)
        self._moved()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Scale around a place on the widget, its middle by default."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        x, y = at.x() - self.width() / 2, self.height() / 2 - at.y()
        change = (1 - 1 / factor) / self._scale
        self._centre = (self._centre[0] + x * change, self._centre[1] + y * change)
        self._scale *= factor
        self._moved()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in KEYS:
            x, y = KEYS[key]
            self.pan(x * self.width(), y * self.height())
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM)
        elif key == Qt.Key.Key_0:
            self.show_all()
        elif key == Qt.Key.Key_Escape and self.chosen.any():
            self._take(np.zeros(0, np.int64))
        elif key == Qt.Key.Key_A and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._take(np.arange(len(self.points)))
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_all()


@lru_cache(maxsize=256)
def _mixed(colour: tuple[int, int, int], ground: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = (round(ground[at] * RECEDE + colour[at] * (1 - RECEDE)) for at in range(3))
    return red, green, blue
