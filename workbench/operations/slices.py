"""Slices of the documents that a run is scored on: by length, label, metadata, file, split,
saved filter, expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.metrics.resampling import bounds, resampled
from workbench.metrics.slices import SEED, SliceScore, measured
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
    """A slice with its score; documents: ids. is_low: below the whole after correction.

    split: of the documents where it is another one than that of the other slices, which this
    slice is not tested against; "" for the same.
    """

    name: str
    score: SliceScore
    documents: tuple[int, ...]
    is_low: bool
    split: str = ""


@dataclass(frozen=True)
class Slices:
    """All slices of one split, the worst first: those below the whole by ascending p, then the
    others by descending p.

    whole: the score of all n documents.
    """

    score: str
    whole: float
    n: int
    rows: tuple[Slice, ...]

    @property
    def tested(self) -> int:
        """The number of slices with a p-value."""
        return sum(row.score.p is not None for row in self.rows)


def slices(
    given: Evidence, patterns: Sequence[str] = (), others: Sequence[Evidence] = ()
) -> Slices | None:
    """Score the slices of a split, those of `patterns` included, and `others`, whole splits.

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
    below = [item for item in found if item.value < whole]
    rest = [item for item in reversed(found) if item.value >= whole]
    ids = [row_id(document) for document in given.documents]
    rows = [
        Slice(
            score.name,
            score,
            tuple(ids[at] for at in chosen[score.name]),
            score.value < whole and score.holm is not None and score.holm < PART,
        )
        for score in (*below, *rest)
    ]
    rows += [_whole(other, score) for other in others if len(other) >= LEAST]
    return Slices(score, whole, n, tuple(rows))


def _whole(given: Evidence, score: str) -> Slice:
    """Another split, all documents of it, without a test."""
    n, statistic = len(given), given.statistic
    if statistic is None:
        raise TypeError(f"{given.info.id} has no statistic")
    plain = statistic.taken(np.arange(n))
    value = float(plain(np.ones((1, n), np.float32))[score][0])
    low, high = bounds(resampled(plain, n, seed=SEED)[score])
    name = _("split: {split}").format(split=term(given.split))
    ids = tuple(row_id(document) for document in given.documents)
    return Slice(name, SliceScore(name, n, value, float(low), float(high)), ids, False, given.split)


def members(given: Evidence, patterns: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Name of each slice that is neither too small nor the whole → positions of its documents.

    Positions int (K,) in `given`.
    """
    n = len(given)
    return {name: rows for name, rows in _members(given, patterns) if LEAST <= len(rows) < n}


def _members(given: Evidence, patterns: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    lengths = np.array([len(tokens_of(document)) for document in given.documents])
    low, high = (int(value) for value in np.quantile(lengths, (0.25, 0.75)))
    fewer = ngettext("fewer than {n} word", "fewer than {n} words", low)
    more = ngettext("more than {n} word", "more than {n} words", high)
    yield fewer.format(n=low), np.flatnonzero(lengths < low)
    yield more.format(n=high), np.flatnonzero(lengths > high)
    chosen = [set(gold.labels()) for gold in given.golds]
    for label in given.labels:
        has = np.array([label in labels for labels in chosen])
        yield _("label: {label}").format(label=label), np.flatnonzero(has)
    yield from _by_metadata(given)
    yield from _by_file(given)
    for name, chosen_ids in given.filters.items():
        has = np.array([document.id in chosen_ids for document in given.documents])
        yield _("filter: {name}").format(name=name), np.flatnonzero(has)
    for pattern in patterns:
        matches = matcher(pattern)
        has = np.array([matches(document.text) for document in given.documents])
        yield pattern_name(pattern), np.flatnonzero(has)


def pattern_name(pattern: str) -> str:
    return _("matches {pattern}").format(pattern=pattern)


def _by_file(given: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    """The files that the documents were imported from, if there are several."""
    names = sorted(set(given.files) - {""})
    if 2 <= len(names) <= MOST_VALUES or (names and "" in given.files):
        for name in names[:MOST_VALUES]:
            rows = np.flatnonzero(np.array([file == name for file in given.files]))
            yield _("file: {name}").format(name=name), rows


def _by_metadata(given: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    """Keys with few values, and the source of the document where it has several."""
    keys = {key for document in given.documents for key in document.meta}
    for key in sorted(keys):
        values = [str(document.meta.get(key, "")) for document in given.documents]
        distinct = sorted(set(values) - {""})
        if 2 <= len(distinct) <= MOST_VALUES:
            for value in distinct:
                rows = np.flatnonzero(np.array([item == value for item in values]))
                yield f"{key}: {value}", rows
