"""Scores of labelled spans, defined as in seqeval. Standard library only.

A span is correct if its text, boundaries and label are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from workbench.metrics.classes import LabelScore, averages, label_scores, ratio
from workbench.text import alignment
from workbench.text.spans import Span

Key = tuple[str, int, int, str]


def key(span: Span) -> Key:
    """What a correct span has in common with gold; the order of spans in a document."""
    return span.field, span.start, span.end, span.label


def correct(gold: Iterable[Span], predicted: Iterable[Span]) -> tuple[set[Key], set[Key], set[Key]]:
    """The keys of one document: correct, predicted, gold."""
    ours, theirs = set(map(key, gold)), set(map(key, predicted))
    return ours & theirs, theirs, ours


def counts(
    gold: Sequence[Iterable[Span]], predicted: Sequence[Iterable[Span]]
) -> dict[str, tuple[int, int, int]]:
    """label → (correct, predicted, gold) counts over all documents, sorted by name.

    One entry of each list is one document. A duplicate span in a document counts once. Raises
    ValueError if the lists differ in length.
    """
    if len(gold) != len(predicted):
        raise ValueError(
            f"spans of {len(gold)} gold documents, but of {len(predicted)} predicted documents"
        )
    right, in_predicted, in_gold = Counter[str](), Counter[str](), Counter[str]()
    for sides in zip(gold, predicted, strict=True):
        for counter, spans in zip((right, in_predicted, in_gold), correct(*sides), strict=True):
            counter.update(label for *_offsets, label in spans)
    return {
        label: (right[label], in_predicted[label], in_gold[label])
        for label in sorted(in_gold | in_predicted)
    }


def per_label(
    gold: Sequence[Iterable[Span]],
    predicted: Sequence[Iterable[Span]],
    labels: Sequence[str] | None = None,
) -> tuple[LabelScore, ...]:
    """One row for each label of `labels`, in that order.

    By default, for each label of either side, sorted.
    """
    return label_scores(counts(gold, predicted), labels)


def scores(gold: Sequence[Iterable[Span]], predicted: Sequence[Iterable[Span]]) -> dict[str, float]:
    """`span_precision`, `span_recall`, `span_f1` over all labels, `span_macro_f1`.

    See `metrics.definitions`.
    """
    by_label = counts(gold, predicted)
    right, theirs, ours = (
        (sum(column) for column in zip(*by_label.values(), strict=True)) if by_label else (0, 0, 0)
    )
    macro, _ = averages(label_scores(by_label, None))
    return {
        "span_precision": ratio(right, theirs),
        "span_recall": ratio(right, ours),
        "span_f1": ratio(2 * right, theirs + ours),
        "span_macro_f1": macro,
    }


def token_accuracy(
    gold: Sequence[Iterable[Span]],
    predicted: Sequence[Iterable[Span]],
    words: Sequence[Sequence[tuple[int, int]]],
) -> float:
    """Fraction of words with the correct BIO tag, 0 without words.

    `words[document]` are sorted (start, end) offsets; the spans are flat. Raises ValueError if the
    lists differ in length.
    """
    ours = [alignment.tags(offsets, spans)[0] for spans, offsets in zip(gold, words, strict=True)]
    theirs = [
        alignment.tags(offsets, spans)[0] for spans, offsets in zip(predicted, words, strict=True)
    ]
    return tag_accuracy(ours, theirs)


def tag_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """Fraction of equal tags over all words of all documents, 0 without words.

    Both sides have one tag per word.

    Raises ValueError if a document has a different number of tags on the two sides.
    """
    pairs = [
        pair
        for ours, theirs in zip(gold, predicted, strict=True)
        for pair in zip(ours, theirs, strict=True)
    ]
    return ratio(sum(ours == theirs for ours, theirs in pairs), len(pairs))
