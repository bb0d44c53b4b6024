"""What inspectors of predictions need of a run, whether it is a model, a baseline or an ensemble.

Baselines and ensembles have no encoder, tokenizer or network: they are opened here, without torch
for baselines. `subject.Subject` adds the parts of a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base import deprecation
from workbench.baselines import spec as baselines
from workbench.inspection import spec
from workbench.runtime.averaging import mean
from workbench.runtime.crf import Transitions
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES, Document
from workbench.text.fields import Prediction

if TYPE_CHECKING:
    from workbench.baselines.base import WeighsTagFeatures

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Member="EnsembleMember")


class Predicting(ABC):
    """A loaded run that predicts.

    folder: of its files; of an ensemble that of its first member. gives: what it provides to
    inspectors, see `spec.provided_outputs`.
    """

    folder: Path
    gives: frozenset[str]

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the model in messages."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of the model's outputs."""

    @property
    @abstractmethod
    def texts(self) -> int:
        """How many texts an input holds; with choices or questions, the text and one of them."""

    @abstractmethod
    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction for each document, in order."""

    def prediction(self, document: Document) -> Prediction:
        """The prediction for one document."""
        (prediction,) = self.predict([document])
        return prediction

    def transitions(self) -> Transitions | None:
        """The learned transition scores of tags; None without."""
        return None

    @property
    def asks(self) -> bool:
        """Whether it answers questions about a text."""
        return False

    @property
    def is_ordered(self) -> bool:
        """Whether its classes are in an order."""
        return False

    @property
    def base_folder(self) -> Path | None:
        """The folder of the model that it was trained from; None without one."""
        return None

    @abstractmethod
    def refresh(self) -> None:
        """Decode with the temperature and thresholds that the run has now."""

    def warm_up(self, document: Document) -> None:
        """A first pass, so that the first request is answered quickly."""
        self.predict([document])

    def segmented(self, documents: Sequence[Document]) -> list[Document]:
        """With the words that it was trained on as tokens of texts that have none."""
        return list(documents)

    def as_read(self, document: Document) -> Document:
        """What one input reads of a document with choices or questions; others as they are."""
        return document

    def unknown_share(self, texts: Sequence[str]) -> float:
        """Fraction of the words of texts that are not in the vocabulary."""
        return 0.0


def texts_of(task: TaskInfo) -> int:
    """How many texts an input of a task holds."""
    return 2 if task.asks or task.texts == CHOICES else task.texts


class BaselineSubject(Predicting):
    """A baseline: it reads words and has no model."""

    def __init__(self, folder: Path):
        """Raises ModelError if its files are damaged, or its kind or task does not exist."""
        from workbench.baselines.job import Trained

        self.folder = folder
        self.trained = Trained.load(folder)
        self.gives = spec.provided_outputs(
            None, baselines.gives(self.trained.baseline.info, self.task)
        )
        self._read_at = self._written_at()

    @property
    def task(self) -> TaskInfo:
        return self.trained.task

    @property
    def name(self) -> str:
        return self.trained.baseline.info.title

    @property
    def is_ordered(self) -> bool:
        return self.task.ordered

    @property
    def labels(self) -> tuple[str, ...]:
        return self.trained.labels

    @property
    def texts(self) -> int:
        return texts_of(self.task)

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        return self.trained.predict(documents)

    def transitions(self) -> Transitions | None:
        from workbench.baselines.base import WeighsTagFeatures

        baseline = self.trained.baseline
        return self.chain(baseline) if isinstance(baseline, WeighsTagFeatures) else None

    def chain(self, baseline: WeighsTagFeatures) -> Transitions:
        """The transition scores of a baseline, without those that the task does not allow."""
        transitions = self.task.transitions(self.labels, self.trained.baseline.decoder)
        if transitions is not None:
            return transitions
        names, edge = self.task.output_names(self.labels), np.zeros(len(baseline.steps))
        return Transitions(names, edge, baseline.steps, edge)

    def refresh(self) -> None:
        from workbench.baselines.job import Trained

        if self._read_at != (now := self._written_at()):
            self.trained, self._read_at = Trained.load(self.folder), now

    def _written_at(self) -> int:
        return (self.folder / baselines.DESCRIPTION).stat().st_mtime_ns


@dataclass(frozen=True)
class EnsembleMember:
    """One run of an ensemble."""

    name: str
    subject: Predicting


class EnsembleSubject(Predicting):
    """Runs whose class probabilities are averaged; each predicts for itself."""

    def __init__(self, members: Sequence[EnsembleMember]):
        self.members = tuple(members)
        self.folder = self._first.folder
        self.gives = spec.provided_outputs(None, spec.AVERAGED)

    @property
    def _first(self) -> Predicting:
        return self.members[0].subject

    @cached_property
    def name(self) -> str:
        return " + ".join(member.name for member in self.members)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._first.labels

    @property
    def texts(self) -> int:
        return self._first.texts

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """Raises WorkbenchError if the members predict different classes."""
        tables = [member.subject.predict(documents) for member in self.members]
        return [mean(answers) for answers in zip(*tables, strict=True)]

    def refresh(self) -> None:
        for member in self.members:
            member.subject.refresh()

    def unknown_share(self, texts: Sequence[str]) -> float:
        return max(member.subject.unknown_share(texts) for member in self.members)


def document_of(
    texts: Mapping[str, Any],
    tokens: Mapping[str, Any] | None,
    questions: Sequence[str] | None = None,
) -> Document:
    """A document from a request: {field: text} and {field: [[start, end], …]}."""
    offsets = {
        name: tuple((int(start), int(end)) for start, end in ranges)
        for name, ranges in (tokens or {}).items()
    }
    named = tuple((str(name), str(content)) for name, content in texts.items())
    return Document("", named, tokens=offsets, questions=tuple(map(str, questions or ())))
