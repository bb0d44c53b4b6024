"""A plot that grows during a run: legend in the header, best point marked, values on hover.

pyqtgraph is imported when the first plot is created. It is drawn at most twice per second. A curve
keeps all its points; beyond MOST_POINTS, the minimum and maximum of each interval are drawn.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.legend import draw_names, names_height
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.layout import TurningRow, clear, row
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from workbench.ui.widgets.charts.chart import Series

REDRAW_MS = 500
FEW_TICKS = 5
MOST_JOINED = 300  # maximum number of points drawn as one smooth path
MOST_POINTS = 1000  # maximum number of points drawn per curve: more than the plot has pixels
Spacing = Callable[[float, float, float], list[tuple[float, float]]]  # of ticks, see AxisItem
Ticks = tuple[float | None, list[float]]  # spacing and values of a level, see AxisItem
TONES = ("accent", "warn", "good", "bad", "muted")  # default colours of curves


@dataclass
class Curve:
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
    ):
        """`empty`: shown until there is a point: what will appear, and when.

        `percent`: values are fractions of 1 and the axis shows them times 100.

        `logarithmic`: of the y-axis; values must be positive.
        """
        super().__init__()
        import pyqtgraph

        self._pg, self._title, self._x_name, self._percent = pyqtgraph, title, x_name, percent
        self._logarithmic, self._empty = logarithmic, words(empty, "caption", "muted", wrap=True)
        self.curves: dict[str, Curve] = {}
        self._best: tuple[float, float] | None = None
        self._items: dict[str, Any] = {}  # PlotDataItem; pyqtgraph has no types
        self.setProperty("part", "card")
        self._build()
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(REDRAW_MS)
        self._clock.timeout.connect(self.draw)

    def _build(self) -> None:
        self._legend = FlowLayout(gap=theme.px(9))
        self._legend.add_spring()
        self._value = Elided("", "caption", "muted", whole=True)
        more = save_menu(self._title, _("Save {title}").format(title=self._title), self)
        head = TurningRow(
            (row(words(self._title, weight=600), (self._value, 1)), 1),
            row(self._legend, more),
            gap=8,
        )
        self.view = self._pg.PlotWidget()
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMenuEnabled(False)
        menu = (
            self.view.getPlotItem().ctrlMenu
        )  # created without a parent, so it would outlive the plot
        menu.setParent(self.view, menu.windowFlags())
        self.view.hideButtons()
        self.view.setMouseEnabled(x=False, y=False)
        self.view.setAccessibleName(self._title)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMinimumHeight(120)
        policy = QSizePolicy.Policy
        self.view.setSizePolicy(policy.Expanding, policy.Ignored)  # its size hint is that of a page
        self._empty.setMinimumHeight(120)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        steps = self.view.getAxis("bottom")
        steps.tickSpacing = _of_whole_numbers(steps.tickSpacing)
        if self._logarithmic:
            self.view.setLogMode(False, True)
            axis = self.view.getAxis("left")
            axis.logTickValues = _with_narrow(axis.logTickValues)
            axis.logTickStrings = _powers
        self.view.scene().sigMouseMoved.connect(self._hover)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 8, 8)
        layout.setSpacing(4)
        layout.addWidget(head)
        layout.addWidget(self.view, 1)
        layout.addWidget(self._empty, 1)
        self._dress()
        self._fit()

    # ---------------------------------------------------------------- public methods

    def set_curves(
        self,
        curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
        tones: Mapping[str, str] | None = None,
        widths: Mapping[str, float] | None = None,
    ) -> None:
        """Replace all curves: name → (x, y).

        Use width 1 for noisy curves, as others are slow to draw.
        """
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
        self._items.clear()
        self._best = None
        self.view.clear()
        clear(self._legend)
        self._legend.add_spring()
        self._value.setText("")

    def draw(self) -> None:
        """Draw now; called by the timer."""
        for name, curve in self.curves.items():
            pen = self._pg.mkPen(theme.colour(curve.tone), width=curve.width)
            if name not in self._items:
                self._items[name] = self.view.plot(pen=pen, antialias=True)
                self._add_legend(name, curve)
            dots = (
                {
                    "symbol": "o",
                    "symbolSize": 6,
                    "symbolBrush": theme.colour(curve.tone),
                    "symbolPen": None,
                }
                if len(curve.x) == 1
                else {}
            )
            x, y = decimated(curve.x, curve.y)
            # as one path, 2,000 points take half a second to paint; as lines 0.03 s, with dots
            # at the joints
            segments = "on" if len(x) > MOST_JOINED else "off"
            self._items[name].curve.setSegmentedLineMode(segments)
            self._items[name].setData(x, y, pen=pen, **(dots or {"symbol": None}))
        self._draw_best()
        self._fit()

    def set_percent(self, percent: bool) -> None:
        """Whether the values are fractions of 1, shown times 100."""
        if percent != self._percent:
            self._percent = percent
            self._dress()

    def _fit(self) -> None:
        """Adapt the axes to the points; with fewer than two steps, show a default range."""
        has_data = any(curve.x for curve in self.curves.values())
        self.view.setVisible(has_data)
        self._empty.setVisible(not has_data)
        steps = {x for curve in self.curves.values() for x in (*curve.x[:1], *curve.x[-1:])}
        if len(steps) > 1:
            self.view.enableAutoRange()
            return
        self.view.setXRange(0, 2 * max(steps, default=50) or 1, padding=0)
        if self._percent:
            self.view.setYRange(0, 1, padding=0.02)

    def _draw_best(self) -> None:
        for name in ("best line", "best point"):
            if name in self._items:
                self.view.removeItem(self._items.pop(name))
        if self._best is None:
            return
        pen = self._pg.mkPen(theme.colour("good"), width=1, style=Qt.PenStyle.DashLine)
        self._items["best line"] = self._pg.InfiniteLine(self._best[0], pen=pen)
        self.view.addItem(self._items["best line"])
        border = self._pg.mkPen(theme.colour("surface"), width=2)
        self._items["best point"] = self.view.plot(
            [self._best[0]],
            [self._best[1]],
            pen=None,
            symbol="o",
            symbolSize=10,
            symbolBrush=theme.colour("good"),
            symbolPen=border,
        )

    def _curve(self, name: str, tone: str = "", width: float = 2.0) -> Curve:
        if name not in self.curves:
            self.curves[name] = Curve(tone or TONES[len(self.curves) % len(TONES)], width)
        return self.curves[name]

    def _add_legend(self, name: str, curve: Curve) -> None:
        self._legend.addWidget(row(_Swatch(curve.tone), words(name, "caption", "muted"), gap=5))

    # ---------------------------------------------------------------- appearance and hover

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "view"):
            self._dress()
            if self._items:
                self.draw()
        super().changeEvent(event)

    def _dress(self) -> None:
        self.view.setBackground(theme.colour("surface"))
        for side in ("left", "bottom"):
            axis = self.view.getAxis(side)
            axis.setPen(self._pg.mkPen(theme.colour("line")))
            axis.setTextPen(self._pg.mkPen(theme.colour("muted")))
            axis.setStyle(tickLength=-4, tickFont=theme.font("caption"))
            axis.enableAutoSIPrefix(False)
        self.view.getAxis("left").setScale(100.0 if self._percent else 1.0)
        self.view.showGrid(y=True, alpha=0.14)

    def _hover(self, at: QPointF) -> None:
        box = self.view.getPlotItem().vb
        if not self.curves or not self.view.sceneBoundingRect().contains(at):
            self._value.setText("")
            return
        x = box.mapSceneToView(at).x()
        found = []
        for name, curve in self.curves.items():
            if curve.x:
                found.append(f"{name} {self._figure(curve.y[nearest(curve.x, x)])}")
        longest = max(self.curves.values(), key=lambda curve: len(curve.x))
        where = longest.x[nearest(longest.x, x)] if longest.x else x
        text = f"{self._x_name} {formats.significant(where)}:  " + "  ".join(found)
        self._value.setText(text)
        fits = self._value.fontMetrics().horizontalAdvance(text) <= self._value.width()
        place = self.view.mapToGlobal(self.view.mapFromScene(at))
        escaping.show_tip(place, "" if fits else text, self.view)

    def leaveEvent(self, event: QEvent) -> None:
        self._value.setText("")
        super().leaveEvent(event)

    def _figure(self, value: float) -> str:
        return formats.points(value) if self._percent else formats.significant(value, 3)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return QSize(self.view.size()) + QSize(0, self._names_height())

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        named = self._samples()
        if named:
            draw_names(painter, area, named)
        self.view.render(painter, area.adjusted(0, 0, 0, -self._names_height()))

    def _names_height(self) -> int:
        """Pixels below the plot for the names of the curves."""
        named = self._samples()
        return math.ceil(names_height(self.view.width(), named)) if named else 0

    def _samples(self) -> list[Series]:
        """The names and colours of the curves, if there are several."""
        from workbench.ui.widgets.charts.chart import Series

        curves = self.curves.items() if len(self.curves) > 1 else ()
        return [Series(name, (), (), curve.tone, width=curve.width) for name, curve in curves]

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "curve", self._x_name, "value"
        for name, curve in self.curves.items():
            for x, y in zip(curve.x, curve.y, strict=True):
                yield name, x, y


def decimated(
    x: Sequence[float], y: Sequence[float], most: int = MOST_POINTS
) -> tuple[Sequence[float], Sequence[float]]:
    """Reduce a curve to at most `most` points (plus both ends) that look the same.

    Each of `most / 2` intervals of equal length contributes its minimum and maximum, in order.
    """
    count, stretches = len(x), most // 2
    if count <= most:
        return x, y
    found = {0, count - 1}
    for number in range(stretches):
        stretch = range(number * count // stretches, (number + 1) * count // stretches)
        found |= {min(stretch, key=y.__getitem__), max(stretch, key=y.__getitem__)}
    kept = sorted(found)
    return [x[at] for at in kept], [y[at] for at in kept]


def nearest(x: Sequence[float], value: float) -> int:
    """Index of the point closest to `value`; `x` is sorted in ascending order and not empty."""
    after = bisect_left(x, value)
    if after in (0, len(x)):
        return min(after, len(x) - 1)
    return after if x[after] - value < value - x[after - 1] else after - 1


def _of_whole_numbers(spacing: Spacing) -> Spacing:
    """The distances of ticks on an axis of steps, of which no half exists."""

    def spaced(low: float, high: float, size: float) -> list[tuple[float, float]]:
        return [pair for pair in spacing(low, high, size) if pair[0] >= 1] or [(1.0, 0.0)]

    return spaced


def _powers(values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
    """Ticks of a logarithmic axis as plain numbers; of many, 1, 2 and 5 of each power of ten."""
    numbers = [10**value for value in values]
    if len(numbers) > FEW_TICKS:
        return [_plain(number) if _is_round(number) else "" for number in numbers]
    gap = min((high - low for low, high in pairwise(numbers)), default=1.0)
    digits = max(0, -math.floor(math.log10(gap) + 1e-9))  # that tell neighbours apart
    if not digits or numbers[0] < 1:
        return [_plain(number) for number in numbers]
    return [formats.decimal(number, digits) for number in numbers]


def _with_narrow(usual: Callable[..., list[Ticks]]) -> Callable[..., list[Ticks]]:
    """`AxisItem.logTickValues`, whose ticks are 1 to 9 of each power of ten, also for an axis on
    which fewer than two of these lie.
    """

    def ticks(low: float, high: float, size: float, linear: list[Ticks]) -> list[Ticks]:
        found = usual(low, high, size, linear)
        if sum(len(values) for _spacing, values in found) >= 2 or not low < high:
            return found
        start, end = 10**low, 10**high
        power = 10.0 ** math.floor(math.log10(end - start))
        spans = (power / 5, power / 2, power, power * 2)
        span = next((item for item in spans if (end - start) / item <= FEW_TICKS), power * 2)
        whole = range(math.ceil(start / span), math.floor(end / span) + 1)
        return [(None, [math.log10(number * span) for number in whole])]

    return ticks


def _is_round(value: float) -> bool:
    return round(value / 10 ** math.floor(math.log10(value) + 1e-9), 6) in (1, 2, 5)


def _plain(value: float) -> str:
    return formats.count(round(value)) if value >= 10 else formats.significant(value, 2)


class _Swatch(QWidget):
    def __init__(self, tone: str):
        super().__init__()
        self._tone = tone
        self.setFixedSize(12, 12)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, 5, 12, 3, theme.qcolour(self._tone))
