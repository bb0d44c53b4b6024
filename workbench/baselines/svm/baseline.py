"""A linear support vector machine on TF-IDF features."""

from __future__ import annotations

from typing import Any

from workbench.baselines.svm.info import INFO
from workbench.baselines.tfidf import TfidfLinear


class Svm(TfidfLinear):
    info = INFO

    @classmethod
    def classifier(cls, seed: int) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=seed)
