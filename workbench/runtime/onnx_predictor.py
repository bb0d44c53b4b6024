"""An exported ONNX folder → predictions, with `tokenizers` and `onnxruntime` alone: no torch, no transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime import decoding
from workbench.runtime.tokenizer import Piece, Tokenizer
from workbench.runtime.words import OVERLAP, borders_of, word_scores
from workbench.text.document import Document
from workbench.text.fields import Prediction

LABELS = "labels.json"
BATCH_TOKENS = 4096  # subwords in one call, padding included


@dataclass(frozen=True)
class Prepared:
    """Documents as inputs: `owner[i]` is the document of piece i, `cut[d]` whether document d was longer than the model takes."""

    documents: tuple[Document, ...]
    pieces: tuple[Piece, ...]
    owner: np.ndarray
    cut: np.ndarray


class OnnxPredictor:
    """Made by `load`. `labels` are those of the layer, `outputs` those of the model (B- and I- of each for tags)."""

    def __init__(self, session: Any, tokenizer: Tokenizer, description: Mapping):
        self._session, self.tokenizer, self.description = session, tokenizer, description
        self.task, self.max_length = str(description["task"]), int(description["max_length"])
        self.labels, self.outputs = tuple(description["labels"]), tuple(description["id2label"])
        self._names = [one.name for one in session.get_inputs()]

    @classmethod
    def load(cls, folder: Path | str, *, threads: int = 0) -> OnnxPredictor:
        """Raises ModelError where the folder holds no such export. `threads` 0 leaves the choice to onnxruntime."""
        import onnxruntime

        folder = Path(folder)
        files = sorted(folder.glob("*.onnx"))
        if len(files) != 1:
            raise ModelError(
                _("{folder} holds {count} .onnx files, expected one.").format(
                    folder=folder, count=len(files)
                ),
                hint=_("Name the onnx folder of an exported run."),
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            session = onnxruntime.InferenceSession(
                str(files[0]), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's errors have no common class
            raise ModelError(
                _("{file} cannot be loaded: {error}").format(file=files[0], error=str(error)[:200])
            ) from error
        return cls(session, Tokenizer.load(folder), _description(folder))

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction for each document, in order."""
        prepared = self.prepare(documents)
        return self.decode(self.logits(prepared.pieces), prepared)

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        """Tags: overlapping windows. Classes and pairs: one input each, cut at the maximum length."""
        if self.task == "tag":
            windows = list(
                self.tokenizer.windows(
                    [one.text for one in documents], self.max_length, self.max_length // OVERLAP
                )
            )
            owner = np.repeat(np.arange(len(documents)), [len(found) for found in windows])
            pieces = tuple(one for found in windows for one in found)
            return Prepared(tuple(documents), pieces, owner, np.zeros(len(documents), dtype=bool))
        count = 2 if self.task == "pairs" else 1
        texts = [_texts(one, count) for one in documents]
        found = list(self.tokenizer.whole(texts, self.max_length))
        cut = np.fromiter((one for _, one in found), dtype=bool, count=len(found))
        return Prepared(
            tuple(documents), tuple(one for one, _ in found), np.arange(len(found)), cut
        )

    def logits(self, pieces: Sequence[Piece]) -> list[np.ndarray]:
        """Of each input without padding: (L,) for classes and pairs, (T, L) for tags."""
        found: list[np.ndarray | None] = [None] * len(pieces)
        for chosen in _batches(pieces):
            for number, one in zip(
                chosen, self.run([pieces[number] for number in chosen]), strict=True
            ):
                found[number] = one
        return found

    def run(self, pieces: Sequence[Piece]) -> list[np.ndarray]:
        """One call of the model: all pieces in one batch, padded on the right."""
        longest = max(len(one.ids) for one in pieces)
        table = {
            name: np.full((len(pieces), longest), fill, dtype=np.int64)
            for name, fill in (("input_ids", self.tokenizer.pad), *_ZEROS)
        }
        for row, one in enumerate(pieces):
            size = len(one.ids)
            (
                table["input_ids"][row, :size],
                table["attention_mask"][row, :size],
                table["token_type_ids"][row, :size],
            ) = one.ids, 1, one.types
        logits = self._session.run(["logits"], {name: table[name] for name in self._names})[0]
        return [
            logits[row, : len(one.ids)] if logits.ndim == 3 else logits[row]
            for row, one in enumerate(pieces)
        ]

    def decode(self, logits: Sequence[np.ndarray], prepared: Prepared) -> list[Prediction]:
        """One prediction for each document from the logits of all its pieces."""
        if self.task != "tag":
            return [
                decoding.classes(one, self.labels, cut=bool(cut))
                for one, cut in zip(logits, prepared.cut, strict=True)
            ]
        begin = np.searchsorted(prepared.owner, np.arange(len(prepared.documents) + 1))
        return [
            self._tagged(logits, prepared, number, begin)
            for number in range(len(prepared.documents))
        ]

    def _tagged(
        self, logits: Sequence[np.ndarray], prepared: Prepared, number: int, begin: np.ndarray
    ) -> Prediction:
        document, borders = prepared.documents[number], borders_of(prepared.documents[number])
        pieces = prepared.pieces[begin[number] : begin[number + 1]]
        where = decoding.align(borders, [(one.borders, one.text == 0) for one in pieces])
        scores = word_scores(logits, int(begin[number]), where, len(self.outputs))
        return decoding.tagged(document.text, borders, scores, self.outputs)


_ZEROS = (("attention_mask", 0), ("token_type_ids", 0))


def _texts(document: Document, count: int) -> tuple[str, ...]:
    texts = tuple(content for _, content in document.texts[:count])
    return texts + ("",) * (count - len(texts))


def _batches(pieces: Sequence[Piece]) -> Iterator[list[int]]:
    order = sorted(range(len(pieces)), key=lambda number: -len(pieces[number].ids))
    start = 0
    while start < len(order):
        size = max(1, BATCH_TOKENS // max(1, len(pieces[order[start]].ids)))
        yield order[start : start + size]
        start += size


def _description(folder: Path) -> dict:
    path = folder / LABELS
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}").format(path=path, error=error),
            hint=_("It is written beside the .onnx file on export."),
        ) from error
    if not isinstance(raw, dict) or not {"task", "labels", "id2label", "max_length"} <= raw.keys():
        raise ModelError(
            _(
                "{path} does not describe a model: task, labels, id2label or max_length is missing."
            ).format(path=path)
        )
    return raw
