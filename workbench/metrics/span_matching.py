"""Partial credit for spans: the schemes of SemEval 2013 task 9.1, defined as in nervaluate 1.2.

strict: boundaries and label are equal. exact: boundaries are equal, whatever the label. partial:
boundaries are equal (correct) or overlap (half), whatever the label. type: the label is equal and
the spans overlap. Spans may be nested; those of different texts never match.

A span that equals gold is matched with it before overlaps are considered, in every scheme. For flat
spans this is the order of nervaluate; of nested ones nervaluate lets an overlap use up a gold span
that a later prediction equals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from workbench.base import deprecation
from workbench.metrics.resampling import LABEL, Arrays, divided, mean_of, weighted_sums
from workbench.metrics.spans import correct, key
from workbench.text import alignment, schemes
from workbench.text.spans import Span

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, WordCounts="ConllCounts")

MODES = STRICT, EXACT, PARTIAL, TYPE = ("strict", "exact", "partial", "type")
OUTCOMES = CORRECT, WRONG, HALF, MISSED, SPURIOUS = (
    "correct",
    "incorrect",
    "partial",
    "missed",
    "spurious",
)
MIN_OVERLAP_SHARE = 0.01  # of the gold span that a prediction must cover to count as an overlap


@dataclass(frozen=True, eq=False)
class SpanCounts:
    """counts (N, 1 + L, modes, outcomes): of N documents; all labels first, then each alone."""

    labels: tuple[str, ...]
    counts: np.ndarray

    def __call__(self, weights: np.ndarray) -> Arrays:
        """Scores by name: `span_f1` and `label_f1` (strict), `exact_f1`, `label_exact_f1` …"""
        n, rows, modes, outcomes = self.counts.shape
        sums = weighted_sums(weights, self.counts.reshape(n, -1))
        sums = sums.reshape(len(weights), rows, modes, outcomes)
        scores: dict[str, np.ndarray] = {}
        for number, mode in enumerate(MODES):
            overall, label = ("span", LABEL) if mode == STRICT else (mode, f"{LABEL}{mode}_")
            for name, values in scored(sums[:, :, number]).items():
                scores[f"{overall}_{name}"] = values[:, 0]
                scores[f"{label}{name}"] = values[:, 1:]
        occurs = sums[:, 1:, 0].sum(-1) > 0
        scores["span_macro_f1"] = mean_of(scores[f"{LABEL}f1"], occurs)
        return scores

    def taken(self, rows: np.ndarray) -> SpanCounts:
        """The counts of the documents at the positions `rows` int (K,)."""
        return SpanCounts(self.labels, self.counts[rows])

    def totals(self) -> dict[str, dict[str, int]]:
        """mode → outcome → number of spans, over all documents and labels."""
        sums = self.counts[:, 0].sum(0)
        return {
            mode: dict(zip(OUTCOMES, map(int, sums[number]), strict=True))
            for number, mode in enumerate(MODES)
        }


def scored(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Precision, recall and F1; a partial match counts half.

    counts: (…, 5), the outcomes correct, wrong, half, missed and spurious. Returns float (…) each.
    """
    correct, wrong, half, missed, spurious = np.moveaxis(counts, -1, 0)
    credit = correct + 0.5 * half
    predicted, gold = correct + wrong + half + spurious, correct + wrong + half + missed
    return {
        "precision": divided(credit, predicted),
        "recall": divided(credit, gold),
        "f1": divided(2 * credit, predicted + gold),
    }


def span_counts(
    gold: Sequence[Iterable[Span]],
    predicted: Sequence[Iterable[Span]],
    labels: Sequence[str] = (),
) -> SpanCounts:
    """The outcomes of every document; labels that are not in `labels` are appended, sorted.

    Each label alone is scored as if there were no spans of others, as nervaluate does.
    """
    ours, theirs = ([sorted(set(spans), key=key) for spans in side] for side in (gold, predicted))
    extra = {span.label for spans in (*ours, *theirs) for span in spans} - {*labels}
    known = (*labels, *sorted(extra))
    number = {label: at for at, label in enumerate(known, 1)}
    counts = np.zeros((len(ours), 1 + len(known), len(MODES), len(OUTCOMES)), np.float32)
    for row, (left, right) in enumerate(zip(ours, theirs, strict=True)):
        counts[row, 0] = outcomes(left, right)
        for label in {span.label for span in (*left, *right)}:
            counts[row, number[label]] = outcomes(
                [span for span in left if span.label == label],
                [span for span in right if span.label == label],
            )
    return SpanCounts(known, counts)


def outcomes(gold: Sequence[Span], predicted: Sequence[Span]) -> np.ndarray:
    """int (modes, outcomes) of one document; both sides sorted and without duplicates."""
    equal, theirs, ours = correct(gold, predicted)
    counts = np.tile([len(equal), 0, 0, 0, 0], (len(MODES), 1))
    if len(equal) == len(ours) == len(theirs):
        return counts
    left = [span for span in gold if key(span) not in equal]
    right = [span for span in predicted if key(span) not in equal]
    near = _near(left)
    return counts + [_outcomes(left, right, mode, near) for mode in MODES]


