"""Differences of gold and predicted spans: agreed, missed, extra, wrong boundary, wrong label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from workbench.base import deprecation
from workbench.text.spans import Span, overlap

AGREED, MISSED, EXTRA, BOUNDARY, LABEL = KINDS = ("agreed", "missed", "extra", "border", "label")

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, BORDER="BOUNDARY")


@dataclass(frozen=True, slots=True)
class Difference:
    """`gold` is None for extra, `predicted` is None for missed spans; else the matched pair."""

    kind: str
    gold: Span | None
    predicted: Span | None


def compare(gold: Iterable[Span], predicted: Iterable[Span]) -> tuple[Difference, ...]:
    """Every span of both sides exactly once, in text order.

    Matched first: equal spans, then equal boundaries with another label, then overlapping spans of
    the same label (most shared characters first), then overlapping spans of another label, which
    count as wrong label. The rest is missed or extra.
    """
    ours, theirs = sorted(set(gold), key=_order), sorted(set(predicted), key=_order)
    meeting = _meeting(ours, theirs)
    left = set(ours), set(theirs)
    differences: list[Difference] = []
    for kind, fits in _RULES:
        candidates = [(g, p) for g, p in meeting if g in left[0] and p in left[1] and fits(g, p)]
        for g, p in sorted(
            candidates, key=lambda pair: (-_shared(*pair), _order(pair[0]), _order(pair[1]))
        ):
            if g in left[0] and p in left[1]:
                differences.append(Difference(kind, g, p))
                left[0].remove(g)
                left[1].remove(p)
    differences += [Difference(MISSED, g, None) for g in ours if g in left[0]] + [
        Difference(EXTRA, None, p) for p in theirs if p in left[1]
    ]
    # at least one side is set
    return tuple(
        sorted(differences, key=lambda item: _order(cast(Span, item.gold or item.predicted)))
    )


def _meeting(ours: Sequence[Span], theirs: Sequence[Span]) -> list[tuple[Span, Span]]:
    """Pairs with equal boundaries or a shared character; one pass over both sorted lists."""
    pairs: list[tuple[Span, Span]] = []
    open_ours: list[Span] = []  # spans that may overlap the current position
    open_theirs: list[Span] = []
    for span, mine in sorted(
        [(our, True) for our in ours] + [(their, False) for their in theirs],
        key=lambda item: _order(item[0]),
    ):
        across, beside = (open_theirs, open_ours) if mine else (open_ours, open_theirs)
        across[:] = [
            item
            for item in across
            if item.field == span.field and (item.end > span.start or _same_offsets(item, span))
        ]
        pairs += [
            (span, item) if mine else (item, span)
            for item in across
            if overlap(span, item) or _same_offsets(span, item)
        ]
        beside.append(span)
    return pairs


def _order(span: Span) -> tuple[str, int, int, str]:
    return span.field, span.start, span.end, span.label


def _same_offsets(span: Span, other: Span) -> bool:
    return (span.field, span.start, span.end) == (other.field, other.start, other.end)


def _shared(span: Span, other: Span) -> int:
    return min(span.end, other.end) - max(span.start, other.start)


_RULES = (
    (AGREED, lambda g, p: _same_offsets(g, p) and g.label == p.label),
    (LABEL, lambda g, p: _same_offsets(g, p)),
    (BOUNDARY, lambda g, p: overlap(g, p) and g.label == p.label),
    (LABEL, lambda g, p: overlap(g, p)),
)
