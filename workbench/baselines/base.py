"""Base class of baselines: documents → logits, decoded by the task like those of any model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from workbench.baselines.spec import BaselineInfo
from workbench.runtime.crf import Transitions
from workbench.runtime.inputs import EncodedInput, Prepared, prepared_windows
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document
from workbench.text.segment import tokens_of

MIN_LOGIT = -30.0  # logit of a label that training never saw: probability 1e-13


class Baseline(ABC):
    """One trained baseline; `info` is its light half."""

    info: BaselineInfo

    @classmethod
    @abstractmethod
    def fit(
        cls,
        task: TaskInfo,
        documents: Sequence[Document],
        golds: Sequence[Any],
        labels: Sequence[str],
        *,
        seed: int,
    ) -> Self:
        """Train on these documents."""

    @abstractmethod
    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document (L,) for labels, or (W, outputs) for its words."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write its parameters to an existing folder; no code, no pickles."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""

    @property
    @abstractmethod
    def parameters(self) -> int:
        """Number of learned values."""

    @property
    def decoder(self) -> Mapping[str, Any]:
        """Decoding parameters for `TaskInfo.decode`, besides those fitted on dev."""
        return {}


@dataclass(frozen=True)
class Feature:
    """A word or several neighbours that a linear baseline has found in a document.

    text: for display. places: for each occurrence its words as (field, start, end), in code points.
    value: of the feature, as TF-IDF. weights (L,): what it counts for each label; value · weight is
    added to the label's logit.
    """

    text: str
    places: tuple[tuple[tuple[str, int, int], ...], ...]
    value: float
    weights: np.ndarray


@runtime_checkable
class WeighsFeatures(Protocol):
    """A baseline whose logits are weighted sums, with FEATURE_WEIGHTS in `BaselineInfo.gives`."""

    def features(self, document: Document) -> tuple[list[Feature], np.ndarray]:
        """The features in a document, and the intercepts (L,): their logits are `logits`."""


@runtime_checkable
class CountsTags(Protocol):
    """A baseline that counts the tags of words, with TAG_COUNTS in `BaselineInfo.gives`."""

    def counts(self, word: str) -> Mapping[int, int] | None:
        """Output number → number of training words; None for a word that is not known."""

    def total(self) -> Mapping[int, int]:
        """Tag counts summed over all words of the training documents."""


@runtime_checkable
class WeighsTagFeatures(Protocol):
    """A baseline that scores tags of words by weights of binary features and transitions, with
    TAG_FEATURES and "transitions" in `BaselineInfo.gives`.

    seen bool (L,): outputs that occur in training. steps (L, L): learned scores of transitions,
    from → to.
    """

    @property
    def seen(self) -> np.ndarray:
        """bool (L,): outputs that occur in training."""

    @property
    def steps(self) -> np.ndarray:
        """(L, L): learned scores of transitions, from → to."""

    def word_scores(self, document: Document, words: Sequence[tuple[int, int]]) -> np.ndarray:
        """The sums of the weights of each word (W, L)."""

    def path(self, scores: np.ndarray, chain: Transitions) -> np.ndarray:
        """The predicted output (W,) of each word, from the sums of its weights (W, L)."""

    def names(self, document: Document, words: Sequence[tuple[int, int]]) -> list[list[str]]:
        """The features of each word that have a weight."""

    def described(self, feature: str) -> str:
        """A feature for display."""

    def weight(self, feature: str, output: int) -> float:
        """The learned weight of a feature for an output; 0 if it has none."""

    def strongest(self, output: int, most: int) -> tuple[list[str], int]:
        """The features with the highest and the lowest weights, at most `most` of each, highest
        first; and the number of all features with a weight for this output.
        """


def prepared(task: TaskInfo, documents: Sequence[Document]) -> Prepared:
    """Documents as one input each, with one unit per word for tasks on words."""
    if set(task.logits.values()) == {"item"}:
        count = len(documents)
        return Prepared(list(documents), [], np.arange(count), np.zeros(count, dtype=bool))
    windows = []
    for document in documents:
        offsets = np.array(tokens_of(document), dtype=np.int32).reshape(-1, 2)
        windows.append([EncodedInput({}, offsets, np.zeros(len(offsets), np.int8))])
    return prepared_windows(documents, windows)


def classes(task: TaskInfo, golds: Sequence[Any], labels: Sequence[str]) -> np.ndarray:
    """bool (N, L): whether each document has each label."""
    chosen = [set(gold.labels()) for gold in golds]
    table = np.array([[label in row for label in labels] for row in chosen], bool)
    return table.reshape(len(golds), len(labels))


def is_exclusive(task: TaskInfo) -> bool:
    """Whether every document has exactly one label: its scores are a distribution over labels."""
    return "ClassScores" in task.outputs
