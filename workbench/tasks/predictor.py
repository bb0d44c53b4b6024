"""A trained folder and documents → predictions."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import builtins
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models.base import Checkpoint
from workbench.models.families.transformer import TransformerFamily
from workbench.tasks.base import CHUNK, Features, Task, collate
from workbench.text.dataset import record_from_json
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.fields import Prediction

CPU_TOKENS, GPU_TOKENS = 4096, 16384  # subwords in a batch, padding counted


def batches_of(lengths: np.ndarray, tokens: int) -> Iterator[np.ndarray]:
    """Items of like length together, longest first, about `tokens` subwords (padding counted) a batch."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


def infer(
    task: Task, checkpoint: Checkpoint, features: Features, *, tokens: int | None = None
) -> Generator[int, None, tuple[list[np.ndarray], float, int]]:
    """Yields the number of items done after each batch; returns the logits of every item without padding, and the sum and count of
    the losses (0, 0 without targets). The model must be in eval mode."""
    model, device = checkpoint.model, next(checkpoint.model.parameters()).device
    tokens = tokens or (CPU_TOKENS if device.type == "cpu" else GPU_TOKENS)
    lengths = features.lengths
    found: list[np.ndarray | None] = [None] * len(lengths)
    done, total, weight = 0, 0.0, 0
    for chosen in batches_of(lengths, tokens):
        batch = collate(
            features, chosen, pad=checkpoint.tokenizer.pad, types=checkpoint.types, device=device
        )
        with torch.inference_mode():
            outputs = task.forward(model, batch)
        logits = outputs.logits.cpu().numpy()
        for row, item in enumerate(chosen):
            found[item] = logits[row, : lengths[item]].copy() if logits.ndim == 3 else logits[row]
        if outputs.losses:
            total += float(sum(outputs.losses.values())) * len(chosen)
            weight += len(chosen)
        done += len(chosen)
        yield done
    return found, total, weight


class Predictor:
    """A loaded model with its task and labels. Made by `load`."""

    def __init__(
        self,
        task: Task,
        checkpoint: Checkpoint,
        labels: Sequence[str],
        max_length: int,
        description: Mapping,
    ):
        self.task = task
        self.checkpoint = checkpoint
        self.labels = tuple(labels)
        self.max_length = max_length
        self.description = description

    @classmethod
    def load(
        cls, folder: Path | str, device: str = "auto", *, attention: str = "sdpa"
    ) -> Predictor:
        """Raises ModelError where the folder is no trained model, SpecError where the device is not there."""
        description = folders.description(folder)
        task = builtins().get("task", description["task"])()
        labels = tuple(description["labels"])
        where = devices.pick(device)
        checkpoint = TransformerFamily().load(
            folder, head=task.head, labels=task.outputs_of(labels), attention=attention
        )
        checkpoint.model.to(where).eval()
        return cls(task, checkpoint, labels, int(description["max_length"]), description)

    def features(self, documents: Sequence[Document]) -> Features:
        return self.task.features(
            documents, self.checkpoint.tokenizer, self.labels, self.max_length
        )

    def predict(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> list[Prediction]:
        """One prediction for each document, in order."""
        return [one for _, found in self.stream(documents, batch_tokens) for one in found]

    def predict_texts(self, texts: Sequence[str | tuple[str, str]]) -> list[Prediction]:
        """One prediction for each text, or for each pair of texts, in order."""
        given = [(one,) if isinstance(one, str) else one for one in texts]
        return self.predict(
            [
                Document(str(n), tuple(zip((TEXT, TEXT_B), one, strict=False)))
                for n, one in enumerate(given, 1)
            ]
        )

    def stream(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> Iterator[tuple[float, list[Prediction]]]:
        """(documents done so far, new predictions) after each batch; most batches finish no document, so the list is often empty.

        Documents under way count by the share of their windows: one of some megabytes has thousands.
        """
        for start in range(0, len(documents), CHUNK):
            features = self.features(documents[start : start + CHUNK])
            work = infer(self.task, self.checkpoint, features, tokens=batch_tokens)
            while True:
                try:
                    share = next(work) / len(features.items)
                except StopIteration as end:
                    yield (
                        start + len(features.documents),
                        self.task.decode(end.value[0], features, self.labels),
                    )
                    break
                yield start + share * len(features.documents), []


def read_documents(path: Path) -> Iterator[Document]:
    """JSON lines: documents of the own format (its first line is passed over), or objects with text and perhaps text_b, id, key.

    Raises ModelError naming the line that is neither.
    """
    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                raw = json.loads(line)
                if "glossbench" in raw:
                    continue
                yield record_from_json(raw).document if "texts" in raw else _typed(raw, number)
            except (ValueError, KeyError, TypeError) as error:
                raise ModelError(
                    _("{path}, line {number}: no document ({error!r}).").format(
                        path=path, number=number, error=error
                    )
                ) from error


def _typed(raw: Mapping, number: int) -> Document:
    texts = [(name, str(raw[name])) for name in (TEXT, TEXT_B) if name in raw]
    if not texts:
        raise KeyError(TEXT)
    return Document(str(raw.get("key", number)), tuple(texts), id=raw.get("id"))


def answer(document: Document, prediction: Prediction) -> dict:
    """A line of predictions.jsonl."""
    return {
        "document_id": document.id,
        "key": document.key,
        "text_hash": document.text_hash,
        "split": document.split,
        "prediction": prediction.to_json(),
    }


def write_answers(
    file, documents: Sequence[Document], predictions: Sequence[Prediction], **more: object
) -> None:
    for document, prediction in zip(documents, predictions, strict=True):
        file.write(json.dumps({**answer(document, prediction), **more}, ensure_ascii=True) + "\n")


def run(params: Mapping, folder: Path) -> Generator[dict, str | None, dict]:
    """Job target. params: model (folder), input (JSON lines), output (JSON lines, in the order of the input), device.

    Yields {"kind": "progress", "done"}, documents under way by their share; "stop" ends after the documents at hand. Returns {"documents", "cut", "output", "device", "stopped"}.
    """
    devices.use_threads()
    predictor = Predictor.load(params["model"], params.get("device", "auto"))
    output, done, cut, stopped = Path(params["output"]), 0, 0, False
    yield {"kind": "progress", "done": 0}
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        for chunk in _chunks(read_documents(Path(params["input"]))):
            before = done
            for share, found in predictor.stream(chunk):
                command = yield {"kind": "progress", "done": before + share}
                stopped = stopped or command == "stop"
                if found:
                    write_answers(file, chunk, found)
                    done += len(found)
                    cut += sum(one.cut for one in found)
            if stopped:
                break
    yield {"kind": "progress", "done": done}
    return {
        "documents": done,
        "cut": cut,
        "output": str(output),
        "device": str(next(predictor.checkpoint.model.parameters()).device),
        "stopped": stopped,
    }


def _chunks(documents: Iterator[Document]) -> Iterator[list[Document]]:
    chunk: list[Document] = []
    for one in documents:
        chunk.append(one)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
