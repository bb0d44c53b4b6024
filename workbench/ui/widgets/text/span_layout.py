"""Layout of the spans of a text line: visual runs, lanes, backgrounds, room for captions."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeVar, cast

from PySide6.QtGui import QTextLine

from workbench.ui.style import formats

GOLD, SUGGESTED, PREDICTED = "gold", "suggested", "predicted"
_ORDER = {GOLD: 0, SUGGESTED: 1, PREDICTED: 2}
APART = 3.0  # between a caption and the next span of its lane, pixels
TICK = 3.0  # width of an empty span in pixels

T = TypeVar("T")
Run = tuple[float, float]  # left and right edge in the line, pixels


class TextSpan(NamedTuple):
    """A span to show. Code points [start, end).

    `tint` is an argument of `theme.label_colours`: a position or "#RRGGBB". `kind` is GOLD (solid),
    SUGGESTED (dashed, with score and "?") or PREDICTED (dotted, beside gold). `id` is unique per
    kind; `note` follows the caption.
    """

    start: int
    end: int
    label: str
    tint: int | str
    id: int = 0
    kind: str = GOLD
    score: float | None = None
    note: str = ""
    least_lane: int = 0  # the first lane below the text that it may use
    parts: tuple[tuple[int, int], ...] = ()  # of a discontinuous span

    @property
    def name(self) -> tuple[str, int]:
        """Identifies the span across changes."""
        return self.kind, self.id

    @property
    def caption(self) -> str:
        score = (
            ""
            if self.score is None or self.kind == GOLD
            else f" · {formats.decimal(self.score, 2)}"
        )
        return (
            self.label
            + score
            + {SUGGESTED: " ?", PREDICTED: ""}.get(self.kind, "")
            + (f" · {self.note}" if self.note else "")
        )


def reading_order(span: TextSpan) -> tuple[object, ...]:
    """Sort key: earlier start first, then longer; gold before suggestions and predictions."""
    return _ORDER[span.kind], span.start, -span.end, span.label, span.id


@dataclass(slots=True)
class SpanSegment:
    """The part of a span on one line, in pixels of the line.

    `runs` are its visual pieces, left to right.
    """

    span: TextSpan
    lane: int
    runs: tuple[Run, ...]
    first: bool  # the span starts on this line, so its caption is here
    rtl: bool  # right-to-left: the caption is aligned to the right edge
    ground: tuple[Run, ...] = ()
    room: Run = (0.0, 0.0)  # width available to the caption
    caption_width: float = 0.0  # its width when painted
    gaps: tuple[Run, ...] = ()  # between the parts of a discontinuous span

    @property
    def caption_box(self) -> Run:
        left, right = self.room
        return (
            (right - self.caption_width, right) if self.rtl else (left, left + self.caption_width)
        )


@dataclass(slots=True)
class UnitRange:
    """A span in UTF-16 units of a piece, [start, end); `whole` may start before the piece."""

    span: TextSpan
    start: int
    end: int
    begins: bool
    rtl: bool = False
    parts: tuple[tuple[int, int], ...] = ()  # of a discontinuous span

    def on(self, first: int, after: int) -> list[tuple[int, int]]:
        """The ranges of the units on a line of units [first, after)."""
        ranges = self.parts or ((self.start, self.end),)
        cut = [(max(start, first), min(end, after)) for start, end in ranges]
        return [(start, end) for start, end in cut if start < end] or [
            (max(self.start, first), min(self.end, after))
        ]


class SpanIndex:
    """The spans of a text, sorted by start, with fast lookup of spans that touch [a, b)."""

    def __init__(self, spans: Iterable[TextSpan] = ()):
        self.spans = sorted(spans)
        self._starts = [span.start for span in self.spans]
        self._ends = [span.end for span in self.spans]
        self._reach = list(accumulate(self._ends, max))

    def exchange(self, gone: Iterable[TextSpan], new: Iterable[TextSpan]) -> None:
        """Remove some spans and insert others."""
        for span in gone:
            at = bisect_left(self.spans, span)
            del self.spans[at], self._starts[at], self._ends[at], self._reach[at]
            self._extend(at, at)
        for span in new:
            at = bisect_right(self.spans, span)
            self.spans.insert(at, span)
            self._starts.insert(at, span.start)
            self._ends.insert(at, span.end)
            self._reach.insert(at, span.end)
            self._extend(at, at + 1)

    def _extend(self, first: int, after: int) -> None:
        """Correct `_reach` from `first` on; from `after` on, up to where it was right already."""
        reach, ends = self._reach, self._ends
        most = reach[first - 1] if first else 0
        for at in range(first, len(ends)):
            most = max(most, ends[at])
            if reach[at] == most and at >= after:
                break
            reach[at] = most

    def touching(self, start: int, end: int) -> list[TextSpan]:
        """Spans that share a character with [start, end), and empty ones in [start, end]."""
        spans = []
        for at in range(bisect_right(self._starts, end) - 1, -1, -1):
            if self._reach[at] < start:
                break
            span = self.spans[at]
            if (span.start < end and span.end > start) or (
                span.start == span.end and start <= span.start <= end
            ):
                spans.append(span)
        return spans[::-1]

    def at(self, position: int) -> list[TextSpan]:
        """Spans over the character at `position`, shortest first; gold first among equals."""
        spans = [
            span
            for span in self.touching(position, position + 1)
            if span.start <= position < max(span.end, span.start + 1)
        ]
        return sorted(spans, key=lambda span: (span.end - span.start, *reading_order(span)))


def compared(current: dict[int, T], items: Iterable[T]) -> tuple[dict[int, T], set[T], set[T]]:
    """What is given by identity, and what is gone and has come with it.

    Unchanged objects that are given again keep this cheap.
    """
    new = {id(item): item for item in items}
    gone = {current[key] for key in current.keys() - new.keys()}
    come = {new[key] for key in new.keys() - current.keys()}
    return new, gone - come, come - gone


def visual_runs(line: QTextLine, start: int, end: int, *, mixed: bool) -> tuple[Run, ...]:
    """Visual pieces of UTF-16 units [start, end) of a line; several if directions mix (`mixed`)."""
    if start >= end:
        x = _x(line, start)
        return ((x - TICK / 2, x + TICK / 2),)
    if not mixed:
        value, other = _x(line, start), _x(line, end)
        return ((min(value, other), max(value, other)),)
    boxes = sorted(
        (box.left(), box.right())
        for box in (run.boundingRect() for run in line.glyphRuns(start, end - start))
    )
    if not boxes:
        return visual_runs(line, start, end, mixed=False)
    merged = [boxes[0]]
    for left, right in boxes[1:]:
        if left <= merged[-1][1] + 1.5:
            merged[-1] = (merged[-1][0], max(right, merged[-1][1]))
        else:
            merged.append((left, right))
    return tuple(merged)


def _within(runs: tuple[Run, ...], edges: Run) -> tuple[Run, ...]:
    """The runs clipped to the edges; unchanged if nothing would be left."""
    cut = tuple(
        (max(left, edges[0]), min(right, edges[1]))
        for left, right in runs
        if left < edges[1] and right > edges[0]
    )
    return cut or runs


def cursor_x(line: QTextLine, unit: int) -> float:
    """The x coordinate of a UTF-16 unit on the line, in pixels."""
    x, _unit = cast(tuple[float, int], line.cursorToX(unit))
    return x


def _x(line: QTextLine, unit: int) -> float:
    return cursor_x(line, unit)


def assign_lanes(ranges: Sequence[tuple[int, int]], least: Sequence[int] = ()) -> list[int]:
    """The lane of each [start, end) in the given order: the first without overlap.

    `least` is the first lane that each may use, 0 by default.
    """
    taken: list[list[tuple[int, int]]] = []
    lanes = []
    for (start, end), first in zip(ranges, least or [0] * len(ranges), strict=True):
        end = max(end, start + 1)
        while len(taken) < first:
            taken.append([])
        free = (
            lane
            for lane, others in enumerate(taken)
            if lane >= first and all(end <= left or right <= start for left, right in others)
        )
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((start, end))
        lanes.append(lane)
    return lanes


def units_on(spans: Sequence[UnitRange], first: int, after: int, *, last: bool) -> list[UnitRange]:
    """The spans on a line of UTF-16 units [first, after). `last`: the paragraph ends with it."""
    return [
        span
        for span in spans
        if (span.start < after and span.end > first)
        or (
            span.start == span.end
            and (first <= span.start < after or (last and span.start == after))
        )
    ]


def line_items(
    line: QTextLine, here: Sequence[UnitRange], *, mixed: bool, width: float
) -> list[SpanSegment]:
    """The spans on one line (`units_on`), in reading order, with lanes and positions."""
    if not here:
        return []
    first, after = line.textStart(), line.textStart() + line.textLength()
    parts = [(max(units.start, first), min(units.end, after)) for units in here]
    letters = line.naturalTextRect()  # without the trailing space at a wrap
    edges = letters.left() - TICK / 2, letters.right() + TICK / 2
    items, covered = [], first
    lanes = assign_lanes(parts, [units.span.least_lane for units in here])
    for units, (start, end), lane in zip(here, parts, lanes, strict=True):
        if units.parts:
            items.append(_parted(line, units, lane, (first, after), edges, mixed=mixed))
            continue
        runs = _within(visual_runs(line, start, end, mixed=mixed), edges)
        ground: tuple[Run, ...] = ()
        if units.span.kind == GOLD and end > covered:
            ground = (
                runs
                if start >= covered
                else _within(visual_runs(line, covered, end, mixed=mixed), edges)
            )
            covered = end
        items.append(
            SpanSegment(
                units.span, lane, runs, units.begins and units.start >= first, units.rtl, ground
            )
        )
    _give_room(items, width)
    return items


def _parted(
    line: QTextLine, units: UnitRange, lane: int, on: tuple[int, int], edges: Run, *, mixed: bool
) -> SpanSegment:
    """A discontinuous span on a line: its parts, and the gaps between them."""
    runs = sorted(
        run
        for start, end in units.on(*on)
        for run in _within(visual_runs(line, start, end, mixed=mixed), edges)
    )
    ground = tuple(runs) if units.span.kind == GOLD else ()
    gaps = tuple((a[1], b[0]) for a, b in zip(runs, runs[1:], strict=False) if a[1] < b[0])
    begins = units.begins and units.start >= on[0]
    return SpanSegment(units.span, lane, tuple(runs), begins, units.rtl, ground, gaps=gaps)


def starts_rtl(text: str) -> bool:
    """Whether a span's text is right-to-left at its start."""
    if text.isascii():
        return False
    for char in text[:80]:
        kind = unicodedata.bidirectional(char)
        if kind in ("L", "R", "AL", "AN", "EN"):
            return kind in ("R", "AL")
    return False


def _give_room(items: list[SpanSegment], width: float) -> None:
    """Let captions extend to the next span of their lane, or to the line's edge."""
    for item in items:
        if not item.first:
            continue
        left, right = item.runs[0][0], item.runs[-1][1]
        same = [
            (other.runs[0][0], other.runs[-1][1])
            for other in items
            if other is not item and other.lane == item.lane
        ]
        if item.rtl:
            before = (after + APART for _first, after in same if after <= right - 1)
            item.room = max(before, default=0.0), right
        else:
            behind = (first - APART for first, _after in same if first >= left + 1)
            item.room = left, min(behind, default=width)
