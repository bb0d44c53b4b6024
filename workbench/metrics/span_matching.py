"""Partial credit for spans: the schemes of SemEval 2013 task 9.1, defined as in nervaluate 1.2.

strict: boundaries and label are equal. exact: boundaries are equal, whatever the label. partial:
boundaries are equal (correct) or overlap (half), whatever the label. type: the label is equal and
the spans overlap. Spans may be nested; those of different texts never match.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from workbench.metrics.resampling import LABEL, Arrays, divided, mean_of, weighted_sums
from workbench.text import alignment, schemes
from workbench.text.spans import Span

MODES = STRICT, EXACT, PARTIAL, TYPE = ("strict", "exact", "partial", "type")
OUTCOMES = CORRECT, WRONG, HALF, MISSED, SPURIOUS = (
    "correct",
    "incorrect",
    "partial",
    "missed",
    "spurious",
)
LEAST_SHARE = 0.01  # of the gold span that a prediction must cover to count as an overlap


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
        found: dict[str, np.ndarray] = {}
        for number, mode in enumerate(MODES):
            overall, label = ("span", LABEL) if mode == STRICT else (mode, f"{LABEL}{mode}_")
            for name, values in scored(sums[:, :, number]).items():
                found[f"{overall}_{name}"] = values[:, 0]
                found[f"{label}{name}"] = values[:, 1:]
        occurs = sums[:, 1:, 0].sum(-1) > 0
        found["span_macro_f1"] = mean_of(found[f"{LABEL}f1"], occurs)
        return found

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
    ours, theirs = (
        [sorted(set(spans), key=_order) for spans in side] for side in (gold, predicted)
    )
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
    if _keys(gold) == _keys(predicted):
        return np.tile([len(gold), 0, 0, 0, 0], (len(MODES), 1))
    near = _near(gold)
    return np.array([_outcomes(gold, predicted, mode, near) for mode in MODES])


def _outcomes(
    gold: Sequence[Span],
    predicted: Sequence[Span],
    mode: str,
    near: Callable[[Span], Iterable[int]],
) -> tuple[int, int, int, int, int]:
    """Each prediction, in order, takes the gold span that fits it best and is not taken yet."""
    taken: set[int] = set()
    correct = other = spurious = 0
    for span in predicted:
        best, second = None, None
        distance = 0
        for at in near(span):
            if at in taken:
                continue
            if _fits(gold[at], span, mode):
                away = abs(gold[at].start - span.start) + abs(gold[at].end - span.end)
                if best is None or away < distance:
                    best, distance = at, away
                if mode != TYPE:
                    break
            elif second is None and _covers(gold[at], span):
                second = at
        chosen = second if best is None else best
        if chosen is None:
            spurious += 1
            continue
        taken.add(chosen)
        correct += best is not None
        other += best is None
    wrong, half = (0, other) if mode == PARTIAL else (other, 0)
    return correct, wrong, half, len(gold) - len(taken), spurious


def _fits(gold: Span, span: Span, mode: str) -> bool:
    if mode == TYPE:
        return gold.label == span.label and _covers(gold, span)
    same = (gold.field, gold.start, gold.end) == (span.field, span.start, span.end)
    return same and (mode != STRICT or gold.label == span.label)


def _covers(gold: Span, span: Span) -> bool:
    shared = min(gold.end, span.end) - max(gold.start, span.start)
    return (
        gold.field == span.field and shared > 0 and shared >= LEAST_SHARE * (gold.end - gold.start)
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


def _order(span: Span) -> tuple[str, int, int, str]:
    return span.field, span.start, span.end, span.label


def _keys(spans: Sequence[Span]) -> list[tuple[str, int, int, str]]:
    return [_order(span) for span in spans]


@dataclass(frozen=True, eq=False)
class WordCounts:
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
) -> WordCounts:
    """Both sides as IOB2 tags of words (start, end); invalid tags are read as by conlleval."""
    counts = np.zeros((len(words), 5))
    for row, (ours, theirs, offsets) in enumerate(zip(gold, predicted, words, strict=True)):
        tags = [alignment.tags(offsets, side)[0] for side in (ours, theirs)]
        left, right = (set(schemes.spans(side)) for side in tags)
        same = sum(map(str.__eq__, *tags))
        counts[row] = len(left & right), len(right), len(left), same, len(offsets)
    return WordCounts(counts)


@dataclass(frozen=True, eq=False)
class SpanStatistic:
    """All scores of tagged spans."""

    spans: SpanCounts
    words: WordCounts

    @property
    def labels(self) -> tuple[str, ...]:
        return self.spans.labels

    def __call__(self, weights: np.ndarray) -> Arrays:
        return {**self.spans(weights), **self.words(weights)}

    def totals(self) -> dict[str, dict[str, int]]:
        return self.spans.totals()

    def taken(self, rows: np.ndarray) -> SpanStatistic:
        """The counts of the documents at the positions `rows` int (K,)."""
        return SpanStatistic(self.spans.taken(rows), WordCounts(self.words.counts[rows]))
