"""Gold beside predicted spans, each told apart: agreed, missed, extra, wrong border, wrong label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.text.spans import Span, overlap

AGREED, MISSED, EXTRA, BORDER, LABEL = KINDS = ("agreed", "missed", "extra", "border", "label")


@dataclass(frozen=True, slots=True)
class Difference:
    """`gold` is None for extra, `predicted` is None for missed; else the two that were matched."""

    kind: str
    gold: Span | None
    predicted: Span | None


def compare(gold: Iterable[Span], predicted: Iterable[Span]) -> tuple[Difference, ...]:
    """Every span of both sides exactly once, in order of the text.

    First what is equal, then equal borders with another label, then overlapping ones of the same label with other borders
    (most shared characters first), then overlapping ones of another label, which count as wrong label. The rest is missed or extra.
    """
    ours, theirs = sorted(set(gold), key=_order), sorted(set(predicted), key=_order)
    found: list[Difference] = []
    for kind, fits in _RULES:
        candidates = [(g, p) for g in ours for p in theirs if fits(g, p)]
        for g, p in sorted(candidates, key=lambda pair: (-_shared(*pair), _order(pair[0]), _order(pair[1]))):
            if g in ours and p in theirs:
                found.append(Difference(kind, g, p))
                ours.remove(g)
                theirs.remove(p)
    found += [Difference(MISSED, g, None) for g in ours] + [Difference(EXTRA, None, p) for p in theirs]
    return tuple(sorted(found, key=lambda one: _order(one.gold or one.predicted)))  # type: ignore[arg-type]  # one of the two stands


def tally(differences: Iterable[Difference]) -> dict[str, int]:
    """How many of each of KINDS."""
    kinds = [one.kind for one in differences]
    return {kind: kinds.count(kind) for kind in KINDS}


def _order(span: Span) -> tuple:
    return span.field, span.start, span.end, span.label


def _same_borders(one: Span, other: Span) -> bool:
    return (one.field, one.start, one.end) == (other.field, other.start, other.end)


def _shared(one: Span, other: Span) -> int:
    return min(one.end, other.end) - max(one.start, other.start)


_RULES = (
    (AGREED, lambda g, p: _same_borders(g, p) and g.label == p.label),
    (LABEL, lambda g, p: _same_borders(g, p)),
    (BORDER, lambda g, p: overlap(g, p) and g.label == p.label),
    (LABEL, lambda g, p: overlap(g, p)),
)
