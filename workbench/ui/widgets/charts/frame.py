"""The frame of a chart: two axes around an area with layers, drawn by pyqtgraph.

pyqtgraph is imported, and its scene is built, when the first chart with data is shown. The scene
has only what charts need: a `PlotWidget` with its menus takes ten times as long (15 ms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGraphicsItem, QGraphicsSimpleTextItem, QGraphicsView, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.charts.axes import MOST_TICKS, Axis, Range, Ticks
from workbench.ui.widgets.charts.layers import ChartLayer, pen_of, scaled_pen

LEFT, GAP, RIGHT = 44, 8, 10  # pixels at 100%: least room at the left of an axis with a name,
# beside its numbers, and at the right
TEXT, NAME, ABOVE = 20, 16, 10  # heights of the lower numbers, of a name, and above the area
APART = 10  # pixels between two texts below
TICK_WIDTH, TICK_HEIGHT = 56, 24  # least distances of ticks, pixels at 100%
UNIT: Range = (0.0, 1.0)


@dataclass(frozen=True)
class _Place:
    """Where the area is, and the ticks of both axes."""

    area: QRectF
    below: Ticks
    left: Ticks


class ChartFrame(QWidget):
    """`show_layers` replaces what is drawn; mouse and keys are those of the widget around it.

    baseline: a line below the area. clip: nothing is drawn beside the area.
    interactive: the wheel zooms and dragging moves, with equal units on both axes.

    `moved`: the area or its range has changed. `hovered(place)`: the mouse has moved, if
    interactive.
    """

    moved = Signal()
    hovered = Signal(QPointF)

    def __init__(
        self,
        x: Axis,
        y: Axis,
        parent: QWidget | None = None,
        *,
        baseline: bool = True,
        clip: bool = False,
        interactive: bool = False,
    ) -> None:
        super().__init__(parent)
        self._x, self._y, self._clip = x, y, clip or interactive
        self._baseline, self._interactive = baseline, interactive
        self._fits = True  # the range is that of the layers, not one that the user has chosen
        self._layers: tuple[ChartLayer, ...] = ()
        self._marks: tuple[ChartLayer, ...] = ()
        self._ranges: tuple[Range, Range] = (UNIT, UNIT)
        self._items: tuple[list[Any], list[Any]] = ([], [])  # of layers and marks
        self._placed: tuple[object, _Place] | None = None
        self._scene: _Scene | None = None
        self._ratio = 1.0  # pixels of the screen per unit of length
        self.above = self.below = 0  # more room above and below the area, pixels at 100%
        if not interactive:
            self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    # ---------------------------------------------------------------- contents

    def show_layers(self, layers: Sequence[ChartLayer], x: Range = UNIT, y: Range = UNIT) -> None:
        """Replace the layers and the ranges, which are places on the axes; removes the marks."""
        self._layers, self._marks, self._ranges = tuple(layers), (), (x, y)
        self._fits = True
        self._fill()

    def mark(self, layers: Sequence[ChartLayer]) -> None:
        """Replace the layers above the others, such as a chosen point."""
        self._marks = tuple(layers)
        if self._scene is not None:
            self._add(1, self._marks)

    def set_axes(self, x: Axis, y: Axis) -> None:
        """Takes effect with the next layers."""
        self._x, self._y = x, y

    @property
    def view(self) -> QWidget:
        """The view of pyqtgraph."""
        view: QWidget = self._built().view
        return view

    @property
    def range(self) -> tuple[Range, Range]:
        """The ranges of both axes, as the user has moved them."""
        return self._ranges

    # ---------------------------------------------------------------- places

    def area(self, size: QSizeF | None = None) -> QRectF:
        """The rectangle between the axes, for this size of the frame or its own."""
        return self._place(QSizeF(self.size()) if size is None else size).area

    def place(self, x: float, y: float) -> QPointF:
        """Where a point is on the frame."""
        left, across, bottom, down = self.mapping()
        return QPointF(left + x * across, bottom + y * down)

    def mapping(self) -> tuple[float, float, float, float]:
        """(left, across, bottom, down): (x, y) is at (left + x * across, bottom + y * down)."""
        area, ((left, right), (low, high)) = self.area(), self._ranges
        across, down = area.width() / (right - left), -area.height() / (high - low)
        return area.left() - left * across, across, area.bottom() - low * down, down

    def point(self, place: QPointF) -> tuple[float, float]:
        """The point at a place on the frame."""
        left, across, bottom, down = self.mapping()
        return (place.x() - left) / across, (place.y() - bottom) / down

    def _place(self, size: QSizeF) -> _Place:
        """Computed once for a size and range: the mouse asks for it at every move."""
        key = (size.toTuple(), self._ranges, self._x, self._y, self.above, self.below)
        if self._placed is None or self._placed[0] != key:
            self._placed = key, self._computed(size)
        return self._placed[1]

    def _computed(self, size: QSizeF) -> _Place:
        metrics = QFontMetricsF(theme.font("caption"))
        top = theme.px(ABOVE + self.above + (NAME + 4 if self._y.name else 0))
        bottom = theme.px(TEXT + self.below + (NAME if self._x.name else 0))
        high = max(1.0, size.height() - top - bottom)
        beside = self._y.ticks(*self._ranges[1], most=_most(high, TICK_HEIGHT))
        heights = [metrics.ascent()] * len(beside)
        beside = _apart(beside, self._ranges[1], high, heights, 0.0)
        left = max((metrics.horizontalAdvance(text) for _value, text in beside), default=0.0)
        left += theme.px(GAP) + 2
        left = max(left, theme.px(LEFT)) if self._y.name else left
        wide = max(1.0, size.width() - left - theme.px(RIGHT))
        below, beyond = self._ticks_below(wide, metrics)
        if beyond > theme.px(RIGHT):  # else the widget would cut the last text off
            wide = max(1.0, wide + theme.px(RIGHT) - beyond)
            below, _beyond = self._ticks_below(wide, metrics)
        return _Place(QRectF(left, top, wide, high), below, beside)

    def _ticks_below(self, wide: float, metrics: QFontMetricsF) -> tuple[Ticks, float]:
        """The ticks below an area, and how far their texts reach beyond its right edge, pixels."""
        low, high = self._ranges[0]
        below = self._x.ticks(low, high, most=_most(wide, TICK_WIDTH))
        widths = [metrics.horizontalAdvance(text) for _value, text in below]
        below = _apart(below, (low, high), wide, widths, APART)
        ends = (
            (value - high) / (high - low) * wide + metrics.horizontalAdvance(text) / 2
            for value, text in below
        )
        return below, max(ends, default=0.0)

    # ---------------------------------------------------------------- drawing

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Paint the chart into a rectangle of any device."""
        scene = self._built()
        self._ratio = painter.device().devicePixelRatioF()
        self._fill()
        ranges = None if self._interactive else self._ranges
        scene.arrange(self._place(area.size()), area.size(), ranges)
        scene.paint(painter, area)
        self._ratio = self.devicePixelRatioF()
        self._fill()

    def _built(self) -> _Scene:
        if self._scene is None:
            self._scene = _Scene(self, clip=self._clip, interactive=self._interactive)
            self._restyle()
            if self._interactive:
                self._scene.box.sigRangeChanged.connect(self._follow)
                self._scene.view.scene().sigMouseMoved.connect(lambda at: self.hovered.emit(at))
        return self._scene

    def _restyle(self) -> None:
        self._placed = None  # another font has other widths
        if self._scene is not None:
            self._ratio = self.devicePixelRatioF()
            self._scene.dress(baseline=self._baseline)
            self._fill()

    def _fill(self) -> None:
        """Show the layers, once there is a reason to build the scene."""
        if self._scene is None:
            if self._layers and self.isVisible():
                self._built()
            return
        self._scene.name(self._x.name, self._y.name)
        for number, layers in enumerate((self._layers, self._marks)):
            self._add(number, layers)
        self._arrange()

    def _add(self, number: int, layers: Sequence[ChartLayer]) -> None:
        scene = self._built()
        scene.remove(self._items[number])
        self._items[number][:] = scene.add(layers, self._ratio)

    def _arrange(self) -> None:
        if self._scene is not None:
            size = QSizeF(self.size())
            self._scene.view.setGeometry(self.rect())
            ranges = self._ranges if self._fits or not self._interactive else None
            self._scene.arrange(self._place(size), size, ranges)
            self._fits = False
            if self._interactive:
                self._follow()  # equal units on both axes change a range
            self.moved.emit()

    def _follow(self, *_of_box: object) -> None:
        """The user has zoomed or moved."""
        if self._scene is None:
            return
        (left, right), (low, high) = self._scene.box.viewRange()
        self._ranges = (left, right), (low, high)
        self._scene.set_ticks(self._place(QSizeF(self.size())), self._ranges[0])
        self.moved.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Painted before the view in it; widths of lines are in pixels of the screen."""
        if self._scene is not None and self._ratio != self.devicePixelRatioF():
            QTimer.singleShot(0, self, self._restyle)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._layers:
            self._built()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


class _Scene:
    """The objects of pyqtgraph, which has no types."""

    def __init__(self, parent: QWidget, *, clip: bool, interactive: bool) -> None:
        import pyqtgraph

        self._pg = pyqtgraph
        self.view: Any = pyqtgraph.GraphicsView(parent, background=None)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.viewport().setAutoFillBackground(False)  # what is below shows through
        self.view.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)
        self.view.setMinimumSize(0, 0)
        self.box: Any = pyqtgraph.ViewBox(enableMenu=False)
        self.box.setMouseEnabled(interactive, interactive)
        self.box.setAspectLocked(interactive)
        self.box.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape, clip)
        self.left: Any = pyqtgraph.AxisItem("left")
        self.bottom: Any = pyqtgraph.AxisItem("bottom")
        self.view.addItem(self.box)
        for axis in (self.left, self.bottom):
            axis.enableAutoSIPrefix(False)
            axis.linkToView(self.box)
            self.view.addItem(axis)
        # the grid of AxisItem hides the numbers at both ends of the axis
        self._grid: Any = pyqtgraph.PlotCurveItem(connect="pairs")
        self._grid.setZValue(-1000)
        self.box.addItem(self._grid, ignoreBounds=True)
        self._names = QGraphicsSimpleTextItem(), QGraphicsSimpleTextItem()  # of x and y
        for name in self._names:
            self.view.scene().addItem(name)
        self.view.show()

    def dress(self, *, baseline: bool) -> None:
        """Colours and fonts of the theme."""
        none, text = QPen(Qt.PenStyle.NoPen), pen_of("muted", 1)
        for axis in (self.left, self.bottom):
            axis.setStyle(
                tickFont=theme.font("caption"),
                tickLength=0,
                tickAlpha=0,
                hideOverlappingLabels=False,
                autoExpandTextSpace=False,
                tickTextOffset=5,
            )
            axis.setTextPen(text)
        self.left.setPen(none)
        self.bottom.setPen(pen_of("strong_line", 1) if baseline else none)
        self._grid.setPen(scaled_pen("line", self.view.devicePixelRatioF()))
        for name in self._names:
            name.setFont(theme.font("caption"))
            name.setBrush(theme.qcolour("muted"))

    def name(self, *names: str) -> None:
        for item, name in zip(self._names, names, strict=True):
            item.setText(name)

    def add(self, layers: Sequence[ChartLayer], ratio: float) -> list[Any]:
        items = [item for layer in layers for item in layer.items(self._pg, ratio)]
        for item in items:
            self.box.addItem(item, ignoreBounds=True)
        return items

    def remove(self, items: Sequence[Any]) -> None:
        for item in items:
            self.box.removeItem(item)

    def arrange(self, place: _Place, size: QSizeF, ranges: tuple[Range, Range] | None) -> None:
        """Place the parts for a size of the view. ranges: None for those there are."""
        area = place.area
        self.box.setGeometry(area)
        self.left.setWidth(area.left())
        self.left.setGeometry(QRectF(0, area.top(), area.left(), area.height()))
        high = size.height() - area.bottom()
        self.bottom.setHeight(high)
        self.bottom.setGeometry(QRectF(area.left(), area.bottom(), area.width(), high))
        if ranges is not None:
            self.box.setRange(xRange=ranges[0], yRange=ranges[1], padding=0)
            self.set_ticks(place, ranges[0])
        below, left = self._names
        middle = area.center().x() - below.boundingRect().width() / 2
        below.setPos(middle, area.bottom() + theme.px(TEXT) - 1)
        left.setPos(2, 1)

    def set_ticks(self, place: _Place, x: Range) -> None:
        levels = [value for value, _text in place.left for _end in x]
        self._grid.setData([*x] * len(place.left), levels)
        self.left.setTicks([place.left])
        self.bottom.setTicks([place.below])

    def paint(self, painter: QPainter, area: QRectF) -> None:
        scene = self.view.scene()
        scene.prepareForPaint()
        source = QRectF(0, 0, area.width(), area.height())
        scene.render(painter, area, source, Qt.AspectRatioMode.IgnoreAspectRatio)


def _most(pixels: float, least: int) -> int:
    """Distances of ticks that there is room for."""
    return min(MOST_TICKS, max(1, int(pixels / theme.px(least))))


def _apart(ticks: Ticks, bounds: Range, pixels: float, sizes: Sequence[float], gap: float) -> Ticks:
    """The ticks whose texts, of these sizes, do not touch the one before; gap: pixels between."""
    low, span, last = bounds[0], bounds[1] - bounds[0], float("-inf")
    apart: Ticks = []
    for (value, text), size in zip(ticks, sizes, strict=True):
        middle = (value - low) / span * pixels
        if middle - size / 2 >= last + gap:
            apart.append((value, text))
            last = middle + size / 2
    return apart
