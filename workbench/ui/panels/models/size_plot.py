"""Year and parameters of all models: a point each, parameters on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame

from workbench.base.i18n import _
from workbench.ui.panels.models.listing import Row
from workbench.ui.panels.models.state import number_words
from workbench.ui.style import theme
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, fill, row
from workbench.ui.widgets.words import Elided, IconLabel, words

GAP = 6  # pixels between a point and its name
LABELS_MS = 60  # after a resize


class SizePlot(Savable, QFrame):
    """`picked(key)` is emitted on a click on a point."""

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        import pyqtgraph

        self._pg = pyqtgraph
        self._rows: tuple[Row, ...] = ()
        self._chosen = ""
        self._names: list[Any] = []  # TextItem; pyqtgraph has no types
        self.setProperty("part", "card")
        self._hint = Elided("", "caption", "muted")
        more = save_menu("models", _("Save year and parameters"), self)
        kinds = (
            (IconLabel("circle-dot", "accent", 12), words(_("installed"), "caption", "muted")),
            (IconLabel("circle", "faint", 12), words(_("published"), "caption", "muted")),
        )
        head = TurningRow(
            (row(words(_("Year and parameters"), weight=600), (self._hint, 1)), 1),
            flow(*(row(*kind, gap=6) for kind in kinds), more, gap=6),
            gap=6,
        )
        self.view = pyqtgraph.PlotWidget()
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMenuEnabled(False)
        menu = self.view.getPlotItem().ctrlMenu  # without a parent it would outlive the plot
        menu.setParent(self.view, menu.windowFlags())
        self.view.hideButtons()
        self.view.setMouseEnabled(x=False, y=False)
        self.view.setAccessibleName(_("Year and parameters"))
        self.view.setAccessibleDescription(
            _("Parameters on a logarithmic scale. The table shows the same figures.")
        )
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMinimumHeight(110)
        self.view.scene().sigMouseMoved.connect(self._hover)
        self.view.scene().sigMouseClicked.connect(self._click)
        self._points = pyqtgraph.ScatterPlotItem(pxMode=True)
        self.view.addItem(self._points)
        fill(self, head, (self.view, 1), gap=2, margins=(14, 6, 8, 6))
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(LABELS_MS)
        self._clock.timeout.connect(self._place_names)
        self._dress()

    def show_rows(self, rows: Sequence[Row], chosen: str) -> None:
        """Models whose year and size are known; the chosen one is ringed and named."""
        self._rows = tuple(item for item in rows if item.year and item.parameters)
        self._chosen = chosen
        self._draw()

    def _places(self) -> list[tuple[float, float]]:
        """Points of a year side by side within it, so that equal ones can be told apart."""
        years: dict[int, int] = {}
        for item in self._rows:
            years[item.year] = years.get(item.year, 0) + 1
        seen: dict[int, int] = {}
        found = []
        for item in self._rows:
            at = seen[item.year] = seen.get(item.year, 0) + 1
            share = (at - 0.5) / years[item.year] - 0.5
            found.append((item.year + 0.7 * share, math.log10(item.parameters)))
        return found

    def _draw(self) -> None:
        accent, faint = theme.colour("accent"), theme.colour("faint")
        spots = []
        for item, place in zip(self._rows, self._places(), strict=True):
            there, chosen = item.card is not None, item.key == self._chosen
            pen = theme.colour("text") if chosen else accent if there else faint
            spots.append(
                {
                    "pos": place,
                    "size": 13 if chosen else 8,
                    "symbol": "o",
                    "pen": self._pg.mkPen(pen, width=2 if chosen else 1.3),
                    "brush": accent if there else theme.colour("surface"),
                    "data": item.key,
                }
            )
        spots.sort(key=lambda spot: spot["data"] == self._chosen)  # drawn last
        self._points.setData(spots)
        if self._rows:
            places = self._places()
            low = math.floor(min(y for _x, y in places))
            high = math.ceil(max(y for _x, y in places))
            self.view.setXRange(
                min(x for x, _y in places) - 0.3, max(x for x, _y in places) + 0.7, padding=0
            )
            self.view.setYRange(low, max(high, low + 1), padding=0.04)
            ticks = [(power, _round_words(power)) for power in range(low, high + 1)]
            self.view.getAxis("left").setTicks([ticks])
            years = range(
                min(item.year for item in self._rows), 1 + max(r.year for r in self._rows)
            )
            step = 2 if len(years) > 8 else 1
            self.view.getAxis("bottom").setTicks([[(year, str(year)) for year in years[::step]]])
        self._hint.setText(self._describe(self._chosen) or _("Click a point to select the model"))
        self._clock.start()

    def _describe(self, key: str) -> str:
        item = next((item for item in self._rows if item.key == key), None)
        if item is None:
            return ""
        return _("{name}, {year}: {parameters}").format(
            name=item.title, year=item.year, parameters=number_words(item.parameters)
        )

    def _place_names(self) -> None:
        """Name points without overlap: the chosen one, installed ones, then the largest."""
        for item in self._names:
            self.view.removeItem(item)
        self._names = []
        box = self.view.getPlotItem().vb
        area = box.sceneBoundingRect()
        places = dict(zip((item.key for item in self._rows), self._places(), strict=True))
        order = sorted(
            self._rows,
            key=lambda row: (row.key != self._chosen, row.card is None, -row.parameters),
        )
        points = {key: box.mapViewToScene(QPointF(*place)) for key, place in places.items()}
        taken = [QRectF(at.x() - 4, at.y() - 4, 8, 8) for at in points.values()]
        for entry in order:
            chosen = entry.key == self._chosen
            font = theme.font("caption", 600 if chosen else 400)
            metrics = QFontMetricsF(font)
            width, height = metrics.horizontalAdvance(entry.title) + 2, metrics.height()
            at = points[entry.key]
            for right in (True, False):
                left = at.x() + GAP if right else at.x() - GAP - width
                spot = QRectF(left, at.y() - height / 2, width, height)
                free = not any(spot.intersects(other) for other in taken)
                if area.contains(spot) and (free or (chosen and not right)):
                    edge = QPointF(spot.left() if right else spot.right(), at.y())
                    self._name(entry, box.mapSceneToView(edge), font, right=right)
                    taken.append(spot)
                    break

    def _name(self, entry: Row, place: QPointF, font: Any, *, right: bool) -> None:
        there = entry.card is not None or entry.key == self._chosen
        tone = "text" if there else "muted"
        item = self._pg.TextItem(
            entry.title, color=theme.colour(tone), anchor=(0 if right else 1, 0.5)
        )
        item.setFont(font)
        item.textItem.document().setDocumentMargin(0)
        item.updateTextPos()
        item.setPos(place)
        self.view.addItem(item, ignoreBounds=True)
        self._names.append(item)

    # ---------------------------------------------------------------- mouse

    def _at(self, at: QPointF) -> str:
        """The key of the point there, "" for none."""
        found = self._points.pointsAt(self.view.getPlotItem().vb.mapSceneToView(at))
        return str(found[-1].data()) if len(found) else ""

    def _hover(self, at: QPointF) -> None:
        key = self._at(at)
        self._hint.setText(
            self._describe(key or self._chosen) or _("Click a point to select the model")
        )
        shape = Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor
        self.view.setCursor(shape)

    def _click(self, event: Any) -> None:
        if key := self._at(event.scenePos()):
            self.picked.emit(key)

    # ---------------------------------------------------------------- appearance

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._clock.start()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_clock"):
            self._dress()
            self._draw()
        super().changeEvent(event)

    def _dress(self) -> None:
        self.view.setBackground(theme.colour("surface"))
        for side in ("left", "bottom"):
            axis = self.view.getAxis(side)
            axis.setPen(self._pg.mkPen(theme.colour("line")))
            axis.setTextPen(self._pg.mkPen(theme.colour("muted")))
            axis.setStyle(tickLength=-4, tickFont=theme.font("caption"))
        self.view.showGrid(y=True, alpha=0.15)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return QSize(self.view.size())

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        self.view.render(painter, area)

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "model", "year", "parameters"
        for item in self._rows:
            yield item.title, item.year, item.parameters


def _round_words(power: int) -> str:
    """A power of ten on the axis: 10 M."""
    units = ((12, _("{n} T")), (9, _("{n} B")), (6, _("{n} M")), (3, _("{n} k")), (0, "{n}"))
    least, message = next((unit for unit in units if power >= unit[0]), units[-1])
    return message.format(n=10 ** (power - least))
