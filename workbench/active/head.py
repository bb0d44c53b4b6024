"""A linear model on fixed vectors: logistic regression that continues from its last weights.

Runs in a worker; scikit-learn is imported when it is first trained.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

STRENGTH = 0.1  # inverse of the L2 penalty on standardized vectors
ITERATIONS, FURTHER = 30, 8  # of the first training, and of each that continues it
BLOCK_ROWS = 16_384  # rows that are predicted at a time


class Head:
    """Classes (`several` False: exactly one of them) of rows of a fixed width."""

    def __init__(self, outputs: int, *, several: bool = False):
        self.outputs, self.several = outputs, several
        self._mean, self._scale = np.zeros(0, np.float32), np.ones(0, np.float32)
        self._models: dict[int, Any] = {}  # -1 for one class of several, else by label

    @property
    def ready(self) -> bool:
        """Whether the scale of the vectors is known."""
        return len(self._mean) > 0

    def standardize(self, rows: np.ndarray, *, alike: int = 0, share: float = 1.0) -> None:
        """Use the mean and standard deviation of these rows (R, W); once, before training.

        alike: so many of the last columns have one standard deviation, because the first of them
        matter most, and are scaled to `share` of the others.
        """
        sample = rows.astype(np.float32)
        self._mean = sample.mean(0)
        variances = sample.var(0)
        if alike:
            variances[-alike:] = variances[-alike:].mean() / share**2
        self._scale = 1 / np.maximum(np.sqrt(variances), 1e-6)

    def fit(self, rows: np.ndarray, targets: np.ndarray) -> None:
        """rows (M, W); targets int (M,), or with `several` bool (M, outputs)."""
        if not self.ready:
            self.standardize(rows)
        standardized = (rows.astype(np.float32) - self._mean) * self._scale
        if not self.several:
            self._fit(-1, standardized, targets)
            return
        for label in range(self.outputs):
            self._fit(label, standardized, targets[:, label].astype(int))

    def _fit(self, key: int, rows: np.ndarray, targets: np.ndarray) -> None:
        from sklearn.linear_model import LogisticRegression

        present = np.unique(targets)
        if len(present) < 2:
            self._models[key] = int(present[0]) if len(present) else None
            return
        before = self._models.get(key)
        if not isinstance(before, LogisticRegression) or len(before.classes_) != len(present):
            before = LogisticRegression(C=STRENGTH, max_iter=ITERATIONS, tol=1e-3, warm_start=True)
        else:
            before.max_iter = FURTHER
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it continues with the next labels
            before.fit(rows, targets)
        self._models[key] = before

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """float32 (M, outputs); with `several`, of each label on its own. rows may be float16."""
        probabilities = np.zeros((len(rows), self.outputs), np.float32)
        for key, model in self._models.items():
            columns, weights, bias = self._linear(key, model)
            if weights is None:
                probabilities[:, columns] = 1.0
                continue
            for start in range(0, len(rows), BLOCK_ROWS):
                part = (
                    rows[start : start + BLOCK_ROWS].astype(np.float32, copy=False) @ weights + bias
                )
                probabilities[start : start + BLOCK_ROWS, columns] = _normalized(part)
        return probabilities

    def _linear(self, key: int, model: Any) -> tuple[list[int], Any, Any]:
        """Columns that it predicts, weights (W, C) for unscaled rows, and biases (C,).

        Without weights where training has seen one class only, which then is certain.
        """
        if model is None or isinstance(model, int):
            certain = model if key < 0 else (key if model else None)
            return [certain] if certain is not None else [], None, None
        coefficients, intercepts = model.coef_, model.intercept_
        if key < 0 and len(coefficients) == 1:  # two classes: the first one is the reference
            coefficients = np.concatenate([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])
        weights = (coefficients * self._scale).astype(np.float32).T
        bias = (intercepts - self._mean @ weights).astype(np.float32)
        return [int(class_) for class_ in model.classes_] if key < 0 else [key], weights, bias


def _normalized(logits: np.ndarray) -> np.ndarray:
    """Softmax of (M, C); of one column, the logistic function."""
    if logits.shape[1] == 1:
        probabilities: np.ndarray = 1 / (1 + np.exp(-logits))
        return probabilities
    probabilities = np.exp(logits - logits.max(1, keepdims=True))
    probabilities /= probabilities.sum(1, keepdims=True)
    return probabilities
