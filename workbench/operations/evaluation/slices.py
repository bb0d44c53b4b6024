"""Slices of the documents that a run is scored on: by length, label, metadata, file, split,
saved filter, expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.metrics.resampling import bounds, resampled
from workbench.metrics.slices import SEED, SliceScore, measured
from workbench.text.columns import Column, ValueKind
from workbench.text.queries.patterns import matcher
from workbench.text.rows import row_id
from workbench.text.segment import tokens_of

if TYPE_CHECKING:
    from workbench.operations.evaluation.quality import Evidence

MIN_EXAMPLES = 5  # documents of a slice; gold examples of a label with an interval in tables
MOST_VALUES = 20  # distinct values of a metadata key that is sliced by
ACCURACY = "accuracy"
SIGNIFICANCE_LEVEL = 0.05  # level of the corrected test


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

    whole: the score of all n documents. left_out: name of each pattern and filter that is no slice
    → its number of documents, fewer than LEAST or all.
    """

    score: str
    whole: float
    n: int
    rows: tuple[Slice, ...]
    left_out: Mapping[str, int]

    @property
    def tested(self) -> int:
        """The number of slices with a p-value."""
        return sum(row.score.p is not None for row in self.rows)


def columns(score: str) -> tuple[Column, ...]:
    """Of slices. score: its title."""
    return (
        Column(_("Slice"), lambda row: row.name, key="name"),
        Column(_("n"), lambda row: row.score.n, kind=ValueKind.COUNT, key="n"),
        Column(score, lambda row: row.score.value, kind=ValueKind.SHARE, key="value"),
        Column(_("Low"), lambda row: row.score.low, kind=ValueKind.SHARE, key="low"),
        Column(_("High"), lambda row: row.score.high, kind=ValueKind.SHARE, key="high"),
        Column(
            _("p"),
            lambda row: row.score.p,
            kind=ValueKind.NUMBER,
            key="p",
            hint=_(
                "Permutation test: how often a random subset of this size differs as much "
                "from all documents"
            ),
        ),
        Column(_("p, Holm"), lambda row: row.score.holm, kind=ValueKind.NUMBER, key="holm"),
        Column("", lambda row: row.is_low, key="is_low"),
        Column("", lambda row: row.split, key="split"),
        Column("", lambda row: row.documents, key="documents"),
    )


def slices(
    evidence: Evidence, patterns: Sequence[str] = (), others: Sequence[Evidence] = ()
) -> Slices | None:
    """Score the slices of a split, those of `patterns` included, and `others`, whole splits.

    By accuracy where every unit has one label: macro F1 of the documents of one label would count
    the others as wrong. By the main score of other tasks. Without a statistic there are neither
    intervals nor tests, and the lowest score comes first.

    None without documents. Raises SpecError for an invalid pattern.
    """
    n = len(evidence)
    if not n:
        return None
    exact = _exact(evidence, np.arange(n))
    score = ACCURACY if ACCURACY in exact else evidence.info.main
    queried = dict(_asked(evidence, patterns))
    chosen = {**members(evidence), **_slices(queried, n)}
    whole = exact[score]
    ids = [row_id(document) for document in evidence.documents]
    rows = [
        Slice(
            score.name,
            score,
            tuple(ids[at] for at in chosen[score.name]),
            score.value < whole and score.holm is not None and score.holm < SIGNIFICANCE_LEVEL,
        )
        for score in _measured(evidence, score, chosen, whole)
    ]
    rows += [_whole(other, score) for other in others if len(other) >= MIN_EXAMPLES]
    left_out = {name: len(rows) for name, rows in queried.items() if name not in chosen}
    return Slices(score, whole, n, tuple(rows), left_out)


def _measured(
    evidence: Evidence, score: str, chosen: Mapping[str, np.ndarray], whole: float
) -> Sequence[SliceScore]:
    if evidence.statistic is None:
        plain = [
            SliceScore(name, len(rows), _exact(evidence, rows)[score], None, None)
            for name, rows in chosen.items()
        ]
        return sorted(plain, key=lambda item: item.value)
    scores = measured(evidence.statistic, score, chosen, len(evidence))
    below = [item for item in scores if item.value < whole]
    return [*below, *(item for item in reversed(scores) if item.value >= whole)]


