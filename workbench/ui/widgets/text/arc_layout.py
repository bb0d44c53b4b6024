"""Layout of the relations above a text line: legs, levels, and arcs that continue on other lines.

An arc has a leg over each of its spans. If both start on the line, a horizontal joins the legs;
else the horizontal runs to the edge of the line, and the arc returns on the line of the other span.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_LEVELS = 5  # drawn above a line; the list has all
_STEP = 10.0  # between the legs over a span, pixels
_INSET = 4.0  # of the outermost leg from the end of its span
_APART = 3.0  # least distance between horizontals on a level

RELATION = "relation"

Range = tuple[int, int]
Run = tuple[float, float]


class TextArc(NamedTuple):
    """A relation to show, between two spans of one text, in code points [start, end).

    `tint` is an argument of `theme.label_colours`; `directed` draws an arrow at the end. `names`
    are the names of both spans; `allowed`: the rules of the layer allow it; `kind`: RELATION,
    SUGGESTED or PREDICTED; `short`: the label where there is no room for all of it.
    """

    from_span: Range
    to_span: Range
    label: str
    tint: int | str
    id: int
    directed: bool = True
    names: tuple[tuple[str, int], ...] = ()
    allowed: bool = True
    kind: str = RELATION
    short: str = ""

    @property
    def dashed(self) -> bool:
        return self.kind != RELATION

    @property
    def name(self) -> tuple[str, int]:
        """Identifies the relation across changes."""
        return self.kind, self.id


class ArcIndex:
    """The arcs of a text, by the starts of their spans."""

    def __init__(self) -> None:
        self._ends: list[tuple[int, TextArc]] = []

    def __bool__(self) -> bool:
        return bool(self._ends)

    def exchange(self, gone: Iterable[TextArc], new: Iterable[TextArc]) -> None:
        """Remove some arcs and add others."""
        for arc in gone:
            for place in starts(arc):
                del self._ends[bisect_left(self._ends, (place, arc))]
        for arc in new:
            for place in starts(arc):
                insort(self._ends, (place, arc))

    def between(self, start: int, end: int) -> list[TextArc]:
        """Arcs with a span that starts in [start, end), each once."""
        first, last = (bisect_left(self._ends, (place,)) for place in (start, end))
        return list(dict.fromkeys(arc for _place, arc in self._ends[first:last]))


def starts(arc: TextArc) -> set[int]:
    """Where its spans start."""
    return {arc.from_span[0], arc.to_span[0]}


class Seat(NamedTuple):
    """Where the spans of an arc are on a line: left and right edge in pixels.

    A span that starts on another line is None, and then `on_right` tells at which edge of the line
    the arc leaves.
    """

    arc: TextArc
    from_run: Run | None
    to_run: Run | None
    on_right: bool = True


@dataclass(slots=True)
class LineArc:
    """The part of an arc on a line. `from_x` and `to_x` are its legs, None on another line.

    The horizontal goes from `left` to `right`, at `level`, 0 next to the text.
    """

    arc: TextArc
    left: float
    right: float
    from_x: float | None
    to_x: float | None
    level: int = 0


def line_arcs(seats: Sequence[Seat], width: float) -> list[LineArc]:
    """The arcs of a line of `width` pixels, with legs and levels, short ones first."""
    legs = _legs(seats, width)
    arcs_here = []
    for number, seat in enumerate(seats):
        from_x, to_x = legs.get((number, 0)), legs.get((number, 1))
        edge = width if seat.on_right else 0.0
        ends = [edge if x is None else x for x in (from_x, to_x)]
        arcs_here.append(LineArc(seat.arc, min(ends), max(ends), from_x, to_x))
    arcs_here.sort(key=lambda arc: (arc.right - arc.left, arc.arc.id))
    give_levels(arcs_here)
    return arcs_here


def give_levels(arcs: Sequence[LineArc]) -> None:
    """Give each arc the lowest level at which it overlaps no other; the given order goes first."""
    taken: list[list[Run]] = []
    for arc in arcs:
        level = next(
            (
                number
                for number, runs in enumerate(taken)
                if all(arc.right + _APART <= a or b + _APART <= arc.left for a, b in runs)
            ),
            len(taken),
        )
        if level == len(taken):
            taken.append([])
        taken[level].append((arc.left, arc.right))
        arc.level = level


def levels(arcs: Sequence[LineArc]) -> int:
    """Number of levels above the line, at most `MOST_LEVELS`."""
    return min(MOST_LEVELS, 1 + max((arc.level for arc in arcs), default=-1))


def _legs(seats: Sequence[Seat], width: float) -> dict[tuple[int, int], float]:
    """(number of the seat, 0 for its first and 1 for its second span) → x of the leg.

    The legs over a span do not cross: those of arcs to the left stand left of the others, and of
    arcs to one side the longest is the innermost.
    """
    over: dict[Run, list[tuple[bool, float, int, int]]] = {}
    for number, seat in enumerate(seats):
        runs = seat.from_run, seat.to_run
        edge = width if seat.on_right else 0.0
        for side, run in enumerate(runs):
            if run is not None:
                other = runs[1 - side]
                to = (other[0] + other[1]) / 2 if other else edge
                way = to - (run[0] + run[1]) / 2
                over.setdefault(run, []).append((way >= 0, -way, number, side))
    legs = {}
    for run, those in over.items():
        room = max(0.0, run[1] - run[0] - 2 * _INSET)
        step = min(_STEP, room / max(1, len(those) - 1))
        first = (run[0] + run[1]) / 2 - step * (len(those) - 1) / 2
        for place, (_right, _way, number, side) in enumerate(sorted(those)):
            legs[number, side] = first + place * step
    return legs
