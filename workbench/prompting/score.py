"""From the log-probabilities of label words to an answer. numpy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.base.i18n import N_
from workbench.text.fields import ClassScores, Prediction

DEFINITION = N_(
    "The score of a label is the mean log-probability of all subwords of its name at its place in the prompt. Causal models: each subword "
    "given all that stands before it. Masked models: one mask per subword, filled from left to right with the right subwords. "
    "The share of a label is exp(score) over the sum for all labels."
)


def label_score(logprobs: Sequence[float]) -> float:
    """Mean natural log-probability of the subwords of one label, so that long names are not punished. -inf for none."""
    return float(np.mean(logprobs)) if len(logprobs) else float("-inf")


def shares(scores: Sequence[float]) -> np.ndarray:
    """Softmax of the scores, (L,) float64; equal shares where every score is -inf."""
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).any():
        return np.full(len(values), 1 / max(1, len(values)))
    spread = np.exp(values - values[np.isfinite(values)].max())
    return spread / spread.sum()


def prediction(logprobs: Mapping[str, Sequence[float]], *, cut: bool = False) -> Prediction:
    """The answer for one document from {label: log-probabilities of its subwords}."""
    found = shares([label_score(one) for one in logprobs.values()])
    return Prediction(ClassScores(tuple(logprobs), tuple(map(float, found))), cut=cut)
