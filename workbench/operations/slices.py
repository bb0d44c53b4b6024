"""Slices of the documents that a run is scored on: by length, label, metadata, expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.base.i18n import _
from workbench.metrics.slices import SliceScore, measured
from workbench.text.patterns import matcher
from workbench.text.rows import row_id
from workbench.text.segment import tokens_of

if TYPE_CHECKING:
    from workbench.operations.quality import Evidence

LEAST = 5  # documents of a slice
MOST_VALUES = 20  # distinct values of a metadata key that is sliced by
ACCURACY = "accuracy"
PART = 0.05  # level of the corrected test


@dataclass(frozen=True)
class Slice:
    """A slice with its score; documents: ids. is_low: below the whole after correction."""

    name: str
    score: SliceScore
    documents: tuple[int, ...]
    is_low: bool


@dataclass(frozen=True)
class Slices:
    """All slices of one split, lowest p first; whole: the score of all n documents."""

    score: str
    whole: float
    n: int
    rows: tuple[Slice, ...]


def slices(given: Evidence, patterns: Sequence[str] = ()) -> Slices | None:
    """Score the slices of a split, those of `patterns` included.

    By accuracy where every unit has one label: macro F1 of the documents of one label would count
    the others as wrong. By the main score of other tasks.

    None without documents or a statistic. Raises SpecError for an invalid pattern.
    """
    n = len(given)
    if given.statistic is None or not n:
        return None
    exact = given.statistic(np.ones((1, n), np.float32))
    score = ACCURACY if ACCURACY in exact else given.info.main
    chosen = members(given, patterns)
    whole = float(exact[score][0])
    found = measured(given.statistic, score, chosen, n)
    ids = [row_id(document) for document in given.documents]
    rows = [
        Slice(
            one.name,
            one,
            tuple(ids[at] for at in chosen[one.name]),
            one.value < whole and one.holm is not None and one.holm < PART,
        )
        for one in found
    ]
    return Slices(score, whole, n, tuple(rows))


def members(given: Evidence, patterns: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Name of each slice that is neither too small nor the whole → positions of its documents."""
    n = len(given)
    return {name: rows for name, rows in _members(given, patterns) if LEAST <= len(rows) < n}


def _members(given: Evidence, patterns: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    lengths = np.array([len(tokens_of(document)) for document in given.documents])
    low, high = (int(value) for value in np.quantile(lengths, (0.25, 0.75)))
    yield _("fewer than {n} words").format(n=low), np.flatnonzero(lengths < low)
    yield _("more than {n} words").format(n=high), np.flatnonzero(lengths > high)
    chosen = [set(gold.labels()) for gold in given.golds]
    for label in given.labels:
        has = np.array([label in labels for labels in chosen])
        yield _("label: {label}").format(label=label), np.flatnonzero(has)
    yield from _by_metadata(given)
    for pattern in patterns:
        matches = matcher(pattern)
        has = np.array([matches(document.text) for document in given.documents])
        yield _("matches {pattern}").format(pattern=pattern), np.flatnonzero(has)


def _by_metadata(given: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    """Keys with few values, and the source of the document where it has several."""
    keys = {key for document in given.documents for key in document.meta}
    for key in sorted(keys):
        values = [str(document.meta.get(key, "")) for document in given.documents]
        distinct = sorted(set(values) - {""})
        if 2 <= len(distinct) <= MOST_VALUES:
            for value in distinct:
                rows = np.flatnonzero(np.array([one == value for one in values]))
                yield f"{key}: {value}", rows