def _exact(evidence: Evidence, rows: np.ndarray) -> dict[str, float]:
    """Every score of the documents at the positions `rows` int (K,), which may be all."""
    if evidence.statistic is None:
        golds, answers = (
            [side[at] for at in rows] for side in (evidence.golds, evidence.predictions)
        )
        return evidence.info.score(golds, answers)
    every = evidence.statistic if len(rows) == len(evidence) else evidence.statistic.taken(rows)
    scores = every(np.ones((1, len(rows)), np.float32))
    return {name: float(values[0]) for name, values in scores.items() if values.ndim == 1}


def _whole(evidence: Evidence, score: str) -> Slice:
    """Another split, all documents of it, without a test."""
    n, low, high = len(evidence), None, None
    if evidence.statistic is not None:
        plain = evidence.statistic.taken(np.arange(n))
        low, high = map(float, bounds(resampled(plain, n, seed=SEED)[score]))
    name = _("split: {split}", split=term(evidence.split))
    ids = tuple(row_id(document) for document in evidence.documents)
    value = _exact(evidence, np.arange(n))[score]
    return Slice(name, SliceScore(name, n, value, low, high), ids, False, evidence.split)


def members(evidence: Evidence) -> dict[str, np.ndarray]:
    """Name of each slice that is neither too small nor the whole → positions of its documents.

    Without patterns. Positions int (K,) in `evidence`.
    """
    return _slices({**dict(_members(evidence)), **dict(_asked(evidence, ()))}, len(evidence))


def _slices(every: Mapping[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    return {name: rows for name, rows in every.items() if MIN_EXAMPLES <= len(rows) < n}


def _members(evidence: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    lengths = np.array([len(tokens_of(document)) for document in evidence.documents])
    low, high = (int(value) for value in np.quantile(lengths, (0.25, 0.75)))
    fewer = ngettext("fewer than {n} word", "fewer than {n} words", low)
    more = ngettext("more than {n} word", "more than {n} words", high)
    yield fewer.format(n=low), np.flatnonzero(lengths < low)
    yield more.format(n=high), np.flatnonzero(lengths > high)
    chosen = [set(gold.labels()) for gold in evidence.golds]
    for label in evidence.labels:
        has = np.array([label in labels for labels in chosen])
        yield _("label: {label}", label=label), np.flatnonzero(has)
    yield from _by_metadata(evidence)
    yield from _by_file(evidence)


def _asked(evidence: Evidence, patterns: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    """The filters and patterns with the positions of their documents, however many."""
    for name, chosen_ids in evidence.filters.items():
        has = np.array([document.id in chosen_ids for document in evidence.documents])
        yield _("filter: {name}", name=name), np.flatnonzero(has)
    for pattern in patterns:
        matches = matcher(pattern)
        has = np.array([matches(document.text) for document in evidence.documents])
        yield pattern_name(pattern), np.flatnonzero(has)


def pattern_name(pattern: str) -> str:
    return _("matches {pattern}", pattern=pattern)


def _by_file(evidence: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    """The files that the documents were imported from, if there are several."""
    names = sorted(set(evidence.files) - {""})
    if 2 <= len(names) <= MOST_VALUES or (names and "" in evidence.files):
        for name in names[:MOST_VALUES]:
            rows = np.flatnonzero(np.array([file == name for file in evidence.files]))
            yield _("file: {name}", name=name), rows


def _by_metadata(evidence: Evidence) -> Iterator[tuple[str, np.ndarray]]:
    """Keys with few values, and the source of the document where it has several."""
    keys = {key for document in evidence.documents for key in document.meta}
    for key in sorted(keys):
        values = [str(document.meta.get(key, "")) for document in evidence.documents]
        distinct = sorted(set(values) - {""})
        if 2 <= len(distinct) <= MOST_VALUES:
            for value in distinct:
                rows = np.flatnonzero(np.array([item == value for item in values]))
                yield f"{key}: {value}", rows