def _outcomes(
    gold: Sequence[Span],
    predicted: Sequence[Span],
    mode: str,
    near: Callable[[Span], Iterable[int]],
) -> tuple[int, int, int, int, int]:
    """The outcomes of spans that are not equal to one of the other side.

    Each prediction, in order, takes the gold span that fits it best and is not taken yet; those of
    equal boundaries come before those that merely overlap, except by type.
    """
    taken: set[int] = set()
    fitting = 0
    right = list(predicted)
    if mode != TYPE:
        right, taken = _same_boundaries(gold, predicted)
        fitting = 0 if mode == STRICT else len(taken)
    other, spurious = len(taken) - fitting, 0
    for span in right:
        free = [at for at in near(span) if at not in taken and _covers(gold[at], span)]
        if not free:
            spurious += 1
            continue
        same = [at for at in free if mode == TYPE and gold[at].label == span.label]
        taken.add(min(same, key=lambda at: _distance(gold[at], span)) if same else free[0])
        fitting += bool(same)
        other += not same
    wrong, half = (0, other) if mode == PARTIAL else (other, 0)
    return fitting, wrong, half, len(gold) - len(taken), spurious


def _same_boundaries(
    gold: Sequence[Span], predicted: Sequence[Span]
) -> tuple[list[Span], set[int]]:
    """The predictions without a gold span of the same boundaries, and the positions of the gold
    spans that the others take.
    """
    places: dict[tuple[str, int, int], list[int]] = {}
    for at in reversed(range(len(gold))):
        places.setdefault(key(gold[at])[:3], []).append(at)
    rest, taken = [], set()
    for span in predicted:
        there = places.get(key(span)[:3])
        if there:
            taken.add(there.pop())
        else:
            rest.append(span)
    return rest, taken


def _distance(gold: Span, span: Span) -> int:
    return abs(gold.start - span.start) + abs(gold.end - span.end)


def _covers(gold: Span, span: Span) -> bool:
    shared = min(gold.end, span.end) - max(gold.start, span.start)
    return (
        gold.field == span.field
        and shared > 0
        and shared >= MIN_OVERLAP_SHARE * (gold.end - gold.start)
    )


def _near(gold: Sequence[Span]) -> Callable[[Span], Iterable[int]]:
    """Positions of the gold spans that a span may touch, in order; fast for long documents."""
    texts: dict[str, list[int]] = {}
    for at, span in enumerate(gold):
        texts.setdefault(span.field, []).append(at)
    starts = {field: [gold[at].start for at in row] for field, row in texts.items()}
    ends = {
        field: list(accumulate((gold[at].end for at in row), max)) for field, row in texts.items()
    }

    def near(span: Span) -> Iterable[int]:
        row = texts.get(span.field, [])
        if not row:
            return ()
        first = bisect_left(ends[span.field], span.start)
        return row[first : bisect_right(starts[span.field], span.end)]

    return near


@dataclass(frozen=True, eq=False)
class ConllCounts:
    """Span scores on words, as conlleval counts them, and the fraction of correct tags.

    counts (N, 5): correct, predicted and gold spans of words; correct tags, words.
    """

    counts: np.ndarray

    def __call__(self, weights: np.ndarray) -> Arrays:
        sums = weighted_sums(weights, self.counts)
        right, predicted, gold, tags, words = sums.T
        return {
            "conll_precision": divided(right, predicted),
            "conll_recall": divided(right, gold),
            "conll_f1": divided(2 * right, predicted + gold),
            "token_accuracy": divided(tags, words),
        }


def word_counts(
    gold: Sequence[Iterable[Span]],
    predicted: Sequence[Iterable[Span]],
    words: Sequence[Sequence[tuple[int, int]]],
) -> ConllCounts:
    """Both sides as IOB2 tags of words (start, end); invalid tags are read as by conlleval."""
    counts = np.zeros((len(words), 5))
    for row, (ours, theirs, offsets) in enumerate(zip(gold, predicted, words, strict=True)):
        tags = [alignment.tags(offsets, side)[0] for side in (ours, theirs)]
        left, right = (set(schemes.spans(side)) for side in tags)
        same = sum(map(str.__eq__, *tags))
        counts[row] = len(left & right), len(right), len(left), same, len(offsets)
    return ConllCounts(counts)


@dataclass(frozen=True, eq=False)
class SpanStatistic:
    """All scores of tagged spans."""

    spans: SpanCounts
    words: ConllCounts

    @property
    def labels(self) -> tuple[str, ...]:
        return self.spans.labels

    def __call__(self, weights: np.ndarray) -> Arrays:
        return {**self.spans(weights), **self.words(weights)}

    def totals(self) -> dict[str, dict[str, int]]:
        return self.spans.totals()

    def taken(self, rows: np.ndarray) -> SpanStatistic:
        """The counts of the documents at the positions `rows` int (K,)."""
        return SpanStatistic(self.spans.taken(rows), ConllCounts(self.words.counts[rows]))
