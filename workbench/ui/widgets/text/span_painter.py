"""Paint a piece of text with its spans, selection and caret."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTextCharFormat, QTextLayout

from workbench.text.queries.find import TextMatches
from workbench.ui.style import theme
from workbench.ui.widgets.text.arc_painter import ArcPainter
from workbench.ui.widgets.text.piece import Line, Piece
from workbench.ui.widgets.text.span_layout import (
    GOLD,
    PREDICTED,
    Run,
    SpanSegment,
    cursor_x,
    visual_runs,
)

BAR, BAR_SUGGESTED, OUTLINE, CARET = 2.5, 1.8, 2.0, 2.0  # strokes, pixels
_DASHES, _DOTS = [2.4, 2.4], [0.1, 2.2]  # in strokes
_GAP_DASHES = [3.0, 3.0]
_DIMMED = 0.45  # opacity of spans outside of what is lit
_LEAST_ROOM = 6.0  # captions with less room are left out, pixels
_DOTTED = 3  # letters that an abbreviation has before its ellipsis, at least


@dataclass(slots=True)
class Marked:
    """What is marked in the text besides spans. Ranges in code points."""

    selection: tuple[int, int] | None = None
    chosen: tuple[str, int] | None = None  # TextSpan.name
    hint: tuple[int, int] | None = None  # the word that the key of a label would mark
    caret: int | None = None  # None: hidden
    found: TextMatches | None = None  # matches of a search
    linked: tuple[str, int] | None = None  # the span from which a relation is being made
    lit: tuple[int, int] | None = None  # text and spans outside of it are dimmed


class SpanPainter:
    """Paints with the colours of the current theme.

    One per zoom of the text (1.0: 100%); recreated when the theme changes.
    """

    def __init__(self, zoom: float):
        if zoom > 1:  # captions grow more slowly than the text, up to the size of other words
            zoom = min(1 + (zoom - 1) / 2, theme.FONT["ui"] / theme.FONT["tiny"])
        self.caption = theme.font("tiny", 600)
        self.caption.setPixelSize(max(8, round(self.caption.pixelSize() * zoom)))
        self.zoom = zoom
        self._metrics = QFontMetricsF(self.caption)
        self._ascent = self._metrics.ascent()
        self._elided: dict[tuple[str, int], tuple[str, float]] = {}
        self._colours: dict[int | str, tuple[QColor, QColor]] = {}
        self._text, self._accent = theme.qcolour("text"), theme.qcolour("accent")
        self._on_accent, self._hint = theme.qcolour("on_accent"), theme.qcolour("sunken")
        self._dimmed = theme.qcolour("muted")
        self._match, self._match_ground = theme.qcolour("warn"), theme.qcolour("warn_soft")
        self.arcs = ArcPainter(self.caption, zoom, lambda tint: self._tint(tint)[0])

    def lane(self) -> float:
        """Height of a lane: bar, caption and spacing."""
        return round(9 * self.zoom + self._metrics.ascent() * 0.98)

    def _tint(self, tint: int | str) -> tuple[QColor, QColor]:
        """(line, fill) of a label."""
        if tint not in self._colours:
            colours = theme.label_colours(tint)
            self._colours[tint] = QColor(colours.line), QColor(colours.fill)
        return self._colours[tint]

    def paint(
        self, painter: QPainter, piece: Piece, origin: QPointF, clip: QRectF, marked: Marked
    ) -> None:
        """Paint the lines of a shaped piece that intersect `clip` (device-independent viewport
        pixels).
        """
        low, high = clip.top() - origin.y(), clip.bottom() - origin.y()
        lines = [line for line in piece.placed if line.top + line.pitch > low and line.above < high]
        if not lines:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        for line in lines:
            self._under(painter, piece, line, origin, marked)
        painter.setPen(self._text)
        letters = [*self._dimmed_letters(piece, marked), *self._selected_letters(piece, marked)]
        piece.shaped.draw(painter, origin, letters, clip)
        painter.setFont(self.caption)
        for line in lines:
            if line.items:
                self._over(painter, line, origin, marked)
            if line.arcs:
                self.arcs.paint(painter, line, origin, marked.chosen)
        self._paint_caret(painter, piece, lines, origin, marked)

    # ------------------------------------------------------------ below the glyphs

    def _under(
        self, painter: QPainter, piece: Piece, line: Line, origin: QPointF, marked: Marked
    ) -> None:
        top, height = origin.y() + line.top, line.height
        if marked.hint:
            painter.setBrush(self._hint)
            for run in self._part(piece, line, *marked.hint):
                painter.drawRoundedRect(
                    QRectF(origin.x() + run[0] - 1, top - 1, run[1] - run[0] + 2, height + 2), 3, 3
                )
        for item in line.items:
            painter.setOpacity(_opacity(item, marked))
            for left, right in item.ground:
                painter.setBrush(self._tint(item.span.tint)[1])
                painter.drawRoundedRect(
                    QRectF(origin.x() + left - 1, top - 1, right - left + 2, height + 2), 3, 3
                )
        painter.setOpacity(1.0)
        if marked.found:
            self._matches(painter, piece, line, origin, marked.found)
        if marked.selection:
            painter.setBrush(self._accent)
            for left, right in self._part(piece, line, *marked.selection):
                painter.drawRect(QRectF(origin.x() + left, top, right - left, height))

    def _matches(
        self, painter: QPainter, piece: Piece, line: Line, origin: QPointF, matches: TextMatches
    ) -> None:
        """A frame around each match on a line, limited to the visible lines."""
        first = piece.start + piece.point_map.to_point(line.first)
        after = min(piece.end, piece.start + piece.point_map.to_point(line.after))
        painter.save()
        painter.setPen(self._match)
        painter.setBrush(self._match_ground)
        for number in range(bisect_right(matches.ends, first), bisect_left(matches.starts, after)):
            for left, right in self._part(
                piece, line, matches.starts[number], matches.ends[number]
            ):
                box = QRectF(origin.x() + left, origin.y() + line.top, right - left, line.height)
                painter.drawRoundedRect(box, 3, 3)
        painter.restore()

    def _part(self, piece: Piece, line: Line, start: int, end: int) -> tuple[Run, ...]:
        """The visual runs of code points [start, end) on a line."""
        if end <= piece.start or start >= piece.end:
            return ()
        first = max(line.first, piece.point_map.to_units(max(start, piece.start) - piece.start))
        after = min(line.after, piece.point_map.to_units(min(end, piece.end) - piece.start))
        return visual_runs(line.line, first, after, mixed=piece.mixed) if first < after else ()

    def _selected_letters(self, piece: Piece, marked: Marked) -> list[QTextLayout.FormatRange]:
        if not marked.selection:
            return []
        return self._coloured(piece, *marked.selection, self._on_accent)

    def _dimmed_letters(self, piece: Piece, marked: Marked) -> list[QTextLayout.FormatRange]:
        """The text before and after what is lit."""
        if marked.lit is None:
            return []
        start, end = marked.lit
        before = self._coloured(piece, piece.start, start, self._dimmed)
        return before + self._coloured(piece, end, piece.end, self._dimmed)

    @staticmethod
    def _coloured(
        piece: Piece, start: int, end: int, colour: QColor
    ) -> list[QTextLayout.FormatRange]:
        start, end = max(start, piece.start), min(end, piece.end)
        if start >= end:
            return []
        range_ = QTextLayout.FormatRange()
        range_.start = piece.point_map.to_units(start - piece.start)
        range_.length = piece.point_map.to_units(end - piece.start) - range_.start
        look = QTextCharFormat()
        look.setForeground(colour)
        range_.format = look
        return [range_]

    # ------------------------------------------------------------ bars and captions

    def _over(self, painter: QPainter, line: Line, origin: QPointF, marked: Marked) -> None:
        x, top = origin.x(), origin.y() + line.top
        lane = self.lane()
        for item in line.items:
            colour, _ = self._tint(item.span.tint)
            painter.setOpacity(_opacity(item, marked))
            y = top + line.height + 3 * self.zoom + item.lane * lane
            painter.setPen(self._bar(item, colour))
            for left, right in item.runs:
                inset = min(1.2, (right - left) / 4)
                painter.drawLine(QPointF(x + left + inset, y), QPointF(x + right - inset, y))
            if item.gaps:
                self._gaps(painter, item, colour, x, y)
            if item.first:
                self._caption(painter, item, colour, x, y)
            if item.span.name in (marked.chosen, marked.linked):
                dashed = item.span.name != marked.chosen
                self._outline(painter, item, x, top, line.height, dashed=dashed)
        painter.setOpacity(1.0)

    def _gaps(
        self, painter: QPainter, item: SpanSegment, colour: QColor, x: float, y: float
    ) -> None:
        """Dashes between the parts of a discontinuous span."""
        pen = QPen(colour, 1.2)
        pen.setDashPattern(_GAP_DASHES)
        painter.setPen(pen)
        for left, right in item.gaps:
            painter.drawLine(QPointF(x + left, y), QPointF(x + right, y))

    def _bar(self, item: SpanSegment, colour: QColor) -> QPen:
        pen = QPen(colour, BAR if item.span.kind == GOLD else BAR_SUGGESTED)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        if item.span.kind != GOLD:
            pen.setDashPattern(_DOTS if item.span.kind == PREDICTED else _DASHES)
        return pen

    def _caption(
        self, painter: QPainter, item: SpanSegment, colour: QColor, x: float, y: float
    ) -> None:
        left, right = item.room
        if right - left < _LEAST_ROOM:
            return
        text, width = self._fit(item.span.caption, int(right - left))
        if not text:
            return
        item.caption_width = width
        painter.setPen(colour)
        painter.drawText(QPointF(x + item.caption_box[0], y + 2.5 * self.zoom + self._ascent), text)

    def _fit(self, caption: str, room: int) -> tuple[str, float]:
        """The caption abbreviated to `room` pixels, and its width."""
        key = caption, min(room, 400)
        if key not in self._elided:
            if len(self._elided) > 4000:
                self._elided.clear()
            text = abbreviated(caption, room, self._metrics)
            self._elided[key] = text, self._metrics.horizontalAdvance(text)
        return self._elided[key]

    def _outline(
        self,
        painter: QPainter,
        item: SpanSegment,
        x: float,
        top: float,
        height: float,
        *,
        dashed: bool,
    ) -> None:
        pen = QPen(self._accent, OUTLINE)
        if dashed:
            pen.setDashPattern(_DASHES)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for left, right in item.runs:
            painter.drawRoundedRect(
                QRectF(x + left - 2, top - 1.5, right - left + 4, height + 3), 4, 4
            )

    def _paint_caret(
        self, painter: QPainter, piece: Piece, lines: list[Line], origin: QPointF, marked: Marked
    ) -> None:
        if marked.caret is None or not piece.start <= marked.caret <= piece.end:
            return
        unit = piece.point_map.to_units(marked.caret - piece.start)
        last = piece.placed[-1]
        for line in lines:
            if line.first <= unit < line.after or (line is last and unit == line.after):
                x = cursor_x(line.line, unit)
                box = QRectF(
                    origin.x() + x - CARET / 2,
                    origin.y() + line.top,
                    CARET * max(1.0, self.zoom),
                    line.height,
                )
                painter.fillRect(box, self._text)


def abbreviated(caption: str, room: float, metrics: QFontMetricsF) -> str:
    """The start of a caption that fits into `room` pixels, without an ellipsis if only few letters
    fit: labels of a project differ at their start, and a span of one Chinese character has no room
    for more. "" if no letter fits.
    """
    if metrics.horizontalAdvance(caption) <= room:
        return caption
    dots = "…"
    cut = metrics.elidedText(caption, Qt.TextElideMode.ElideRight, room)
    if cut.endswith(dots) and len(cut) > _DOTTED:
        return cut
    more = room + metrics.horizontalAdvance(dots)
    longer = caption + 2 * dots  # does not fit, so that an ellipsis replaces the end of the caption
    return metrics.elidedText(longer, Qt.TextElideMode.ElideRight, more).removesuffix(dots)


def _opacity(item: SpanSegment, marked: Marked) -> float:
    lit, span = marked.lit, item.span
    return _DIMMED if lit and (span.end <= lit[0] or span.start >= lit[1]) else 1.0


def reading_font(zoom: float) -> QFont:
    """The reading font at a zoom (1.0: 100%)."""
    font = theme.font("reading")
    font.setPixelSize(round(font.pixelSize() * zoom))
    return font
