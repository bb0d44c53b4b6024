"""Confusion matrices of classes and spans, with the documents behind each cell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.text.spans import Span

NO_SPAN = ""  # the row and column for spans without a counterpart


@dataclass(frozen=True)
class Confusion:
    """counts (L, L) int, rows gold, columns predicted.

    `where[row, column]` are positions of documents, sorted and unique.
    """

    labels: tuple[str, ...]
    counts: np.ndarray = field(hash=False)
    where: dict[tuple[int, int], tuple[int, ...]] = field(hash=False)

    def documents(self, gold: str, predicted: str) -> tuple[int, ...]:
        """Positions of the documents in the cell; () if a label is unknown or the cell is empty."""
        if gold not in self.labels or predicted not in self.labels:
            return ()
        return self.where.get((self.labels.index(gold), self.labels.index(predicted)), ())


def confusion(
    gold: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str] | None = None,
    *,
    documents: Sequence[int] | None = None,
) -> Confusion:
    """The matrix of labels. Labels that are not in `labels` are appended, sorted.

    documents: the position of the document of each label, in order; by default each has its own.
    """
    positions = range(len(gold)) if documents is None else documents
    return _fill(list(zip(gold, predicted, positions, strict=True)), labels)


def span_confusion(
    gold: Sequence[Iterable[Span]],
    predicted: Sequence[Iterable[Span]],
    labels: Sequence[str] | None = None,
    *,
    documents: Sequence[int] | None = None,
) -> Confusion:
    """Spans with equal boundaries share a cell; others are in row or column NO_SPAN, the last.

    documents: the positions of the documents, by default as they come.
    """
    cells: list[tuple[str, str, int]] = []
    positions = range(len(gold)) if documents is None else documents
    for position, ours, theirs in zip(positions, gold, predicted, strict=True):
        cells += [(g, p, position) for g, p in _pair(ours, theirs)]
    known = list(
        labels
        if labels is not None
        else sorted({name for g, p, _ in cells for name in (g, p)} - {NO_SPAN})
    )
    extra = sorted({name for g, p, _ in cells for name in (g, p)} - {NO_SPAN, *known})
    return _fill(cells, [*known, *extra, NO_SPAN])


def _pair(ours: Iterable[Span], theirs: Iterable[Span]) -> list[tuple[str, str]]:
    """(gold label, predicted label) of each span.

    At equal boundaries, equal labels are paired before different ones.
    """
    left = {(span.field, span.start, span.end, span.label) for span in ours}
    right = {(span.field, span.start, span.end, span.label) for span in theirs}
    pairs = [(row[3], row[3]) for row in sorted(left & right)]
    partners: dict[tuple[str, int, int], deque[str]] = {}
    for key in sorted(right - left):
        partners.setdefault(key[:3], deque()).append(key[3])
    for key in sorted(left - right):
        there = partners.get(key[:3])
        pairs.append((key[3], there.popleft() if there else NO_SPAN))
    return pairs + [(NO_SPAN, label) for there in partners.values() for label in there]


def _fill(cells: Sequence[tuple[str, str, int]], labels: Sequence[str] | None) -> Confusion:
    known = list(labels or ())
    names = (*known, *sorted({name for g, p, _ in cells for name in (g, p)} - set(known)))
    number = {name: position for position, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.int64)
    where: dict[tuple[int, int], dict[int, None]] = {}
    for g, p, position in cells:
        matrix[number[g], number[p]] += 1
        where.setdefault((number[g], number[p]), {})[position] = None
    return Confusion(names, matrix, {cell: tuple(positions) for cell, positions in where.items()})
