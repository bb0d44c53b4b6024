"""Does the exported file answer as the original does? Asked on the user's own texts, in padded batches and one by one."""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import torch

from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.predictor import Predictor, infer
from workbench.text.document import Document
from workbench.text.fields import Prediction

BATCH = 8  # texts of all lengths together, so that most are padded
TIMED = 20  # texts for the speeds


def check(
    predictor: Predictor, folder: Path, documents: Sequence[Document]
) -> Generator[dict, None, dict]:
    """Compare the ONNX folder with the original on all documents.

    Yields {"kind": "checked", format, done, total, rows: [{text, difference, equal}]} as it goes. Returns texts, labels (compared: one
    for each document, for tags one for each word), equal_labels (fraction), largest_difference (of logits), seconds, speed.
    """
    began = time.monotonic()
    exported = OnnxPredictor.load(folder)
    prepared = exported.prepare(documents)
    original = yield from _reference(predictor, documents)
    differences = np.zeros(len(documents))
    singly: list[np.ndarray] = []
    mixed = _mixed(exported, prepared.pieces)
    begin = np.searchsorted(prepared.owner, np.arange(len(documents) + 1))
    expected = exported.decode(original, prepared)
    equal = total = 0
    for number in range(len(documents)):
        items = range(begin[number], begin[number + 1])
        singly += [exported.run([prepared.pieces[item]])[0] for item in items]
        gaps = [
            float(np.abs(original[item] - other[item]).max(initial=0.0))
            for item in items
            for other in (singly, mixed)
        ]
        differences[number] = max(gaps, default=0.0)
        part = _part(prepared, number, items)
        answers = [
            exported.decode([found[item] for item in items], part)[0] for found in (singly, mixed)
        ]
        same, count = agreement(expected[number], answers)
        equal, total = equal + same, total + count
        row = {
            "text": documents[number].text[:120],
            "difference": differences[number],
            "equal": same == count,
        }
        yield {
            "kind": "checked",
            "format": "onnx",
            "done": number + 1,
            "total": len(documents),
            "rows": [row],
        }
    return {
        "texts": len(documents),
        "labels": total,
        "equal_labels": equal / total if total else 1.0,
        "largest_difference": float(differences.max(initial=0.0)),
        "seconds": time.monotonic() - began,
        "speed": speeds(predictor, exported, documents),
    }


def agreement(expected: Prediction, answers: Sequence[Prediction]) -> tuple[int, int]:
    """(labels that all answers give as expected, labels compared): one for a class, one for each word for tags."""
    if expected.classes:
        return int(all(one.label == expected.label for one in answers)), 1
    words = zip(expected.words, *(one.words for one in answers), strict=True)
    return sum(
        all(other.label == first.label for other in others) for first, *others in words
    ), len(expected.words)


def _reference(
    predictor: Predictor, documents: Sequence[Document]
) -> Generator[dict, None, list[np.ndarray]]:
    """The original's logits, in batches as the application predicts."""
    work = infer(predictor.task, predictor.checkpoint, predictor.features(documents))
    while True:
        try:
            yield {"kind": "reference", "done": next(work)}
        except StopIteration as end:
            return end.value[0]


def _mixed(exported: OnnxPredictor, pieces: Sequence) -> list[np.ndarray]:
    """Logits from batches that hold long and short texts together."""
    order = list(range(len(pieces)))
    random.Random(0).shuffle(order)
    found: list[np.ndarray | None] = [None] * len(pieces)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        for item, one in zip(chosen, exported.run([pieces[item] for item in chosen]), strict=True):
            found[item] = one
    return found


def _part(prepared, number: int, items: range):
    """One document's share of what was prepared."""
    return type(prepared)(
        (prepared.documents[number],),
        tuple(prepared.pieces[item] for item in items),
        np.zeros(len(items), dtype=np.int64),
        prepared.cut[number : number + 1],
    )


def speeds(
    predictor: Predictor, exported: OnnxPredictor, documents: Sequence[Document]
) -> dict[str, float]:
    """Median milliseconds for one text, tokenising included, with torch and with onnxruntime; {} without texts."""
    chosen = list(documents[:TIMED])
    if not chosen:
        return {}
    for one in (predictor, exported):
        one.predict(chosen[:1])  # the first call of each prepares buffers
    return {"torch_ms": _timed(predictor, chosen), "onnx_ms": _timed(exported, chosen)}


def _timed(one: Predictor | OnnxPredictor, documents: Sequence[Document]) -> float:
    times = []
    for document in documents:
        start = time.perf_counter()
        one.predict([document])
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def check_folder(
    predictor: Predictor, folder: Path, documents: Sequence[Document]
) -> Generator[dict, None, dict]:
    """The Hugging Face folder, loaded anew by transformers alone, against the model in memory; of long tagged texts the first window.

    Yields as `check`; returns texts, labels, equal_labels, largest_difference (of logits), seconds.
    """
    import transformers

    began = time.monotonic()
    auto = (
        transformers.AutoModelForTokenClassification
        if predictor.task.head == "token"
        else transformers.AutoModelForSequenceClassification
    )
    model, tokenizer = (
        auto.from_pretrained(folder).eval(),
        transformers.AutoTokenizer.from_pretrained(folder),
    )
    original = yield from _reference(predictor, documents)
    first = np.searchsorted(predictor.features(documents).owner, np.arange(len(documents)))
    largest, equal, total = 0.0, 0, 0
    for number, document in enumerate(documents):
        texts = (
            predictor.task.inputs(document)
            if predictor.task.head == "sequence"
            else (document.text,)
        )
        with torch.inference_mode():
            theirs = (
                model(**tokenizer(*texts, truncation=True, return_tensors="pt")).logits[0].numpy()
            )
        ours = original[first[number]]
        difference = (
            float(np.abs(ours - theirs).max(initial=0.0))
            if ours.shape == theirs.shape
            else float("inf")
        )
        same = (
            np.atleast_1d(ours.argmax(-1) == theirs.argmax(-1))
            if ours.shape == theirs.shape
            else np.zeros(1, bool)
        )
        largest, equal, total = max(largest, difference), equal + int(same.sum()), total + len(same)
        row = {"text": document.text[:120], "difference": difference, "equal": bool(same.all())}
        yield {
            "kind": "checked",
            "format": "hf",
            "done": number + 1,
            "total": len(documents),
            "rows": [row],
        }
    return {
        "texts": len(documents),
        "labels": total,
        "equal_labels": equal / total if total else 1.0,
        "largest_difference": largest,
        "seconds": time.monotonic() - began,
    }
