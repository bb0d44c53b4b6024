"""Agreement of annotators, as a function of the weights of documents.

A unit is what is labelled once by each annotator: a document, a decision about one label, or a
stretch of characters, which counts as often as it is long. Units without labels of at least two
annotators count in no measure.

Sources: Artstein and Poesio 2008, Inter-coder agreement for computational linguistics; Krippendorff
2011, Computing Krippendorff's alpha-reliability; Gwet 2008, Computing inter-rater reliability and
its variance in the presence of high agreement; Light 1971 for the mean kappa of more than two;
Shrout and Fleiss 1979, ICC(2,1).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np

from workbench.metrics.resampling import LABEL, Arrays, Statistic, weighted_sums
from workbench.metrics.span_matching import span_counts
from workbench.text import alignment
from workbench.text.spans import Span

MISSING = -1  # class of a unit that an annotator has not labelled
NO_LABEL = ""  # class of characters and words outside spans
MAX_ORDERED = 30  # values up to which the ordinal alpha is computed, which compares all pairs

T = TypeVar("T")
Pair = tuple[np.ndarray, list[Sequence[T]], list[Sequence[T]]]
Version = Iterable[Span] | None  # the spans of one annotator in a document; None: not labelled


@dataclass(frozen=True, eq=False)
class ClassAgreement:
    """Agreement on one class per unit: observed, kappas, alpha and AC1.

    sums: name → float (N, …), summed over the units of each document; see `class_agreement`.
    """

    labels: tuple[str, ...]
    sums: Mapping[str, np.ndarray]

    def __call__(self, weights: np.ndarray) -> Arrays:
        """`observed_agreement`, `kappa`, `fleiss_kappa`, `alpha`, `ac1` (R,), and of each label
        `label_agreement` (of those who chose it, how many others did) and `label_alpha` (R, L).

        NaN where nothing can differ, such as alpha if all units have one class.
        """
        sums = {
            name: weighted_sums(weights, part if part.ndim > 1 else part[:, None])
            for name, part in self.sums.items()
        }
        units, agreeing = sums["units"][:, 0], sums["agreeing"][:, 0]
        shares, counts, within = sums["shares"], sums["counts"], sums["within"]
        observed = _over(agreeing, units)
        shares = _over(shares, units[:, None])
        by_chance = (shares**2).sum(-1)
        ratings = counts.sum(-1)
        others = _over((shares * (1 - shares)).sum(-1), np.array(max(1, len(self.labels) - 1)))
        disagreeing = ratings - within.sum(-1)
        apart = counts - within  # of a label: what others chose in its place
        return {
            "observed_agreement": observed,
            "kappa": self._kappa(sums["pairs"]),
            "fleiss_kappa": _over(observed - by_chance, 1 - by_chance),
            "alpha": 1 - _over((ratings - 1) * disagreeing, ratings**2 - (counts**2).sum(-1)),
            "ac1": _over(observed - others, 1 - others),
            f"{LABEL}agreement": _over(within, counts),
            f"{LABEL}alpha": 1
            - _over((ratings[:, None] - 1) * apart, counts * (ratings[:, None] - counts)),
        }

    def taken(self, rows: np.ndarray) -> ClassAgreement:
        """The agreement in the documents at the positions `rows` int (K,)."""
        return ClassAgreement(self.labels, {name: part[rows] for name, part in self.sums.items()})

    def _kappa(self, pairs: np.ndarray) -> np.ndarray:
        """The mean over pairs of annotators; pairs (R, P · (1 + 2 L)), see `class_agreement`."""
        count = len(self.labels)
        pairs = pairs.reshape(len(pairs), pairs.shape[1] // (1 + 2 * count), 1 + 2 * count)
        equal, left, right = pairs[..., 0], pairs[..., 1 : 1 + count], pairs[..., 1 + count :]
        total = left.sum(-1)
        observed, chance = _over(equal, total), _over((left * right).sum(-1), total**2)
        return _mean(_over(observed - chance, 1 - chance))


def class_agreement(
    ratings: np.ndarray,
    labels: Sequence[str],
    *,
    documents: np.ndarray | None = None,
    size: np.ndarray | None = None,
    count: int | None = None,
) -> ClassAgreement:
    """ratings int (U, A): the class of each unit by each annotator, MISSING for none.

    documents int (U,): position of the document of each unit, by default its own; `count` of them.
    size (U,): how often a unit counts, by default once.
    """
    units, annotators = ratings.shape
    where = np.arange(units) if documents is None else documents
    total = units if count is None else count
    size = np.ones(units) if size is None else np.asarray(size, np.float64)
    classes = np.arange(len(labels))
    chosen = np.stack([(side[:, None] == classes) for side in ratings.T]).sum(0, dtype=np.float64)
    raters = chosen.sum(1)
    used = np.flatnonzero(raters >= 2)
    where, size, ratings = where[used], size[used], ratings[used]
    chosen, raters = chosen[used], raters[used]
    twice = chosen * (chosen - 1)
    parts = {
        "units": size,
        "agreeing": size * twice.sum(1) / (raters * (raters - 1)),
        "shares": size[:, None] * chosen / raters[:, None],
        "counts": size[:, None] * chosen,
        "within": size[:, None] * twice / (raters - 1)[:, None],
        "pairs": np.concatenate(
            [np.zeros((len(used), 0))]
            + [
                size[:, None] * _pair(ratings[:, left], ratings[:, right], len(labels))
                for left, right in combinations(range(annotators), 2)
            ],
            1,
        ),
    }
    return ClassAgreement(
        tuple(labels), {name: _by_document(part, where, total) for name, part in parts.items()}
    )


def _pair(left: np.ndarray, right: np.ndarray, count: int) -> np.ndarray:
    """(U, 1 + 2 L): whether both are equal, the class of each; 0 where one is missing."""
    both = (left != MISSING) & (right != MISSING)
    sides = [(side[:, None] == np.arange(count)) & both[:, None] for side in (left, right)]
    return np.concatenate([((left == right) & both)[:, None], *sides], 1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NumberAgreement:
    """Agreement on one number per document: values (N, A), NaN for none."""

    values: np.ndarray
    labels: tuple[str, ...] = ()

    def __call__(self, weights: np.ndarray) -> Arrays:
        """`interval_alpha`, `ordinal_alpha`, `icc` (two-way random, absolute agreement, of a single
        rater; over documents with a number of everyone), `pearson` and `mae` (means over pairs).

        Each (R,); NaN where nothing can differ. `ordinal_alpha` only up to MAX_ORDERED values.
        """
        return {
            "interval_alpha": self._interval(weights),
            **self._ordinal(weights),
            "icc": self._icc(weights),
            **self._pairs(weights),
        }

    def taken(self, rows: np.ndarray) -> NumberAgreement:
        """The agreement in the documents at the positions `rows` int (K,)."""
        return NumberAgreement(self.values[rows])

    def _interval(self, weights: np.ndarray) -> np.ndarray:
        rows, used, raters = self._used()
        first, second = rows.sum(1), (rows**2).sum(1)
        within = 2 * (raters * second - first**2) / np.maximum(1, raters - 1)
        columns = np.stack([within, raters, first, second], 1) * used[:, None]
        within, count, first, second = weighted_sums(weights, columns).T
        apart = 2 * (count * second - first**2)
        return np.asarray(1 - _over((count - 1) * within, apart))

    def _ordinal(self, weights: np.ndarray) -> Arrays:
        known = np.isfinite(self.values)
        scale = np.unique(self.values[known])
        if not 0 < len(scale) <= MAX_ORDERED:
            return {}
        chosen = np.stack([(self.values == value).sum(1) for value in scale], 1).astype(np.float64)
        raters = chosen.sum(1)
        chosen[raters < 2] = 0
        low, high = np.triu_indices(len(scale), 1)
        apart = chosen[:, low] * chosen[:, high] / np.maximum(1, raters - 1)[:, None]
        counts, apart = weighted_sums(weights, chosen), weighted_sums(weights, apart)
        until = np.concatenate([np.zeros((len(counts), 1)), counts.cumsum(1)], 1)
        between = until[:, high + 1] - until[:, low] - (counts[:, low] + counts[:, high]) / 2
        expected = (counts[:, low] * counts[:, high] * between**2).sum(1)
        observed = (apart * between**2).sum(1)
        return {"ordinal_alpha": 1 - _over((counts.sum(1) - 1) * observed, expected)}

    def _icc(self, weights: np.ndarray) -> np.ndarray:
        raters = self.values.shape[1]
        used = np.isfinite(self.values).all(1)
        rows = np.where(used[:, None], self.values, 0.0)
        columns = [used.astype(np.float64), (rows**2).sum(1), rows.sum(1) ** 2, *rows.T]
        sums = weighted_sums(weights, np.stack(columns, 1))
        (count, square, of_rows), of_raters = sums[:, :3].T, sums[:, 3:]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = of_raters.sum(1) ** 2 / (count * raters)
            between_rows = of_rows / raters - middle
            between_raters = (of_raters**2).sum(1) / count - middle
            rest = (square - middle - between_rows - between_raters) / ((count - 1) * (raters - 1))
            between_rows, between_raters = between_rows / (count - 1), between_raters / (raters - 1)
            whole = between_rows + (raters - 1) * rest + raters * (between_raters - rest) / count
        return _over(between_rows - rest, whole)

    def _pairs(self, weights: np.ndarray) -> Arrays:
        correlations, distances = [], []
        for left, right in combinations(self.values.T, 2):
            used = np.isfinite(left) & np.isfinite(right)
            x, y = (
                np.where(used, side - side[used].mean(), 0.0) if used.any() else side * 0
                for side in (left, right)
            )
            columns = np.stack(
                [
                    used,
                    x,
                    y,
                    x * x,
                    y * y,
                    x * y,
                    np.abs(np.where(used, left, 0) - np.where(used, right, 0)),
                ],
                1,
            )
            n, sx, sy, sxx, syy, sxy, distance = weighted_sums(weights, columns).T
            spread = np.sqrt(np.maximum(0, n * sxx - sx**2) * np.maximum(0, n * syy - sy**2))
            correlations.append(_over(n * sxy - sx * sy, spread))
            distances.append(_over(distance, n))
        return {
            "pearson": _mean(np.stack(correlations, 1)),
            "mae": _mean(np.stack(distances, 1)),
        }

    def _used(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        known = np.isfinite(self.values)
        raters = known.sum(1).astype(np.float64)
        return np.where(known, self.values, 0.0), raters >= 2, raters


@dataclass(frozen=True, eq=False)
class ItemAgreement:
    """F1 between annotators of items that a document may have any number of, such as relations.

    counts (N, P, 3): of each document and pair of annotators the items of both, and of each.
    """

    counts: np.ndarray
    labels: tuple[str, ...] = ()

    def __call__(self, weights: np.ndarray) -> Arrays:
        """`f1` (R,), the mean over pairs; NaN if neither of any pair has an item."""
        sums = weighted_sums(weights, self.counts.reshape(len(self.counts), -1))
        both, left, right = np.moveaxis(sums.reshape(len(weights), -1, 3), -1, 0)
        return {"f1": _mean(_over(2 * both, left + right))}

    def taken(self, rows: np.ndarray) -> ItemAgreement:
        """The agreement in the documents at the positions `rows` int (K,)."""
        return ItemAgreement(self.counts[rows])


def item_agreement(versions: Sequence[Sequence[Iterable[Hashable] | None]]) -> ItemAgreement:
    """versions (N, A): the items of each annotator in each document, None for none.

    Every item counts once.
    """
    sets = [[None if side is None else set(side) for side in sides] for sides in versions]
    rows = [
        [
            (0, 0, 0)
            if left is None or right is None
            else (len(left & right), len(left), len(right))
            for left, right in combinations(sides, 2)
        ]
        for sides in sets
    ]
    pairs = len(rows[0]) if rows else 0
    return ItemAgreement(np.array(rows, np.float64).reshape(len(rows), pairs, 3))


@dataclass(frozen=True, eq=False)
class PairScores:
    """A statistic of the documents of two annotators, at the positions rows int (K,) of all."""

    rows: np.ndarray
    statistic: Statistic

    def __call__(self, weights: np.ndarray) -> Arrays:
        """weights (R, N) of all documents; NaN where none of the two has a weight."""
        part = weights[:, self.rows]
        none = part.sum(-1) == 0
        return {
            name: np.where(none if values.ndim == 1 else none[:, None], np.nan, values)
            for name, values in self.statistic(part).items()
        }

    def taken(self, rows: np.ndarray) -> PairScores:
        """Of the documents at the positions `rows` int (K,), which have other positions then."""
        place = {int(row): at for at, row in enumerate(rows)}
        own = [at for at, row in enumerate(self.rows) if int(row) in place]
        after = np.array([place[int(self.rows[at])] for at in own], int)
        return PairScores(after, self.statistic.taken(np.array(own, int)))


@dataclass(frozen=True, eq=False)
class PairMeans:
    """Means over pairs of annotators, each over the documents of both.

    names: of the scores, by default those that all pairs have, without those of labels.
    """

    pairs: tuple[PairScores, ...]
    names: tuple[str, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.pairs[0].statistic.labels if self.pairs else ()

    def __call__(self, weights: np.ndarray) -> Arrays:
        """NaN of resamples in which no pair has a document."""
        of_pairs = [pair(weights) for pair in self.pairs]
        names = self.names
        if names is None:
            shared = (name for name in (of_pairs or [{}])[0] if not name.startswith(LABEL))
            names = tuple(name for name in shared if all(name in arrays for arrays in of_pairs))
        return {
            name: _mean(np.stack([arrays[name] for arrays in of_pairs], -1))
            for name in names
            if of_pairs
        }

    def taken(self, rows: np.ndarray) -> PairMeans:
        """The agreement in the documents at the positions `rows` int (K,)."""
        pairs = (pair.taken(rows) for pair in self.pairs)
        return PairMeans(tuple(pair for pair in pairs if len(pair.rows)), self.names)


@dataclass(frozen=True, eq=False)
class SpanAgreement:
    """Span F1 between annotators, and the agreement on characters and words.

    words: None without the words of the texts.
    """

    spans: PairMeans
    characters: ClassAgreement
    words: ClassAgreement | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.spans.labels

    def __call__(self, weights: np.ndarray) -> Arrays:
        """`span_f1` (boundaries and label), `exact_f1`, `partial_f1`, `type_f1`, and `label_f1`
        (R, L) of each label; `character_alpha` and `word_kappa`.
        """
        scores = dict(self.spans(weights))
        scores["character_alpha"] = self.characters(weights)["alpha"]
        if self.words is not None:
            scores["word_kappa"] = self.words(weights)["kappa"]
        return scores

    def taken(self, rows: np.ndarray) -> SpanAgreement:
        """The agreement in the documents at the positions `rows` int (K,)."""
        words = None if self.words is None else self.words.taken(rows)
        return SpanAgreement(self.spans.taken(rows), self.characters.taken(rows), words)


def span_agreement(
    versions: Sequence[Sequence[Version]],
    labels: Sequence[str],
    lengths: Sequence[Mapping[str, int]],
    words: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> SpanAgreement:
    """versions (N, A), lengths and words as for `character_agreement` and `word_agreement`."""
    sides = [[None if side is None else list(side) for side in row] for row in versions]
    names = {span.label for row in sides for side in row or () for span in side or ()}
    known = (*labels, *sorted(names - {*labels}))
    pairs = tuple(
        PairScores(rows, span_counts(ours, theirs, known)) for rows, ours, theirs in both_of(sides)
    )
    scores = ("span_f1", "exact_f1", "partial_f1", "type_f1", f"{LABEL}f1")
    return SpanAgreement(
        PairMeans(pairs, scores),
        character_agreement(sides, lengths),
        None if words is None else word_agreement(sides, words),
    )


def both_of(versions: Sequence[Sequence[Sequence[T] | None]]) -> Iterator[Pair[T]]:
    """The versions (N, A) of each pair of annotators that share a document: the positions int (K,)
    of the documents of both, and what each says there.
    """
    for left, right in combinations(range(len(versions[0]) if versions else 0), 2):
        rows, ours, theirs = list[int](), list[Sequence[T]](), list[Sequence[T]]()
        for at, row in enumerate(versions):
            one, other = row[left], row[right]
            if one is not None and other is not None:
                rows.append(at)
                ours.append(one)
                theirs.append(other)
        if rows:
            yield np.array(rows, int), ours, theirs


def character_agreement(
    versions: Sequence[Sequence[Version]], lengths: Sequence[Mapping[str, int]]
) -> ClassAgreement:
    """Every character is a unit; its class is the label that covers it, or all such labels.

    versions (N, A); lengths (N,): field → code points. NO_LABEL is the class outside spans.
    """
    rows: list[list[str | None]] = []
    where, size = list[int](), list[int]()
    for at, (sides, fields) in enumerate(zip(versions, lengths, strict=True)):
        spans = [None if side is None else list(side) for side in sides]
        for field, length in fields.items():
            here = [
                None if side is None else [span for span in side if span.field == field]
                for side in spans
            ]
            ranges = [pair for side in here if side for span in side for pair in span.ranges]
            cuts = sorted({0, length, *(cut for pair in ranges for cut in pair if cut < length)})
            covered = [None if side is None else _covering(side, cuts) for side in here]
            for piece in range(len(cuts) - 1):
                rows.append([None if side is None else side[piece] for side in covered])
                where.append(at)
                size.append(cuts[piece + 1] - cuts[piece])
    return _of_names(rows, np.array(where, int), len(versions), np.array(size, float))


def word_agreement(
    versions: Sequence[Sequence[Version]], words: Sequence[Sequence[tuple[int, int]]]
) -> ClassAgreement:
    """Every word of the first text is a unit; its class is the label of the span that covers it.

    versions (N, A); words (N,): sorted (start, end). Most words have NO_LABEL, and the words of a
    span are labelled together, so that kappa of words says less than that of spans.
    """
    rows: list[tuple[str | None, ...]] = []
    where: list[int] = []
    for at, (sides, offsets) in enumerate(zip(versions, words, strict=True)):
        tags = [
            [None] * len(offsets)
            if side is None
            else [tag.partition("-")[2] for tag in alignment.tags(offsets, side)[0]]
            for side in sides
        ]
        rows.extend(zip(*tags, strict=True))
        where.extend([at] * len(offsets))
    return _of_names(rows, np.array(where, int), len(versions))


def _covering(spans: Sequence[Span], cuts: Sequence[int]) -> list[str]:
    """The labels of the spans that cover each piece between two cuts, sorted, as one name."""
    covering: list[set[str]] = [set() for _cut in cuts[1:]]
    for span in spans:
        for start, end in span.ranges:
            for piece in range(bisect_left(cuts, start), bisect_left(cuts, end)):
                covering[piece].add(span.label)
    return [" + ".join(sorted(names)) for names in covering]


def _of_names(
    rows: Sequence[Sequence[str | None]],
    where: np.ndarray,
    count: int,
    size: np.ndarray | None = None,
) -> ClassAgreement:
    """rows (U, A): the class of each unit by each annotator, None for none."""
    labels = sorted({name for row in rows for name in row if name is not None})
    number = {name: at for at, name in enumerate(labels)}
    classes = [[MISSING if name is None else number[name] for name in row] for row in rows]
    ratings = np.array(classes, int).reshape(len(rows), len(rows[0]) if rows else 0)
    return class_agreement(ratings, labels, documents=where, size=size, count=count)


def _by_document(part: np.ndarray, where: np.ndarray, count: int) -> np.ndarray:
    """The sums (N, …) of the rows (U, …) of each document."""
    sums = np.zeros((count, *part.shape[1:]))
    np.add.at(sums, where, part)
    return sums


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN where `whole` is 0 within rounding."""
    shape = np.broadcast_shapes(part.shape, whole.shape)
    quotient: np.ndarray = np.divide(
        part, whole, out=np.full(shape, np.nan), where=np.abs(whole) > 1e-12
    )
    return quotient


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis without NaN; NaN where there is nothing else."""
    known = np.isfinite(values)
    return _over(np.where(known, values, 0.0).sum(-1), known.sum(-1).astype(np.float64))
