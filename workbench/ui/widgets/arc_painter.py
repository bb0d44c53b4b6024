"""Paint the relations above a text line."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from workbench.ui import theme
from workbench.ui.widgets.arc_layout import MOST_LEVELS, LineArc, give_levels

if TYPE_CHECKING:
    from workbench.ui.widgets.span_painter import Marked
    from workbench.ui.widgets.text_piece import Line

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

    def paint(self, painter: QPainter, line: Line, origin: QPointF, marked: Marked) -> None:
        """Paint the arcs of a line; labels last, so that no leg crosses them."""
        shown = self.shown(line.arcs, marked.chosen)
        if not shown:
            return
        painter.save()
        painter.setFont(self._font)
        bottom = origin.y() + line.top - _GAP
        chosen = marked.chosen
        for one in sorted(shown, key=lambda one: one.arc.name == chosen):
            self._arc(painter, one, origin.x(), bottom, chosen=one.arc.name == chosen)
        for one in shown:
            self._label(painter, one, origin.x(), bottom, chosen=one.arc.name == chosen)
        if left_out := len(line.arcs) - len(shown):
            painter.setPen(self._muted)
            top = origin.y() + line.top - line.head
            box = QRectF(origin.x(), top, line.line.width(), self.level())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, f"+{left_out}")
        painter.restore()

    def shown(self, arcs: list[LineArc], chosen: tuple[str, int] | None) -> list[LineArc]:
        """The arcs that are drawn. Above five levels, only those of the chosen span or relation."""
        if all(one.level < MOST_LEVELS for one in arcs):
            return arcs
        mine = [
            one for one in arcs if chosen is not None and chosen in (one.arc.name, *one.arc.names)
        ]
        if not mine:
            return [one for one in arcs if one.level < MOST_LEVELS]
        own = [copy(one) for one in mine]
        give_levels(own)
        for one in own:
            one.level = min(one.level, MOST_LEVELS - 1)
        return own

    def y_of(self, one: LineArc, bottom: float) -> float:
        """The height of its horizontal; `bottom`: of the legs."""
        return bottom - (one.level + 0.62) * self.level() - 2 * self.zoom

    def _colour(self, one: LineArc, *, chosen: bool) -> QColor:
        if chosen:
            return self._accent
        return self._tint(one.arc.tint) if one.arc.allowed else self._bad

    def _arc(
        self, painter: QPainter, one: LineArc, x: float, bottom: float, *, chosen: bool
    ) -> None:
        colour, y = self._colour(one, chosen=chosen), self.y_of(one, bottom)
        pen = QPen(colour, _CHOSEN if chosen else _STROKE)
        if not one.arc.allowed:
            pen.setDashPattern(_DASHES)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_path(one, x, y, bottom))
        for leg, to_end in ((one.from_x, False), (one.to_x, True)):
            if leg is not None and one.arc.directed and to_end:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                head = _HEAD * max(1.0, self.zoom)
                tip = QPointF(x + leg, bottom + 1)
                wings = QPointF(-head, -1.9 * head), QPointF(head, -1.9 * head)
                painter.drawPolygon(QPolygonF([tip, *(tip + wing for wing in wings)]))

    def _label(
        self, painter: QPainter, one: LineArc, x: float, bottom: float, *, chosen: bool
    ) -> None:
        room = one.right - one.left - 12
        full = ("" if one.arc.allowed else "⚠ ") + one.arc.label
        leaves = one.from_x is None or one.to_x is None
        if room < _LEAST_LABEL or (leaves and self._metrics.horizontalAdvance(full) > room):
            return  # an arc that leaves the line has a label on the other line, too
        text = self._metrics.elidedText(full, Qt.TextElideMode.ElideMiddle, room)
        width, height = self._metrics.horizontalAdvance(text), self._metrics.height()
        left = (one.left + one.right - width) / 2
        y = self.y_of(one, bottom)
        box = QRectF(x + left - 4, y - height / 2, width + 8, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.qcolour("accent_soft") if chosen else self._ground)
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(self._accent if chosen else self._text)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def at(self, line: Line, x: float, y: float, chosen: tuple[str, int] | None) -> LineArc | None:
        """The arc at a point of the line; `y` is relative to its text."""
        near: list[tuple[float, LineArc]] = []
        for one in self.shown(line.arcs, chosen):
            level = self.y_of(one, -_GAP)
            on_bar = abs(y - level) <= self.level() / 2 and one.left - 3 <= x <= one.right + 3
            legs = [leg for leg in (one.from_x, one.to_x) if leg is not None]
            off = min((abs(x - leg) for leg in legs), default=99.0)
            if on_bar:
                near.append((abs(y - level) / 100, one))
            elif off <= 4 and level <= y <= 0:
                near.append((off, one))
        return min(near, key=lambda pair: pair[0])[1] if near else None


def _path(one: LineArc, x: float, y: float, bottom: float) -> QPainterPath:
    """From the left leg or edge over the horizontal to the right leg or edge."""
    legs = {leg for leg in (one.from_x, one.to_x) if leg is not None}
    path = QPainterPath()
    corner = min(_CORNER, (one.right - one.left) / 2)
    if one.left in legs:
        path.moveTo(x + one.left, bottom)
        path.lineTo(x + one.left, y + corner)
        path.quadTo(x + one.left, y, x + one.left + corner, y)
    else:
        path.moveTo(x + one.left, y)
    if one.right in legs:
        path.lineTo(x + one.right - corner, y)
        path.quadTo(x + one.right, y, x + one.right, y + corner)
        path.lineTo(x + one.right, bottom)
    else:
        path.lineTo(x + one.right, y)
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
