"""Exact match and F1 of answers as a function of the weights of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics import answers
from workbench.metrics.resampling import Arrays, divided, weighted_sums

EXACT, F1 = "answer_exact_match", "answer_f1"


@dataclass(frozen=True)
class AnswerStatistic:
    """sums float (N, 3): of each document the sums of exact match and F1, and its questions.

    A `Statistic`. Questions about one text are drawn together, as they depend on each other.
    """

    sums: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, golds: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[str]]
    ) -> AnswerStatistic:
        """golds: the correct answers of every question of every document."""
        rows = []
        for gold_answers, answered in zip(golds, predicted, strict=True):
            scores = answers.scores(gold_answers, answered)
            rows.append(
                (
                    scores[EXACT] * len(gold_answers),
                    scores[F1] * len(gold_answers),
                    len(gold_answers),
                )
            )
        return cls(np.array(rows, np.float64).reshape(-1, 3))

    def taken(self, rows: np.ndarray) -> AnswerStatistic:
        """The documents at the positions `rows` int (K,)."""
        return AnswerStatistic(self.sums[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """0 without questions."""
        exact, shared, count = weighted_sums(weights, self.sums).T
        return {EXACT: divided(exact, count), F1: divided(shared, count)}


def best_threshold(
    gaps: Sequence[float], answered: Sequence[float], null: Sequence[float]
) -> float:
    """The null threshold with the highest sum of scores; questions above it have no answer.

    gaps: `null_gap` of each question; answered, null: its score with its best candidate, and with
    no answer. Source: the SQuAD 2.0 script, find_best_thresh.
    """
    order = np.argsort(np.asarray(gaps), kind="stable")
    ranked = np.asarray(gaps, np.float64)[order]
    gain = (np.asarray(answered) - np.asarray(null))[order]
    totals = np.concatenate([[0.0], np.cumsum(gain)])  # of the questions that are answered
    best = int(np.flatnonzero(totals == totals.max())[-1])
    if best == 0:
        return float(ranked[0]) - 1.0
    if best == len(ranked):
        return float(ranked[-1])
    return float(ranked[best - 1] + ranked[best]) / 2
