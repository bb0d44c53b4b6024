"""Which lines of a text a change of what is marked makes it paint again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from math import ceil, floor

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QRegion

from workbench.ui.widgets.text.piece import Line, Piece
from workbench.ui.widgets.text.scroll import LEFT, PiecesArea
from workbench.ui.widgets.text.span_painter import Marked, SpanPainter

EDGE = 4  # pixels that outlines and grounds may exceed their line by
MOST_PARTS = 12  # of the viewport that are painted one by one

Range = tuple[int, int]
Name = tuple[str, int]


class RepaintArea(PiecesArea):
    """Subclasses set `_painter` and implement `_marked`, `_range_of` and `_paint_over`."""

    _painter: SpanPainter
    _painted = Marked()  # what is on the screen, or will be with the next paint

    def _marked(self) -> Marked:
        raise NotImplementedError

    def _range_of(self, name: Name) -> Range | None:
        raise NotImplementedError

    def _paint_over(self, painter: QPainter) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        frame, whole = self._frame(), event.rect() == self.viewport().rect()
        self._prepare()
        if not whole and self._frame() != frame:
            self.viewport().update()
        marked = self._marked()
        if whole:
            self._painted = marked
        elif marked != self._painted:
            self._paint_marks()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for clip in parts(event.region()):
            painter.setClipRect(clip)
            self._paint_part(painter, clip, marked)
        painter.setClipping(False)
        self._paint_over(painter)
        painter.end()

    def _paint_part(self, painter: QPainter, clip: QRectF, marked: Marked) -> None:
        pieces, offset = self._pieces, self.offset
        index = max(0, bisect_right(pieces.tops, offset + clip.top() - 2) - 1)
        while index < len(pieces.pieces) and pieces.tops[index] - offset < clip.bottom():
            origin = QPointF(LEFT, pieces.tops[index] - offset)
            self._painter.paint(painter, pieces.ensure(index), origin, clip, marked)
            index += 1

    def _paint_marks(self) -> None:
        """Paint again where the marks differ from the painted ones."""
        before, self._painted = self._painted, self._marked()
        ranges = differing(before, self._painted, self._range_of)
        if ranges is None or (self._arcs and _named(before) != _named(self._painted)):
            self.viewport().update()  # the relations of a selected span may be anywhere
        else:
            self._paint_ranges(ranges)

    def _paint_ranges(self, ranges: Iterable[Range]) -> None:
        """Paint the visible lines of these ranges again."""
        pieces, offset, height = self._pieces, self.offset, self.viewport().height()
        tops = pieces.tops
        first = pieces.index_at_y(offset)
        for start, end in ranges:
            index = max(first, pieces.index_at(start) - 1)  # a caret may be at the end before
            while (
                index < len(pieces.pieces)
                and pieces.pieces[index].start <= end
                and tops[index] - offset < height
            ):
                for top, bottom in self._heights(index, start, end):
                    self._update(tops[index] - offset, top, bottom)
                index += 1

    def _heights(self, index: int, start: int, end: int) -> Iterator[tuple[float, float]]:
        """Top and bottom, within the piece, of its lines that [start, end] touches."""
        piece = self._pieces.pieces[index]
        if piece.end < start:
            return
        if piece.lines is None or piece.stale:
            yield 0.0, self._pieces.height_of(index)
            return
        low, high = (
            piece.point_map.to_units(min(max(place, piece.start), piece.end) - piece.start)
            for place in (start, end)
        )
        for line in piece.lines:
            if line.first <= high and line.after >= low:
                yield line.above, line.top + line.pitch

    def _update(self, y: float, top: float, bottom: float) -> None:
        """Paint a part of a piece again; `y`: where the piece is in the viewport."""
        above, below = floor(y + top) - EDGE, ceil(y + bottom) + EDGE
        self.viewport().update(0, above, self.viewport().width(), below - above)

    def _visible(self) -> range:
        """The indices of the pieces that are visible."""
        pieces, y = self._pieces, self.offset
        first = pieces.index_at_y(y)
        return range(first, pieces.index_at_y(y + self.viewport().height()) + 1)

    def _lines_shown(self) -> dict[Piece, list[Line]]:
        """The lines of the visible pieces."""
        pieces = self._pieces.pieces
        return {pieces[index]: pieces[index].lines or [] for index in self._visible()}

    def _paint_other_lines(self, before: dict[Piece, list[Line]]) -> None:
        """Paint the visible lines again that were not shown `before`."""
        pieces, offset = self._pieces, self.offset
        for index in self._visible():
            piece = pieces.pieces[index]
            old_lines = before.get(piece, [])
            if piece.lines is old_lines:
                continue
            known, y = set(map(id, old_lines)), pieces.tops[index] - offset
            for line in pieces.ensure(index).placed:
                if id(line) not in known:
                    self._update(y, line.above, line.top + line.pitch)


def differing(
    before: Marked, after: Marked, range_of: Callable[[Name], Range | None]
) -> list[Range] | None:
    """The ranges in which two sets of marks differ; None for the whole text."""
    if before.found is not after.found or before.lit != after.lit:
        return None
    changed = []
    if before.selection != after.selection:
        changed += [pair for pair in (before.selection, after.selection) if pair is not None]
    if before.hint != after.hint:
        changed += [pair for pair in (before.hint, after.hint) if pair is not None]
    if before.caret != after.caret:
        changed += [
            (number, number) for number in (before.caret, after.caret) if number is not None
        ]
    for name, other in ((before.chosen, after.chosen), (before.linked, after.linked)):
        if name != other:
            ranges = (range_of(pair) for pair in (name, other) if pair is not None)
            changed += [range_ for range_ in ranges if range_ is not None]
    return changed


def _named(marked: Marked) -> tuple[Name | None, Name | None]:
    return marked.chosen, marked.linked


def parts(region: QRegion) -> list[QRectF]:
    """The rectangles of a region, of which none touches another; one if they are many."""
    rects: list[QRect] = [QRect(item) for item in region]  # type: ignore[attr-defined]  # iterable
    if len(rects) > MOST_PARTS:
        rects = [region.boundingRect()]
    return [QRectF(rect) for rect in rects]
