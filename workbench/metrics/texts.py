"""Scores of texts that a model writes, compared with gold: ROUGE-L, token accuracy, exact match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics import answers
from workbench.metrics.resampling import Arrays, divided, weighted_sums

ROUGE_L, EXACT, TOKENS = "rouge_l", "text_exact_match", "text_token_accuracy"
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """In lower case, without punctuation; of ASCII texts those of rouge-score without stemming."""
    return _WORD.findall(text.lower())


def rouge_l(gold: str, predicted: str) -> float:
    """F1 of the longest common subsequence of words, 0 to 1; 1 if neither has a word.

    Source: Lin 2004, ROUGE, section 3.1 with β = 1, as in the package rouge-score.
    """
    ours, theirs = words(gold), words(predicted)
    if not ours or not theirs:
        return float(ours == theirs)
    shared = _common(ours, theirs)
    return 2 * shared / (len(ours) + len(theirs))


def token_accuracy(gold: str, predicted: str) -> float:
    """Words that stand at the same place in both, over those of the longer text, 0 to 1; 1 if
    neither has a word.
    """
    ours, theirs = words(gold), words(predicted)
    same = sum(mine == other for mine, other in zip(ours, theirs, strict=False))
    longer = max(len(ours), len(theirs))
    return same / longer if longer else 1.0


def _common(first: Sequence[str], other: Sequence[str]) -> int:
    """Words of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in first:
        before = 0
        for place, against in enumerate(other, 1):
            above = row[place]
            row[place] = before + 1 if word == against else max(above, row[place - 1])
            before = above
    return row[-1]


@dataclass(frozen=True)
class TextStatistic:
    """scores float (N, 3): ROUGE-L, exact match, token accuracy of each document; a `Statistic`."""

    scores: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, golds: Sequence[str], predicted: Sequence[str | None]) -> TextStatistic:
        """A document without a prediction scores 0. Raises ValueError if the two differ in length.

        Exact match is that of answers, see `metrics.answers`.
        """
        measures = rouge_l, answers.exact_match, token_accuracy
        rows = [
            [0.0 if text is None else measure(gold, text) for measure in measures]
            for gold, text in zip(golds, predicted, strict=True)
        ]
        return cls(np.array(rows, np.float64).reshape(-1, len(measures)))

    def taken(self, rows: np.ndarray) -> TextStatistic:
        """The documents at the positions `rows` int (K,)."""
        return TextStatistic(self.scores[rows])

    def means(self) -> dict[str, float]:
        """The scores of all documents, each once."""
        means = self(np.ones((1, len(self.scores)), np.float32))
        return {name: float(values[0]) for name, values in means.items()}

    def __call__(self, weights: np.ndarray) -> Arrays:
        """Means over documents; 0 without any."""
        totals = weighted_sums(weights, np.ones((len(self.scores), 1)))[:, 0]
        sums = weighted_sums(weights, self.scores).T
        names = ROUGE_L, EXACT, TOKENS
        return {name: divided(row, totals) for name, row in zip(names, sums, strict=True)}
