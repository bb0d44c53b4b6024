"""Logistic regression on TF-IDF features."""

from __future__ import annotations

from typing import Any

from workbench.baselines.logistic.info import INFO
from workbench.baselines.tfidf import TfidfLinear

MAX_STEPS = 1000  # of the solver
STRENGTH = 10  # inverse of the regularization: features of length 1 are few and small


class Logistic(TfidfLinear):
    info = INFO

    @classmethod
    def classifier(cls, seed: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=STRENGTH, max_iter=MAX_STEPS, random_state=seed)
