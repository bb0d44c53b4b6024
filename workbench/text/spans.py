"""Span algebra: order, overlap, nesting, crossing, flattening."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

TEXT = "text"  # the name of the first text of a document
# Which spans of a set may overlap: only nested ones, none, or all.
NESTED, FLAT, ANY = ("nested", "flat", "any")

Place = tuple[str, int, int, str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Code points [start, end) of one text of a document. Zero length is allowed.

    `parts` are the ranges of a discontinuous span, ascending and without overlaps, from `start` to
    `end`; () for a span in one piece. `chain` is the number of its chain in a layer of chains.
    """

    start: int
    end: int
    label: str
    field: str = TEXT
    score: float | None = None
    id: int | None = None
    parts: tuple[tuple[int, int], ...] = ()
    chain: int | None = None

    @property
    def place(self) -> Place:
        """What tells the span from the others of its layer."""
        return self.field, self.start, self.end, self.label, self.parts

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranges that the span covers: its parts, or all of it."""
        return self.parts or ((self.start, self.end),)


def overlap(span: Span, other: Span) -> bool:
    """Whether two spans share a character of the same text."""
    return span.field == other.field and span.start < other.end and other.start < span.end


def nested(inner: Span, outer: Span) -> bool:
    """Whether `inner` lies within `outer`; equal boundaries count."""
    return inner.field == outer.field and outer.start <= inner.start and inner.end <= outer.end


def crossing(span: Span, other: Span) -> bool:
    return overlap(span, other) and not nested(span, other) and not nested(other, span)


def highest_ends(spans: Iterable[Span]) -> list[int]:
    """For spans sorted by start: the highest end up to each, ascending even if spans are nested.

    The spans before `bisect_right(ends, place)` end at or before a place.
    """
    return list(accumulate((span.end for span in spans), max))


def chains_of(spans: Iterable[Span]) -> tuple[tuple[Span, ...], ...]:
    """The spans of each chain, in order; one without a chain is a chain of its own."""
    chains: dict[object, list[Span]] = {}
    for at, span in enumerate(spans):
        chains.setdefault((at,) if span.chain is None else span.chain, []).append(span)
    return tuple(map(tuple, chains.values()))


def flatten(spans: Iterable[Span]) -> tuple[tuple[Span, ...], int]:
    """Flat spans in text order, and how many were left out.

    Of overlapping spans the longest is kept, the earliest on a tie. Zero-length spans are left out.
    """
    all_spans = list(spans)
    rows: dict[
        str, list[Span]
    ] = {}  # by text, sorted and without overlaps, so only the neighbours can conflict
    for span in sorted(all_spans, key=lambda s: (s.start - s.end, s.start, s.label)):
        row = rows.setdefault(span.field, [])
        place = bisect_left(row, span.start, key=lambda other: other.start)
        near = row[max(0, place - 1) : place + 1]
        if span.start < span.end and not any(overlap(span, other) for other in near):
            row.insert(place, span)
    flat = tuple(span for field in sorted(rows) for span in rows[field])
    return flat, len(all_spans) - len(flat)


def joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges in order, without overlaps; those that touch are joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)
