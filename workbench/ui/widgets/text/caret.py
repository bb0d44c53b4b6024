"""Caret movement. Steps are graphemes as drawn by Qt; positions are code points."""

from __future__ import annotations

from workbench.ui.widgets.text.piece import Line
from workbench.ui.widgets.text.pieces import Pieces


def following(pieces: Pieces, position: int) -> int:
    """The next grapheme boundary; a line break is one step."""
    place = pieces.text.legal(position)
    paragraph = pieces.text.paragraph_at(place)
    if place >= pieces.text.ends[paragraph]:
        return (
            pieces.text.starts[paragraph + 1] if paragraph + 1 < len(pieces.text.starts) else place
        )
    index, _ = pieces.locate(place)
    piece = pieces.pieces[index]
    return pieces.position(
        index, piece.shaped.nextCursorPosition(piece.point_map.to_units(place - piece.start))
    )


def previous(pieces: Pieces, position: int) -> int:
    place = pieces.text.legal(position)
    paragraph = pieces.text.paragraph_at(place)
    if place <= pieces.text.starts[paragraph]:
        return pieces.text.ends[paragraph - 1] if paragraph else place
    index, _ = pieces.locate(place)
    if place == pieces.pieces[index].start:
        index, _ = pieces.locate(place - 1)
    piece = pieces.pieces[index]
    return pieces.position(
        index, piece.shaped.previousCursorPosition(piece.point_map.to_units(place - piece.start))
    )


def left(pieces: Pieces, position: int) -> int:
    """One grapheme to the left visually; at the left edge, the neighbour in reading order."""
    return _visual(pieces, position, to_left=True)


def right(pieces: Pieces, position: int) -> int:
    return _visual(pieces, position, to_left=False)


def _visual(pieces: Pieces, position: int, *, to_left: bool) -> int:
    place = pieces.text.legal(position)
    index, _ = pieces.locate(place)
    piece = pieces.pieces[index]
    rtl = pieces.text.rtl(piece.paragraph)
    if not piece.mixed:
        return previous(pieces, place) if to_left else following(pieces, place)
    unit = piece.point_map.to_units(place - piece.start)
    moved = (
        piece.shaped.leftCursorPosition(unit) if to_left else piece.shaped.rightCursorPosition(unit)
    )
    there = pieces.position(index, moved)
    if moved != unit and there <= piece.end:
        return there
    return following(pieces, place) if to_left == rtl else previous(pieces, place)


def line_start(pieces: Pieces, position: int) -> int:
    index, line = pieces.locate(position)
    return pieces.position(index, line.first)


def line_end(pieces: Pieces, position: int) -> int:
    """The last position on the line; at a wrap, before the trailing space."""
    index, line = pieces.locate(position)
    return _last_on(pieces, index, line)


def _last_on(pieces: Pieces, index: int, line: Line) -> int:
    piece = pieces.pieces[index]
    end = pieces.position(index, line.after)
    if end == pieces.text.ends[piece.paragraph]:
        return end
    return pieces.position(index, piece.shaped.previousCursorPosition(line.after))


def at_x(pieces: Pieces, index: int, line: Line, x: float) -> int:
    """The position on a line closest to an x coordinate."""
    piece = pieces.pieces[index]
    unit = line.line.xToCursor(x)
    if unit >= line.after:
        return _last_on(pieces, index, line)
    if not piece.shaped.isValidCursorPosition(unit):
        unit = piece.shaped.previousCursorPosition(unit)
    return pieces.position(index, max(unit, line.first))


def vertical(pieces: Pieces, position: int, lines: int, x: float) -> int:
    """`lines` down (negative: up), at pixel `x`; beyond the ends, to the text's edge."""
    index, line = pieces.locate(position)
    place = pieces.pieces[index].placed.index(line) + lines
    while place < 0:
        if index == 0:
            return 0
        index, _ = pieces.locate(pieces.text.legal(pieces.pieces[index].start - 1))
        place += len(pieces.ensure(index).placed)
    while place >= len(pieces.pieces[index].placed):
        place -= len(pieces.pieces[index].placed)
        if index + 1 >= len(pieces.pieces):
            return len(pieces.text)
        index += 1
        pieces.ensure(index)
    return at_x(pieces, index, pieces.pieces[index].placed[place], x)


def page(pieces: Pieces, position: int, height: float, x: float) -> int:
    """About `height` pixels down (negative: up)."""
    index, line = pieces.locate(position)
    y = pieces.tops[index] + line.top + height
    if y < 0:
        return 0
    if y >= pieces.height:
        return len(pieces.text)
    index, line = pieces.line_at_y(y)
    return at_x(pieces, index, line, x)
