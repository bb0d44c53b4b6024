"""Linear-chain conditional random fields: decoding with learned transition scores.

numpy alone, shared by training, hosts and exported models.
Source: Lafferty, McCallum and Pereira 2001; Collobert et al. 2011, section 3.3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.runtime.decoding import viterbi


@dataclass(frozen=True)
class Transitions:
    """Transition scores of tags, float64; -inf if the scheme does not allow the transition.

    start, end (L,): of the first and of the last tag. step (L, L): from (row) → to (column).
    """

    tags: tuple[str, ...]
    start: np.ndarray
    step: np.ndarray
    end: np.ndarray

    @classmethod
    def from_json(
        cls,
        raw: Mapping[str, Any],
        tags: Sequence[str],
        constraints: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Transitions:
        """Learned scores (`start`, `step`, `end` as lists), with invalid transitions masked.

        `constraints`: added to start (L,) and step (L, L); 0 or -inf.
        Raises ValueError if the sizes do not match `tags`.
        """
        count = len(tags)
        start, step, end = (np.array(raw[name], np.float64) for name in ("start", "step", "end"))
        if (start.shape, step.shape, end.shape) != ((count,), (count, count), (count,)):
            raise ValueError(f"transitions of shape {step.shape} for {count} tags")
        if constraints is not None:
            start, step = start + constraints[0], step + constraints[1]
        return cls(tuple(tags), start, step, end)

    def best(self, emissions: np.ndarray) -> np.ndarray:
        """The tags (T,) with the highest score under emissions (T, L)."""
        if not len(emissions):
            return np.zeros(0, dtype=np.int64)
        return viterbi(emissions, self.start, self.step, self.end)

    def log_partition(self, emissions: np.ndarray) -> float:
        """Log of the sum of the exponentiated scores of all tag sequences; 0 without words.

        emissions float (T, L).
        """
        if not len(emissions):
            return 0.0
        return float(_log_sum(self._forward(emissions)[-1] + self.end))

    def marginals(self, emissions: np.ndarray) -> np.ndarray:
        """Marginal probability (T, L) of each tag at each word."""
        if not len(emissions):
            return np.zeros(emissions.shape)
        both = self._forward(emissions) + self._backward(emissions)
        probabilities: np.ndarray = np.exp(both - _log_sum(both[-1]))
        return probabilities

    def _forward(self, emissions: np.ndarray) -> np.ndarray:
        """(T, L): log sum over the sequences that end with a tag, including its emission."""
        sums, after = np.array(emissions, np.float64), _Sums(self.step)
        sums[0] += self.start
        for position in range(1, len(sums)):
            sums[position] += after(sums[position - 1])
        return sums

    def _backward(self, emissions: np.ndarray) -> np.ndarray:
        """(T, L): log sum over the continuations after a tag, excluding its emission."""
        sums, before = np.zeros(emissions.shape), _Sums(self.step.T)
        sums[-1] = self.end
        for position in range(len(sums) - 2, -1, -1):
            sums[position] = before(emissions[position + 1] + sums[position + 1])
        return sums


class _Sums:
    """scores (L,) → log Σ_i exp(scores_i + step_ij), with the powers of the steps computed once."""

    def __init__(self, step: np.ndarray):
        most = step.max()
        self.most = most if np.isfinite(most) else 0.0
        self.powers = np.exp(step - self.most)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        most = scores.max()
        most = most if np.isfinite(most) else 0.0
        with np.errstate(divide="ignore"):
            logs: np.ndarray = np.log(np.exp(scores - most) @ self.powers)
        return logs + (most + self.most)


def _log_sum(values: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials over the first axis; -inf if all values are."""
    most = values.max(axis=0)
    most = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        sums: np.ndarray = most + np.log(np.exp(values - most).sum(axis=0))
    return sums
