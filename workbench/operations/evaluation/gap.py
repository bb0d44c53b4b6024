"""Scores of the GAP challenge: whether a pronoun means each of two names, by gender.

Every name of every document is one decision. The bias is the F1 of feminine pronouns divided by
that of masculine ones. Source: Webster et al. 2018, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.importers.tables.gap import FEMININE, MASCULINE
from workbench.metrics.resampling import Arrays, Statistic, divided, weighted_sums

Names = frozenset[str]  # the names that a pronoun means
F1, MASCULINE_F1, FEMININE_F1, BIAS = SCORES = (
    "pronoun_f1",
    "pronoun_masculine_f1",
    "pronoun_feminine_f1",
    "pronoun_bias",
)


@dataclass(frozen=True, eq=False)
class PronounCounts:
    """Counts of names of N documents, a Statistic.

    right, answer_counts: float (N, 3), of all pronouns, masculine and feminine ones; answer_counts:
    gold and predicted names together. documents (N, 3): 1 for each document that asks for a name.
    """

    right: np.ndarray
    answer_counts: np.ndarray
    documents: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, genders: Sequence[str], gold: Sequence[Names | None], predicted: Sequence[Names]
    ) -> PronounCounts:
        """gold: None for documents that do not ask which name a pronoun means."""
        columns = np.array([[names is not None] * 3 for names in gold], dtype=np.float64).reshape(
            -1, 3
        )
        columns[:, 1] *= [name == MASCULINE for name in genders]
        columns[:, 2] *= [name == FEMININE for name in genders]
        pairs = [(true or frozenset(), names) for true, names in zip(gold, predicted, strict=True)]
        right = np.array([len(true & names) for true, names in pairs], dtype=np.float64)
        answer_counts = np.array(
            [len(true) + len(names) for true, names in pairs], dtype=np.float64
        )
        return cls(columns * right[:, None], columns * answer_counts[:, None], columns)

    def taken(self, rows: np.ndarray) -> PronounCounts:
        """The counts of the documents with these indices, int (M,)."""
        return PronounCounts(self.right[rows], self.answer_counts[rows], self.documents[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """F1 = 2 · right / (gold + predicted) is not defined without a document of the gender."""
        right, answer_counts, documents = (
            weighted_sums(weights, counts)
            for counts in (self.right, self.answer_counts, self.documents)
        )
        f1 = np.where(documents > 0, divided(2 * right, answer_counts), np.nan)
        bias = np.where(f1[:, 1] > 0, divided(f1[:, 2], f1[:, 1]), np.nan)
        return dict(zip(SCORES, (*f1.T, bias), strict=True))


@dataclass(frozen=True, eq=False)
class WithPronouns:
    """The scores of another statistic of the same documents, then those of pronouns."""

    base: Statistic
    pronouns: PronounCounts

    @property
    def labels(self) -> tuple[str, ...]:
        return self.base.labels

    def taken(self, rows: np.ndarray) -> WithPronouns:
        """The counts of the documents with these indices, int (M,)."""
        return WithPronouns(self.base.taken(rows), self.pronouns.taken(rows))

    def __call__(self, weights: np.ndarray) -> Arrays:
        return {**self.base(weights), **self.pronouns(weights)}


@dataclass(frozen=True)
class GapScores:
    """F1 as fractions of 1. n: documents of each gender.

    None: without a document of the gender; bias also without a masculine F1.
    """

    overall: float | None
    masculine: float | None
    feminine: float | None
    bias: float | None
    n: dict[str, int]


def gap_scores(counts: PronounCounts) -> GapScores:
    """Scores of documents; those without a gender count for `overall` only."""
    n = len(counts.documents)
    score_rows = counts(np.ones((1, n), np.float32))
    values = {name: float(row[0]) for name, row in score_rows.items() if np.isfinite(row[0])}
    return GapScores(
        values.get(F1),
        values.get(MASCULINE_F1),
        values.get(FEMININE_F1),
        values.get(BIAS),
        dict(zip((MASCULINE, FEMININE), map(int, counts.documents.sum(0)[1:]), strict=True)),
    )
