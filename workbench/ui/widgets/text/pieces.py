"""A text divided into pieces that are shaped on demand.

A piece is a paragraph, or a part of a long one that ends at a wrapped line, so that a text of any
length without line breaks costs no more than its visible part. Heights of pieces not yet shaped are
estimates; `settle` replaces them by exact ones step by step. A jump into an unshaped part starts at
a guessed line; when shaping from the front arrives there, the true lines replace the guess
("chained" pieces are known to start at a line).
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextLine, QTextOption

from workbench.ui.widgets.text.arc_layout import ArcIndex, LineArc, Seat, levels, line_arcs
from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map, has_rtl
from workbench.ui.widgets.text.piece import Line, Measures, Piece
from workbench.ui.widgets.text.span_layout import (
    SpanIndex,
    UnitRange,
    cursor_x,
    line_items,
    reading_order,
    starts_rtl,
    units_on,
    visual_runs,
)

CHUNK = 1500  # code points shaped at a time: about half a screen
KEPT = 80_000  # code points whose shaping is cached
_OUT_OF_SIGHT = -1e7
_OVER_TEXT = 4  # between the legs of relations and the text


class Pieces:
    """The pieces of one text for given measures. Positions are code points, heights pixels."""

    def __init__(
        self,
        text: DisplayText,
        measures: Measures,
        spans: SpanIndex,
        *,
        arcs: ArcIndex | None = None,
    ):
        self.text, self.measures, self.spans = text, measures, spans
        self.arcs = arcs if arcs is not None else ArcIndex()
        metrics = QFontMetricsF(measures.font)
        self._characters = max(1.0, measures.width / max(1.0, metrics.averageCharWidth() * 1.02))
        self.pitch = metrics.lineSpacing() + measures.lead + measures.least_lanes * measures.lane
        self.pieces = [
            Piece(i, a, b, True)
            for i, (a, b) in enumerate(zip(text.starts, text.ends, strict=True))
        ]
        self._starts = [piece.start for piece in self.pieces]
        self._heights = [self._estimate(piece) for piece in self.pieces]
        self._tops: list[float] | None = None
        self._frontier = 0
        self._kept: dict[Piece, None] = {}
        self._kept_size = 0

    # ------------------------------------------------------------ heights

    def _estimate(self, piece: Piece) -> float:
        lines = max(1, -(-(piece.end - piece.start) // max(1, int(self._characters))))
        return lines * self.pitch + (self.measures.paragraph if self._closes(piece) else 0)

    def _closes(self, piece: Piece) -> bool:
        """Whether the piece is the last of its paragraph."""
        return piece.end == self.text.ends[piece.paragraph]

    @property
    def tops(self) -> list[float]:
        """The top of each piece, and the total height as the last entry."""
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0.0))
        return self._tops

    @property
    def height(self) -> float:
        return self.tops[-1]

    def index_at(self, position: int) -> int:
        return max(0, bisect_right(self._starts, position) - 1)

    def index_at_y(self, y: float) -> int:
        return min(len(self.pieces) - 1, max(0, bisect_right(self.tops, y) - 1))

    def settled(self, index: int) -> bool:
        return self.pieces[index].true_height is not None

    def height_of(self, index: int) -> float:
        return self._heights[index]

    def _set_height(self, index: int, height: float) -> None:
        if self._heights[index] != height:
            self._heights[index] = height
            self._tops = None

    # ------------------------------------------------------------ shaping

    def ensure(self, index: int) -> Piece:
        """Shape the piece at `index` and place its lines; a long one is split."""
        piece = self.pieces[index]
        if piece.true_height is None:
            piece = self._advance(index)
        elif piece.layout is None:
            piece.layout, piece.units, _ = self._shape(piece.paragraph, piece.start, piece.end)
            piece.mixed = has_rtl(self.text.shown[piece.start : piece.end])
            piece.lines = None
        if piece.lines is None or piece.stale:
            self._place(index)
        self._keep(piece)
        return piece

    def _shape(
        self, paragraph: int, start: int, end: int
    ) -> tuple[QTextLayout, Utf16Map, list[QTextLine]]:
        text = self.text.shown[start:end]
        layout = QTextLayout(text, self.measures.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(QFontMetricsF(self.measures.font).horizontalAdvance(" ") * 8)
        rtl = self.text.rtl(
            paragraph
        )  # a direction of "auto" would align short lines on the wrong side
        side = Qt.AlignmentFlag.AlignRight if rtl else Qt.AlignmentFlag.AlignLeft
        option.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
        option.setTextDirection(
            Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        )
        layout.setTextOption(option)
        layout.setCacheEnabled(True)
        layout.beginLayout()
        lines = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.measures.width)
            lines.append(line)
        layout.endLayout()
        return layout, Utf16Map(text), lines

    def _advance(self, index: int) -> Piece:
        """Shape the start of an unshaped part, up to the last wrapped line that is independent of
        the rest.
        """
        piece, size = self.pieces[index], CHUNK
        paragraph_end = self.text.ends[piece.paragraph]
        while True:
            end = min(piece.start + size, paragraph_end)
            layout, units, lines = self._shape(piece.paragraph, piece.start, end)
            if end == paragraph_end:
                cut = end
                break
            if len(lines) > 2:
                last = lines.pop()  # it continues with the text that follows
                cut = piece.start + units.to_point(last.textStart())
                # painting is clipped to the visible part
                last.setPosition(QPointF(0, _OUT_OF_SIGHT))
                break
            size *= 2
        front = Piece(piece.paragraph, piece.start, cut, piece.chained, 0.0, False, layout, units)
        front.mixed = has_rtl(self.text.shown[front.start : front.end])
        self._replace(index, front)
        return front

    def _replace(self, index: int, front: Piece) -> None:
        """Replace the start of the piece at `index` by `front`; following pieces are removed or
        cut.
        """
        after = index + 1
        rest_end = self.pieces[index].end
        while rest_end < front.end:
            rest_end = self.pieces[after].end
            after += 1
        for gone in self.pieces[index:after]:
            self._drop(gone)
        new = [front]
        if rest_end > front.end:
            new.append(Piece(front.paragraph, front.end, rest_end, front.chained))
        elif after < len(self.pieces) and self._same(after, front) and front.chained:
            self.pieces[after].chained = True
        self.pieces[index:after] = new
        self._starts[index:after] = [piece.start for piece in new]
        self._heights[index:after] = [self._estimate(piece) for piece in new]
        self._tops = None
        self._frontier = min(self._frontier, index)

    def _same(self, index: int, other: Piece) -> bool:
        return self.pieces[index].paragraph == other.paragraph

    def split(self, index: int, position: int) -> int:
        """Start a new piece at a guessed line near `position` in an unshaped part; returns its
        index.
        """
        piece = self.pieces[index]
        cut = self._word_start(position, piece.start)
        if cut <= piece.start:
            return index
        new = [
            Piece(piece.paragraph, piece.start, cut, piece.chained),
            Piece(piece.paragraph, cut, piece.end, False),
        ]
        self.pieces[index : index + 1] = new
        self._starts[index : index + 1] = [piece.start for piece in new]
        self._heights[index : index + 1] = [self._estimate(piece) for piece in new]
        self._tops = None
        self._frontier = min(self._frontier, index)
        return index + 1

    def _word_start(self, position: int, least: int) -> int:
        """The start of the word at `position`; in a text without spaces, a nearby character
        boundary.
        """
        text = self.text.shown
        for at in range(position, max(least, position - 80), -1):
            if text[at - 1] == " ":
                return at
        window = max(least, position - 40)
        layout = QTextLayout(text[window:position], self.measures.font)
        units = Utf16Map(text[window:position])
        return window + units.to_point(layout.previousCursorPosition(units.units))

    # ------------------------------------------------------------ lines and lanes

    def _place(self, index: int) -> None:
        """Assign lanes and positions to each line of a shaped piece, without shaping.

        Lines with the same spans at the same height stay the same objects.
        """
        piece, measures = self.pieces[index], self.measures
        spans, before = self._units(piece), piece.lines or []
        y, lines = 0.0, []
        count = piece.shaped.lineCount()
        for number in range(count):
            known = before[number] if number < len(before) else None
            line = known.line if known is not None else piece.shaped.lineAt(number)
            first = known.first if known is not None else line.textStart()
            if piece.start + piece.point_map.to_point(first) >= piece.end and number:
                break  # the line behind the cut
            last = number == count - 1 and self._closes(piece)
            lines.append(self._line(piece, line, known, spans, y, last=last))
            y = lines[-1].top + lines[-1].pitch
        piece.lines, piece.stale = lines, False
        piece.true_height = y + (measures.paragraph if self._closes(piece) else 0)
        self._set_height(index, piece.true_height)

    def _line(
        self,
        piece: Piece,
        line: QTextLine,
        known: Line | None,
        spans: list[UnitRange],
        y: float,
        *,
        last: bool,
    ) -> Line:
        """A line at `y`. `known`: as it was placed before; `last`: the paragraph ends with it."""
        measures = self.measures
        first = known.first if known is not None else line.textStart()
        after = known.after if known is not None else first + line.textLength()
        here = units_on(spans, first, after, last=last)
        arcs = self._arcs(piece, line, last=last)
        if known is not None and known.shows([units.span for units in here]):
            if known.top == y and not arcs and not known.arcs:
                return known
            items = known.items
        else:
            items = line_items(line, here, mixed=piece.mixed, width=measures.width)
        lanes = max(measures.least_lanes, 1 + max((item.lane for item in items), default=-1))
        head = levels(arcs) * measures.level + (_OVER_TEXT if arcs else 0)
        line.setPosition(QPointF(0, y + head))
        height = line.height()
        pitch = height + measures.lead + lanes * measures.lane
        return Line(line, y + head, height, pitch, first, after, items, arcs, head)

    def _arcs(self, piece: Piece, line: QTextLine, *, last: bool) -> list[LineArc]:
        """The relations of spans that start on a line. `last`: the paragraph ends with it."""
        if not self.arcs:
            return []
        to_point = piece.point_map.to_point
        first = piece.start + to_point(line.textStart())
        after = piece.start + to_point(line.textStart() + line.textLength()) + int(last)
        arcs = self.arcs.between(first, after)
        if not arcs:
            return []
        rtl = self.text.rtl(piece.paragraph)
        seats = []
        for arc in arcs:
            pair, other = (self._run(piece, line, span, first, after) for span in arc[:2])
            on = arc.to_span if pair is not None else arc.from_span
            seats.append(Seat(arc, pair, other, (on[0] >= after) != rtl))
        return line_arcs(seats, self.measures.width)

    def _run(
        self, piece: Piece, line: QTextLine, span: tuple[int, int], first: int, after: int
    ) -> tuple[float, float] | None:
        """The edges of a span on the line on which it starts, in pixels."""
        if not first <= span[0] < after:
            return None
        start, end = (
            piece.point_map.to_units(min(place, piece.end) - piece.start) for place in span
        )
        end = min(end, line.textStart() + line.textLength())
        runs = visual_runs(line, start, max(start, end), mixed=piece.mixed)
        return runs[-1] if self.text.rtl(piece.paragraph) else runs[0]

    def _units(self, piece: Piece) -> list[UnitRange]:
        units, to_units = [], piece.point_map.to_units
        for span in sorted(self.spans.touching(piece.start, piece.end), key=reading_order):
            start, end = max(span.start, piece.start), min(span.end, piece.end)
            rtl = piece.mixed and starts_rtl(self.text.text[span.start : span.start + 80])
            units.append(
                UnitRange(
                    span,
                    to_units(start - piece.start),
                    to_units(max(start, end) - piece.start),
                    span.start >= piece.start,
                    rtl,
                    tuple(
                        (
                            to_units(max(a, piece.start) - piece.start),
                            to_units(max(min(b, piece.end), piece.start) - piece.start),
                        )
                        for a, b in span.parts
                        if a < piece.end and b > piece.start
                    ),
                )
            )
        return units

    def respan(self, spans: SpanIndex, changed: list[tuple[int, int]]) -> None:
        """Set other spans; lines in the `changed` ranges are placed again when next needed.

        The same holds for relations, which are changed in `arcs`.
        """
        self.spans = spans
        for start, end in changed:
            index = self.index_at(start)
            if index and start == self.pieces[index].start:
                index -= 1  # an empty span may be at the end of the piece before
            while index < len(self.pieces) and self.pieces[index].start <= end:
                self.pieces[index].stale = True
                self._frontier = min(self._frontier, index)
                index += 1

    # ------------------------------------------------------------ memory, settling, finding

    def _keep(self, piece: Piece) -> None:
        if piece in self._kept:
            del self._kept[piece]
        else:
            self._kept_size += piece.end - piece.start
        self._kept[piece] = None
        while self._kept_size > KEPT and len(self._kept) > 40:
            self._drop(next(iter(self._kept)))

    def _drop(self, piece: Piece) -> None:
        if piece in self._kept:
            del self._kept[piece]
            self._kept_size -= piece.end - piece.start
        piece.layout = piece.lines = piece.units = None

    @property
    def is_settled(self) -> bool:
        """Whether all heights are exact."""
        return self._frontier >= len(self.pieces)

    def settle(self) -> bool:
        """Compute one more exact height, from the front. Returns False when all are exact."""
        while self._frontier < len(self.pieces):
            index = self._frontier
            piece = self.pieces[index]
            if piece.true_height is not None and not piece.stale:
                piece.chained = True  # the piece before it ends at a true line, where it starts
                self._frontier += 1
                continue
            self.ensure(index)
            return True
        return False

    def locate(self, position: int) -> tuple[int, Line]:
        """The piece and line that contain a position, shaped. At a wrap, the later line."""
        position = self.text.legal(position)
        index = self.index_at(position)
        while not self.settled(index):
            piece = self.pieces[index]
            if (
                position - piece.start > 2 * CHUNK
                and self.split(index, max(piece.start, position - CHUNK // 3)) == index
            ) or position - piece.start <= 2 * CHUNK:
                self.ensure(index)
            index = self.index_at(position)
        piece = self.ensure(index)
        unit = piece.point_map.to_units(position - piece.start)
        for line in reversed(piece.placed):
            if unit >= line.first:
                return index, line
        return index, piece.placed[0]

    def line_at_y(self, y: float) -> tuple[int, Line]:
        """The piece and line at a height, shaped; beyond the ends, the first or last line.

        In an unshaped part the line is estimated from the relative height; shaping changes heights.
        """
        index = self.index_at_y(y)
        if not self.settled(index):
            piece = self.pieces[index]
            share = min(1.0, max(0.0, (y - self.tops[index]) / max(1.0, self._heights[index])))
            return self.locate(piece.start + int(share * (piece.end - piece.start)))
        piece = self.ensure(index)
        offset = y - self.tops[index]
        for line in reversed(piece.placed):
            if offset >= line.above:
                return index, line
        return index, piece.placed[0]

    def position(self, index: int, unit: int) -> int:
        """The code point of a UTF-16 unit of a shaped piece."""
        piece = self.pieces[index]
        return piece.start + piece.point_map.to_point(unit)

    def x_of(self, position: int) -> tuple[int, Line, float]:
        """The piece, line and x coordinate of a caret."""
        index, line = self.locate(position)
        piece = self.pieces[index]
        return (
            index,
            line,
            cursor_x(line.line, piece.point_map.to_units(self.text.legal(position) - piece.start)),
        )
