"""Year and parameters of all models: a point each, parameters on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QFrame

from workbench.base.i18n import _
from workbench.ui.panels.models.listing import ModelRow
from workbench.ui.panels.models.state import number_words
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.named_points import NamedPoint, NamedPoints, marker
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, fill, row


class SizePlot(Savable, QFrame):
    """`picked(key)` is emitted on a click on a point."""

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[ModelRow, ...] = ()
        self._chosen = ""
        self.setProperty("part", "card")
        self.setMouseTracking(True)
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
        self.points = NamedPoints(Axis(), Axis())
        self.points.setAccessibleName(_("Year and parameters"))
        self.points.setAccessibleDescription(
            _("Parameters on a logarithmic scale. The table shows the same figures.")
        )
        self.points.setMinimumHeight(110)
        fill(self, head, (self.points, 1), gap=2, margins=(14, 6, 8, 6))

    def show_rows(self, rows: Sequence[ModelRow], chosen: str) -> None:
        """Models whose year and size are known; the chosen one is ringed and named."""
        self._rows = tuple(item for item in rows if item.year and item.parameters)
        self._chosen = chosen
        if self._rows:
            self._draw()
        self._hint.setText(self._describe(chosen) or _("Click a point to select the model"))

    def _places(self) -> list[tuple[float, float]]:
        """Points of a year side by side within it, so that equal ones can be told apart."""
        years: dict[int, int] = {}
        for item in self._rows:
            years[item.year] = years.get(item.year, 0) + 1
        before: dict[int, int] = {}
        places = []
        for item in self._rows:
            at = before[item.year] = before.get(item.year, 0) + 1
            share = (at - 0.5) / years[item.year] - 0.5
            places.append((item.year + 0.7 * share, math.log10(item.parameters)))
        return places

    def _draw(self) -> None:
        places = self._places()
        low = math.floor(min(y for _x, y in places))
        high = max(math.ceil(max(y for _x, y in places)), low + 1)
        years = range(min(item.year for item in self._rows), 1 + max(r.year for r in self._rows))
        step = 2 if len(years) > 8 else 1
        self.points.set_axes(
            Axis(names=tuple((year, str(year)) for year in years[::step])),
            Axis(names=tuple((power, _round_words(power)) for power in range(low, high + 1))),
        )
        # the chosen one, installed ones, then the largest
        pairs = sorted(
            zip(self._rows, places, strict=True),
            key=lambda pair: (
                pair[0].key != self._chosen,
                pair[0].card is None,
                -pair[0].parameters,
            ),
        )
        points = [self._point(item, place) for item, place in pairs]
        x = min(x for x, _y in places) - 0.3, max(x for x, _y in places) + 0.7
        margin = 0.04 * (high - low)
        self.points.show_points(points, x, (low - margin, high + margin))

    def _point(self, item: ModelRow, place: tuple[float, float]) -> NamedPoint:
        is_chosen, is_installed = item.key == self._chosen, item.card is not None
        edge = "text" if is_chosen else "accent" if is_installed else "faint"
        size, width = (13, 2.0) if is_chosen else (8, 1.3)
        look = marker("accent", size, filled=is_installed, edge=edge, width=width)
        tone, weight = "text" if is_installed or is_chosen else "muted", 600 if is_chosen else 400
        return NamedPoint(item.key, item.title, *place, look, tone, weight, always=is_chosen)

    def _describe(self, key: str) -> str:
        item = next((item for item in self._rows if item.key == key), None)
        if item is None:
            return ""
        return _(
            "{name}, {year}: {parameters}",
            name=item.title,
            year=item.year,
            parameters=number_words(item.parameters),
        )

    # ---------------------------------------------------------------- mouse

    def _at(self, position: QPointF) -> str:
        """The key of the point there, "" for none."""
        points = self.points.at(self.points.mapFrom(self, position))
        return points[0].key if points else ""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        key = self._at(event.position())
        message = self._describe(key or self._chosen) or _("Click a point to select the model")
        self._hint.setText(message)
        shape = Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        key = self._at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and key:
            self.picked.emit(key)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return self.points.size()

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        self.points.draw(painter, area)

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "model", "year", "parameters"
        for item in self._rows:
            yield item.title, item.year, item.parameters


def _round_words(power: int) -> str:
    """A power of ten on the axis: 10 M."""
    units = ((12, _("{n} T")), (9, _("{n} B")), (6, _("{n} M")), (3, _("{n} k")), (0, "{n}"))
    least, message = next((unit for unit in units if power >= unit[0]), units[-1])
    return message.format(n=10 ** (power - least))
