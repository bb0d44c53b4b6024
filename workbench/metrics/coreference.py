"""Scores of chains of coreferent mentions, defined as in the reference scorer of CoNLL-2012.

MUC counts the links that join the mentions of a chain (Vilain et al. 1995), B³ the share of each
mention's chain that is right (Bagga and Baldwin 1998), CEAF φ4 the similarity of chains that are
matched one to one (Luo 2005), LEA the resolved links of each chain, weighted by its size (Moosavi
and Strube 2016). The CoNLL score is the mean F1 of the first three (Pradhan et al. 2012). Sums are
over all documents, before anything is divided. A chain may have one mention; MUC ignores it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.resampling import Arrays, divided, weighted_sums

Chain = Collection[Hashable]  # mentions: anything that says where a mention is
MEASURES = MUC, B_CUBED, CEAF, LEA, MENTION = ("muc", "b_cubed", "ceaf_e", "lea", "mention")
CONLL = "coref_f1"


@dataclass(frozen=True, eq=False)
class ChainCounts:
    """counts float (N, measures, 4) of N documents: the numerator and the denominator of recall,
    then those of precision. A Statistic.
    """

    counts: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, gold: Iterable[Sequence[Chain]], predicted: Iterable[Sequence[Chain]]
    ) -> ChainCounts:
        """The chains of each document. Raises ValueError if the sides differ in length.

        A mention of several chains of one side counts in the first one only.
        """
        rows = [document_counts(*sides) for sides in zip(gold, predicted, strict=True)]
        return cls(np.array(rows, np.float64).reshape(-1, len(MEASURES), 4))

    def taken(self, rows: np.ndarray) -> ChainCounts:
        """The counts of the documents at the positions `rows` int (K,)."""
        return ChainCounts(self.counts[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """`muc_recall`, `muc_precision`, `muc_f1` … of every measure, and `coref_f1`."""
        counts = self.counts.reshape(-1, len(MEASURES) * 4)
        sums = weighted_sums(weights, counts).reshape(-1, len(MEASURES), 4)
        recall, precision = divided(sums[..., 0], sums[..., 1]), divided(sums[..., 2], sums[..., 3])
        f1 = divided(2 * precision * recall, precision + recall)
        scores = {
            f"{measure}_{name}": values[:, at]
            for at, measure in enumerate(MEASURES)
            for name, values in (("precision", precision), ("recall", recall), ("f1", f1))
        }
        conll = [MEASURES.index(measure) for measure in (MUC, B_CUBED, CEAF)]
        return {CONLL: f1[:, conll].mean(1), **scores}


def scores(
    gold: Iterable[Sequence[Chain]], predicted: Iterable[Sequence[Chain]]
) -> dict[str, float]:
    """Every score of the chains of documents, by name."""
    counts = ChainCounts.of(gold, predicted)
    values = counts(np.ones((1, len(counts.counts)), np.float32))
    return {name: float(value[0]) for name, value in values.items()}


def document_counts(gold: Sequence[Chain], predicted: Sequence[Chain]) -> np.ndarray:
    """float (measures, 4) of one document, see `ChainCounts`."""
    ours, theirs = _distinct(gold), _distinct(predicted)
    chain_of = {mention: at for at, chain in enumerate(theirs) for mention in chain}
    shared = np.zeros((len(ours), len(theirs)))  # mentions of each pair of chains
    for at, chain in enumerate(ours):
        for mention in chain:
            if mention in chain_of:
                shared[at, chain_of[mention]] += 1
    sizes, other_sizes = (np.array([*map(len, side)], float) for side in (ours, theirs))
    similarity = _ceaf(shared, sizes, other_sizes)
    correct = shared.sum()
    return np.array(
        [
            (*_muc(shared, sizes), *_muc(shared.T, other_sizes)),
            (*_b_cubed(shared, sizes), *_b_cubed(shared.T, other_sizes)),
            (similarity, len(ours), similarity, len(theirs)),
            (*_lea(shared, sizes, other_sizes), *_lea(shared.T, other_sizes, sizes)),
            (correct, sizes.sum(), correct, other_sizes.sum()),
        ]
    )


def _distinct(chains: Sequence[Chain]) -> list[list[Hashable]]:
    """The chains without repeated mentions and without empty chains."""
    known: set[Hashable] = set()
    distinct = []
    for chain in chains:
        mentions = [mention for mention in dict.fromkeys(chain) if mention not in known]
        known.update(mentions)
        if mentions:
            distinct.append(mentions)
    return distinct


def _muc(shared: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Links of the chains that the other side has, and all: a chain of n mentions needs n − 1.

    Mentions that the other side lacks are parts of their own.
    """
    parts = (shared > 0).sum(1) + sizes - shared.sum(1)
    return float((sizes - parts).sum()), float((sizes - 1).sum())


def _b_cubed(shared: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    return float(((shared**2).sum(1) / sizes).sum()), float(sizes.sum())


def _ceaf(shared: np.ndarray, sizes: np.ndarray, other_sizes: np.ndarray) -> float:
    """The sum of φ4 = 2 |K ∩ R| / (|K| + |R|) over the best pairs of chains."""
    from scipy.optimize import linear_sum_assignment

    similarity = 2 * shared / (sizes[:, None] + other_sizes)
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return float(similarity[rows, columns].sum())


def _lea(shared: np.ndarray, sizes: np.ndarray, other_sizes: np.ndarray) -> tuple[float, float]:
    """Of each chain the share of its links that the other side has, times its size.

    A chain of one mention is resolved if the other side has it too.
    """
    links = _links(sizes)
    resolved = divided(_links(shared).sum(1), links)
    alone = (sizes == 1) & ((shared == 1) & (other_sizes == 1)).any(1)
    return float((sizes * np.where(alone, 1.0, resolved)).sum()), float(sizes.sum())


def _links(sizes: np.ndarray) -> np.ndarray:
    links: np.ndarray = sizes * (sizes - 1) / 2
    return links
