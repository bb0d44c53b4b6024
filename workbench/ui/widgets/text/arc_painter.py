"""Paint the relations above a text line."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from workbench.ui.style import theme
from workbench.ui.widgets.text.arc_layout import MOST_LEVELS, LineArc, give_levels

if TYPE_CHECKING:
    from workbench.ui.widgets.text.piece import Line

_STROKE, _CHOSEN = 1.4, 2.2
_CORNER = 5.0
_HEAD = 3.6  # half the width of an arrow
_GAP = 3.0  # between the legs and the text
_LEAST_LABEL = 18.0  # labels with less room are left out
_DASHES = [3.0, 2.4]


class ArcPainter:
    """`tint(tint)` is the colour of a label; `zoom` is that of captions."""

    def __init__(self, font: QFont, zoom: float, tint: Callable[[int | str], QColor]):
        self._font, self._tint, self.zoom = font, tint, zoom
        self._metrics = QFontMetricsF(font)
        self._accent, self._bad = theme.qcolour("accent"), theme.qcolour("bad")
        self._ground, self._text = theme.qcolour("surface"), theme.qcolour("text")
        self._muted = theme.qcolour("muted")

    def level(self) -> float:
        """Height of a level in pixels."""
        return round(self._metrics.height() + 3 * self.zoom)

    def paint(
        self, painter: QPainter, line: Line, origin: QPointF, chosen: tuple[str, int] | None
    ) -> None:
        """Paint the arcs of a line; labels last, so that no leg crosses them."""
        arcs = self.shown(line.arcs, chosen)
        if not arcs:
            return
        painter.save()
        painter.setFont(self._font)
        bottom = origin.y() + line.top - _GAP
        for line_arc in sorted(arcs, key=lambda item: item.arc.name == chosen):
            self._arc(painter, line_arc, origin.x(), bottom, chosen=line_arc.arc.name == chosen)
        for line_arc in arcs:
            self._label(painter, line_arc, origin.x(), bottom, chosen=line_arc.arc.name == chosen)
        if left_out := len(line.arcs) - len(arcs):
            painter.setPen(self._muted)
            top = origin.y() + line.top - line.head
            box = QRectF(origin.x(), top, line.line.width(), self.level())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, f"+{left_out}")
        painter.restore()

    def shown(self, arcs: list[LineArc], chosen: tuple[str, int] | None) -> list[LineArc]:
        """The arcs that are drawn. Above five levels, only those of the chosen span or relation."""
        if all(arc.level < MOST_LEVELS for arc in arcs):
            return arcs
        mine = [
            arc for arc in arcs if chosen is not None and chosen in (arc.arc.name, *arc.arc.names)
        ]
        if not mine:
            return [arc for arc in arcs if arc.level < MOST_LEVELS]
        own = [copy(arc) for arc in mine]
        give_levels(own)
        for line_arc in own:
            line_arc.level = min(line_arc.level, MOST_LEVELS - 1)
        return own

    def y_of(self, arc: LineArc, bottom: float) -> float:
        """The height of its horizontal; `bottom`: of the legs."""
        return bottom - (arc.level + 0.62) * self.level() - 2 * self.zoom

    def _colour(self, line_arc: LineArc, *, chosen: bool) -> QColor:
        if chosen:
            return self._accent
        return self._tint(line_arc.arc.tint) if line_arc.arc.allowed else self._bad

    def _arc(
        self, painter: QPainter, line_arc: LineArc, x: float, bottom: float, *, chosen: bool
    ) -> None:
        colour, y = self._colour(line_arc, chosen=chosen), self.y_of(line_arc, bottom)
        pen = QPen(colour, _CHOSEN if chosen else _STROKE)
        if line_arc.arc.dashed or not line_arc.arc.allowed:
            pen.setDashPattern(_DASHES)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_path(line_arc, x, y, bottom))
        for leg, to_end in ((line_arc.from_x, False), (line_arc.to_x, True)):
            if leg is not None and line_arc.arc.directed and to_end:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                head = _HEAD * max(1.0, self.zoom)
                tip = QPointF(x + leg, bottom + 1)
                wings = QPointF(-head, -1.9 * head), QPointF(head, -1.9 * head)
                painter.drawPolygon(QPolygonF([tip, *(tip + wing for wing in wings)]))

    def _label(
        self, painter: QPainter, line_arc: LineArc, x: float, bottom: float, *, chosen: bool
    ) -> None:
        room = line_arc.right - line_arc.left - 12
        sign = "" if line_arc.arc.allowed else "⚠ "
        full = sign + line_arc.arc.label
        if line_arc.arc.short and self._metrics.horizontalAdvance(full) > room:
            full = sign + line_arc.arc.short
        leaves = line_arc.from_x is None or line_arc.to_x is None
        if room < _LEAST_LABEL or (leaves and self._metrics.horizontalAdvance(full) > room):
            return  # an arc that leaves the line has a label on the other line, too
        text = self._metrics.elidedText(full, Qt.TextElideMode.ElideMiddle, room)
        width, height = self._metrics.horizontalAdvance(text), self._metrics.height()
        left = (line_arc.left + line_arc.right - width) / 2
        y = self.y_of(line_arc, bottom)
        box = QRectF(x + left - 4, y - height / 2, width + 8, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.qcolour("accent_soft") if chosen else self._ground)
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(self._accent if chosen else self._text)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def at(self, line: Line, x: float, y: float, chosen: tuple[str, int] | None) -> LineArc | None:
        """The arc at a point of the line; `y` is relative to its text."""
        near: list[tuple[float, LineArc]] = []
        for arc in self.shown(line.arcs, chosen):
            level = self.y_of(arc, -_GAP)
            on_bar = abs(y - level) <= self.level() / 2 and arc.left - 3 <= x <= arc.right + 3
            legs = [leg for leg in (arc.from_x, arc.to_x) if leg is not None]
            off = min((abs(x - leg) for leg in legs), default=99.0)
            if on_bar:
                near.append((abs(y - level) / 100, arc))
            elif off <= 4 and level <= y <= 0:
                near.append((off, arc))
        return min(near, key=lambda pair: pair[0])[1] if near else None


def _path(arc: LineArc, x: float, y: float, bottom: float) -> QPainterPath:
    """The path of an arc, from the left leg or edge to the right one."""
    legs = {leg for leg in (arc.from_x, arc.to_x) if leg is not None}
    path = QPainterPath()
    corner = min(_CORNER, (arc.right - arc.left) / 2)
    if arc.left in legs:
        path.moveTo(x + arc.left, bottom)
        path.lineTo(x + arc.left, y + corner)
        path.quadTo(x + arc.left, y, x + arc.left + corner, y)
    else:
        path.moveTo(x + arc.left, y)
    if arc.right in legs:
        path.lineTo(x + arc.right - corner, y)
        path.quadTo(x + arc.right, y, x + arc.right, y + corner)
        path.lineTo(x + arc.right, bottom)
    else:
        path.lineTo(x + arc.right, y)
    return path


def rubber_band(painter: QPainter, start: QPointF, end: QPointF) -> None:
    """The arc that follows the mouse while a relation is drawn."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(theme.qcolour("accent"), _CHOSEN)
    pen.setDashPattern(_DASHES)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    top = min(start.y(), end.y()) - 18
    path = QPainterPath(start)
    path.cubicTo(QPointF(start.x(), top), QPointF(end.x(), top), end)
    painter.drawPath(path)
    painter.restore()
