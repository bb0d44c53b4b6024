"""What strategies read: predictions as decisions with probabilities, and vectors. numpy only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

KIND = "strategy"  # in the registry
DECISIONS, SECOND, VECTORS = "decisions", "second", "vectors"  # what a strategy may need


@dataclass(frozen=True, eq=False)
class Decisions:
    """Predictions for N documents as decisions that are treated as independent.

    A class is one decision over the labels, several classes are one decision (no, yes) per label,
    tags and spans one per word. values float (M, K): probabilities of each decision; they sum to 1,
    and columns that a decision does not have are 0. starts int (N + 1,): decisions of document i
    are starts[i]:starts[i + 1]. outside: column 0 means no label, as for words outside of spans.
    """

    values: np.ndarray
    starts: np.ndarray
    outside: bool = False

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def owner(self) -> np.ndarray:
        """int (M,): the document of each decision."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @classmethod
    def of(cls, documents: Sequence[np.ndarray], *, outside: bool = False) -> Decisions:
        """Decisions from one array (U, K) per document."""
        starts = np.cumsum([0, *map(len, documents)])
        values = np.concatenate([np.zeros((0, _width(documents))), *documents])
        return cls(values, starts, outside)


def _width(documents: Sequence[np.ndarray]) -> int:
    return max((document.shape[1] for document in documents), default=1)


@dataclass(frozen=True, eq=False)
class Pool:
    """N documents to be ordered; what a strategy does not need may be missing.

    second: of another run, for the same labels. vectors (N, W) and known (L, W): of the documents,
    and of those already labelled.
    """

    size: int
    seed: int = 1
    decisions: Decisions | None = None
    second: Decisions | None = None
    vectors: np.ndarray | None = None
    known: np.ndarray | None = None


class Strategy(ABC):
    """Scores documents; those with the highest scores come first.

    needs: the fields of `Pool` that it reads. each: the score of a document does not depend on the
    other documents, so that they can be scored in parts.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    each: ClassVar[bool] = True

    @abstractmethod
    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,): documents with higher scores come first.

        Raises ValueError if the pool lacks what the strategy needs.
        """


def required(pool: Pool, field: str = DECISIONS) -> Decisions:
    """Raises ValueError if the pool has no predictions."""
    decisions: Decisions | None = getattr(pool, field)
    if decisions is None:
        raise ValueError(f"the pool has no {field}")
    return decisions
