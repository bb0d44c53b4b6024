"""Documents → predictions, whatever computes the logits: torch, or a session of onnxruntime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.runtime.inputs import CHUNK, Logits, Prepared, Preparer
from workbench.text.document import (
    CHOICES,
    TEXT,
    TEXT_B,
    Document,
    with_choices,
    with_questions,
)
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters

if TYPE_CHECKING:
    from workbench.tasks.spec import TaskInfo


class DocumentPredictor(ABC):
    """A trained model with its task and labels.

    labels: those of the layer. segmenter: id of the one that splits texts without tokens.
    description: what is stored beside the weights: task, labels, max_length, decoder …
    """

    info: TaskInfo
    preparer: Preparer
    labels: tuple[str, ...]
    max_length: int
    segmenter: str
    description: Mapping[str, Any]
    device: str = "cpu"

    @property
    @abstractmethod
    def decoder(self) -> Mapping[str, Any]:
        """Decoding parameters of the trained network, and those that were fitted on dev."""

    @abstractmethod
    def infer(
        self, prepared: Prepared, batch_tokens: int | None = None
    ) -> Generator[int, None, Logits]:
        """The logits of all inputs. Yields the number of inputs done after each batch."""

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        segmented = segmenters.segmented(documents, self.segmenter)
        return self.info.prepare(self.preparer, segmented, self.max_length)

    def logits(self, prepared: Prepared) -> Logits:
        """Of all inputs, by name, without padding."""
        return last(self.infer(prepared))

    def decode(self, logits: Logits, prepared: Prepared) -> list[Prediction]:
        """One prediction per document from the logits of all its inputs."""
        return self.info.decode(logits, prepared, self.labels, self.decoder)

    def predict(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> list[Prediction]:
        """One prediction for each document, in order."""
        return [
            prediction
            for _, predictions in self.stream(documents, batch_tokens)
            for prediction in predictions
        ]

    def predict_texts(self, texts: Sequence[str | tuple[str, ...]]) -> list[Prediction]:
        """One prediction for each text, pair of texts, or text with choices or questions."""
        rows = [(item,) if isinstance(item, str) else item for item in texts]
        return self.predict(documents_of(self.info, rows))

    def stream(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> Iterator[tuple[float, list[Prediction]]]:
        """(documents done so far, new predictions) after each batch.

        The list is often empty, as most batches complete no document. Incomplete documents count by
        the fraction of their windows: a text of several megabytes has thousands.
        """
        for start in range(0, len(documents), CHUNK):
            prepared = self.prepare(documents[start : start + CHUNK])
            work = self.infer(prepared, batch_tokens)
            while True:
                try:
                    share = next(work) / len(prepared.inputs)
                except StopIteration as end:
                    answers = self.decode(end.value, prepared)
                    yield start + len(prepared.documents), answers
                    break
                yield start + share * len(prepared.documents), []


def last(work: Generator[int, None, Logits]) -> Logits:
    """What a generator such as `infer` returns, its progress left out."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            logits: Logits = end.value
            return logits


def documents_of(info: TaskInfo, rows: Sequence[tuple[str, ...]]) -> list[Document]:
    """Texts as the task reads them: each row is a text, a pair, or a text with its choices or
    questions.
    """
    if info.asks:
        return [with_questions("", text, questions) for text, *questions in rows]
    if info.texts == CHOICES:
        return [with_choices("", first, rest) for first, *rest in rows]
    return [
        Document(str(n), tuple(zip((TEXT, TEXT_B), row, strict=False)))
        for n, row in enumerate(rows, 1)
    ]
