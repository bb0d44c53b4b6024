"""Scores of labelled relations: triples of the first span, the second one and the label.

A relation is correct if both spans have exact boundaries, whatever their labels, and its label and
direction are those of gold; a label without a direction counts in either order. Strict: the labels
of both spans are right too, which matters for predicted spans. Source: the measures "Rel" and
"Rel+" of Zhong and Chen 2021, A Frustratingly Easy Approach for Entity and Relation Extraction,
section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics import spans
from workbench.metrics.classes import LabelScore
from workbench.metrics.resampling import Arrays
from workbench.metrics.span_matching import SpanCounts, span_counts
from workbench.text.relations import Relation
from workbench.text.spans import Span

Relations = Iterable[Relation]
RELATION = "relation"  # prefix of the names of scores


def triples(
    relations: Relations, undirected: Iterable[str] = (), *, strict: bool = False
) -> tuple[Span, ...]:
    """Relations as spans that are equal if the relations are: scores of spans are theirs then.

    The text field of such a span names both ends. undirected: labels without a direction, besides
    those of relations that say so. strict: the labels of the ends count.
    """
    known = set(undirected)
    return tuple({_triple(relation, known, strict) for relation in relations})


def _triple(relation: Relation, undirected: set[str], strict: bool) -> Span:
    ends = [
        (span.field, span.start, span.end, span.label if strict else "")
        for span in (relation.from_span, relation.to_span)
    ]
    if not relation.directed or relation.label in undirected:
        ends.sort()
    return Span(0, 1, relation.label, repr(ends))


def without_direction(golds: Iterable[Relations]) -> set[str]:
    """The labels that gold says have no direction."""
    return {relation.label for gold in golds for relation in gold if not relation.directed}


def sides(
    gold: Sequence[Relations], predicted: Sequence[Relations], *, strict: bool = False
) -> tuple[list[tuple[Span, ...]], list[tuple[Span, ...]]]:
    labels = without_direction(gold)
    ours, theirs = (
        [triples(some, labels, strict=strict) for some in side] for side in (gold, predicted)
    )
    return ours, theirs


def scores(
    gold: Sequence[Relations],
    predicted: Sequence[Relations],
    prefix: str = RELATION,
    *,
    strict: bool = True,
) -> dict[str, float]:
    """`relation_precision`, `relation_recall` and `relation_f1` over all labels, the macro mean of
    F1, `relation_unlabelled_f1`, whatever the label, and with `strict` `relation_strict_f1`. One
    entry of each list is one document.
    """
    names = [f"{prefix}_{name}" for name in (*NAMES, *([STRICT] if strict else []))]
    if not gold:
        return dict.fromkeys(names, 0.0)
    statistic = RelationCounts.of(gold, predicted, (), prefix, strict=strict)
    values = statistic(np.ones((1, len(gold)), np.float32))
    return {name: float(values[name][0]) for name in names}


def per_label(gold: Sequence[Relations], predicted: Sequence[Relations]) -> tuple[LabelScore, ...]:
    return spans.per_label(*sides(gold, predicted))


NAMES = {  # our name after its prefix → that of spans
    "precision": "span_precision",
    "recall": "span_recall",
    "f1": "span_f1",
    "macro_f1": "span_macro_f1",
    "unlabelled_f1": "exact_f1",
}
STRICT = "strict_f1"


@dataclass(frozen=True, eq=False)
class RelationCounts:
    """Outcomes by document, for intervals; counts: those of the triples. prefix: of the names.
    strict: counts with the labels of spans, None if they do not matter.
    """

    counts: SpanCounts
    prefix: str = RELATION
    strict: SpanCounts | None = None

    @classmethod
    def of(
        cls,
        gold: Sequence[Relations],
        predicted: Sequence[Relations],
        labels: Sequence[str],
        prefix: str = RELATION,
        *,
        strict: bool = True,
    ) -> RelationCounts:
        plain = span_counts(*sides(gold, predicted), labels)
        typed = span_counts(*sides(gold, predicted, strict=True), labels) if strict else None
        return cls(plain, prefix, typed)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.counts.labels

    def taken(self, rows: np.ndarray) -> RelationCounts:
        strict = self.strict.taken(rows) if self.strict is not None else None
        return RelationCounts(self.counts.taken(rows), self.prefix, strict)

    def __call__(self, weights: np.ndarray) -> Arrays:
        scores = self.counts(weights)
        plain = {f"label_{name}": scores[f"label_{name}"] for name in ("precision", "recall", "f1")}
        named = {f"{self.prefix}_{name}": scores[other] for name, other in NAMES.items()}
        if self.strict is not None:
            named[f"{self.prefix}_{STRICT}"] = self.strict(weights)["span_f1"]
        return named | plain
