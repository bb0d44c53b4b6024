"""Verifies that the exported model gives the same predictions as the original, on the user's own
texts, in padded batches and one by one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from workbench.base import deprecation
from workbench.exporters.model.results import Speed, Verification
from workbench.runtime.inputs import EncodedInput, Prepared
from workbench.runtime.onnx_predictor import Logits, OnnxPredictor
from workbench.runtime.preparers.subwords import contents
from workbench.tasks.answers import read_answers
from workbench.tasks.base import Features
from workbench.tasks.predictor import Predictor, infer
from workbench.tasks.spec import TaskInfo
from workbench.text import result_view
from workbench.text.document import Document
from workbench.text.fields import Prediction

CHOICE_HEAD = "choice"  # its inputs are (documents, choices, T)
BATCH = 8  # texts of all lengths together, so that most are padded
TIMED = 20  # texts for the speeds


def _answers(
    exported: OnnxPredictor,
    prepared: Prepared,
    number: int,
    original: Logits,
    mixed: Logits,
) -> tuple[float, list[Prediction]]:
    """The largest difference of the logits of a document, and its two predictions: from inputs that
    are run singly, and in batches of mixed lengths (`mixed`).
    """
    items = prepared.of(number)
    singly = {item: exported.run([prepared.inputs[item]])[0] for item in items}
    gaps = [_difference(original[item], other[item]) for item in items for other in (singly, mixed)]
    part = prepared.only(number)
    answers = [
        exported.decode([logits[item] for item in items], part)[0] for logits in (singly, mixed)
    ]
    return max(gaps, default=0.0), answers


def check(
    predictor: Predictor, folder: Path, documents: Sequence[Document]
) -> Generator[dict[str, Any], None, Verification]:
    """Compare the ONNX folder with the original on all documents.

    Yields {"kind": "checked", format, done, total, rows: [{text, difference, equal}]}.
    """
    began = time.monotonic()
    exported = OnnxPredictor.load(folder)
    prepared = exported.prepare(documents)
    original = yield from _reference(predictor, documents)
    differences = np.zeros(len(documents))
    mixed = _mixed(exported, prepared.inputs)
    expected = predictor.decode(original, prepared)
    equal = total = 0
    for number, document in enumerate(documents):
        differences[number], answers = _answers(exported, prepared, number, original, mixed)
        same, count = agreement(predictor.task.info, expected[number], answers)
        equal, total = equal + same, total + count
        row = {
            "text": document.text[:120],
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
    return Verification(
        texts=len(documents),
        labels=total,
        equal_labels=equal / total if total else 1.0,
        largest_difference=float(differences.max(initial=0.0)),
        seconds=time.monotonic() - began,
        speed=measured_speed(predictor, exported, documents),
    )


def check_stored(
    predictor: Predictor, documents: Sequence[Document], predictions: Path
) -> Verification:
    """Compare the model with predictions of its run in a file, see `answers`. No logits are stored:
    the largest difference is that of the scores of labels, for tasks that store them.
    """
    began, stored = time.monotonic(), read_answers(predictions)
    chosen = [document for document in documents if document.id in stored]
    equal = total = 0
    largest = 0.0
    for document, prediction in zip(chosen, predictor.predict(chosen), strict=True):
        same, count = agreement(predictor.task.info, stored[document.id], [prediction])
        equal, total = equal + same, total + count
        largest = max(largest, _score_difference(stored[document.id], prediction))
    share = equal / total if total else 1.0
    return Verification(len(chosen), total, share, largest, time.monotonic() - began)


def _score_difference(prediction: Prediction, other: Prediction) -> float:
    shares, again = (result_view.of(item).shares(item) for item in (prediction, other))
    if not again:
        return 0.0
    return max((abs(score - again.get(label, 0.0)) for label, score in shares.items()), default=0.0)


def _difference(mapping: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> float:
    """The largest difference between two sets of named logits."""
    return max(float(np.abs(mapping[name] - other[name]).max(initial=0.0)) for name in mapping)


def agreement(
    info: TaskInfo, expected: Prediction, answers: Sequence[Prediction]
) -> tuple[int, int]:
    """(decisions that are the same in all answers, decisions compared), see TaskInfo.decisions."""
    every = [info.decisions(answer) for answer in (expected, *answers)]
    same = [all(other == first for other in others) for first, *others in zip(*every, strict=True)]
    return sum(same), len(same)


def _reference(
    predictor: Predictor, documents: Sequence[Document]
) -> Generator[dict[str, Any], None, Logits]:
    """The original's logits, in batches as the application predicts."""
    features = Features(predictor.prepare(documents), {})
    work = infer(predictor.task, predictor.model, features)
    while True:
        try:
            yield {"kind": "reference", "done": next(work)}
        except StopIteration as end:
            logits: Logits = end.value
            return logits


def _mixed(exported: OnnxPredictor, inputs: Sequence[EncodedInput]) -> Logits:
    """Logits from batches that hold long and short texts together."""
    order = list(range(len(inputs)))
    random.Random(0).shuffle(order)
    logits: Logits = [{}] * len(inputs)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        answers = exported.run([inputs[item] for item in chosen])
        for item, answer in zip(chosen, answers, strict=True):
            logits[item] = answer
    return logits


def measured_speed(
    predictor: Predictor, exported: OnnxPredictor, documents: Sequence[Document]
) -> Speed | None:
    """None without texts."""
    chosen = list(documents[:TIMED])
    if not chosen:
        return None
    for item in (predictor, exported):
        item.predict(chosen[:1])  # the first call of each prepares buffers
    return Speed(torch_ms=_timed(predictor, chosen), onnx_ms=_timed(exported, chosen))


def _timed(item: Predictor | OnnxPredictor, documents: Sequence[Document]) -> float:
    times = []
    for document in documents:
        start = time.perf_counter()
        item.predict([document])
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


Ask = Callable[[Document], Logits]


def check_folder(
    predictor: Predictor,
    folder: Path,
    documents: Sequence[Document],
    *,
    ask: Ask | None = None,
    format: str = "hf",
) -> Generator[dict[str, Any], None, Verification]:
    """The exported folder, loaded again, against the model in memory.

    A folder that transformers alone can load is loaded by it, and of texts and questions in several
    windows the first one is compared; one with a head of ours is loaded as `load_model` does, and
    all are. `ask` gives the logits in another way: of the first or all inputs of a document.
    Yields as `check`.
    """
    began = time.monotonic()
    original = yield from _reference(predictor, documents)
    prepared = predictor.prepare(documents)
    if ask is None:
        own_head = predictor.model.head is not None or not predictor.encoder.in_transformers
        ask = (
            every_window(Predictor.load(folder, "cpu"))
            if own_head
            else _library_folder(predictor, folder)
        )
    largest, equal, total = 0.0, 0, 0
    for number, document in enumerate(documents):
        theirs, items = ask(document), list(prepared.of(number))
        if len(theirs) < len(items):
            items = prepared.firsts(number)
        pairs = [(original[item], other) for item, other in zip(items, theirs, strict=False)]
        gaps, sames = zip(*(_compared(*pair) for pair in pairs), strict=True)
        difference, same = max(gaps), np.concatenate(sames)
        if np.isfinite(difference) and len(prepared.of(number)) == len(pairs):
            same = _decided(predictor, prepared.only(number), *zip(*pairs, strict=True))
        largest, equal, total = max(largest, difference), equal + int(same.sum()), total + len(same)
        row = {"text": document.text[:120], "difference": difference, "equal": bool(same.all())}
        yield {
            "kind": "checked",
            "format": format,
            "done": number + 1,
            "total": len(documents),
            "rows": [row],
        }
    return Verification(
        texts=len(documents),
        labels=total,
        equal_labels=equal / total if total else 1.0,
        largest_difference=largest,
        seconds=time.monotonic() - began,
    )


def library_class(predictor: Predictor) -> Any:
    """The class of transformers with the head of the task."""
    import transformers

    if predictor.encoder.head == CHOICE_HEAD:
        return transformers.AutoModelForMultipleChoice
    classes = {
        "token": transformers.AutoModelForTokenClassification,
        "sequence": transformers.AutoModelForSequenceClassification,
        "answer": transformers.AutoModelForQuestionAnswering,
        "text": transformers.AutoModelForSeq2SeqLM,
    }
    return classes[predictor.encoder.head]


def _library_folder(predictor: Predictor, folder: Path) -> Ask:
    """Logits as transformers alone computes them from the folder."""
    model = library_class(predictor).from_pretrained(folder, local_files_only=True)
    return asking(predictor, model.eval(), folder)


def asking(predictor: Predictor, model: Any, folder: Path) -> Ask:
    """Logits of a model of transformers, with the tokenizer in `folder`.

    Of the first window of a document; with choices or questions, of each of them.
    """
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)

    def ask(document: Document) -> Logits:
        every: tuple[tuple[str, ...], ...]
        if predictor.task.info.asks:
            questions = document.questions or ("",)
            every = tuple((question, document.text) for question in questions)
        elif document.choices:
            every = document.inputs
        else:
            every = (contents(document, max(1, predictor.task.info.texts)),)
        return [answer(texts) for texts in every]

    def answer(texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        with torch.inference_mode():
            inputs = tokenizer(*texts, **limits, return_tensors="pt")
            if labels:
                return {
                    "logits": np.array([_log_probability(model, inputs, ids) for ids in labels])
                }
            if choosing:
                inputs = {name: table[None] for name, table in inputs.items()}  # (1, 1, T)
            output = model(**inputs)
            if "start_logits" in output:
                both = torch.stack([output.start_logits[0], output.end_logits[0]], -1)
                return {"logits": both.numpy()}
            return {"logits": output.logits[0].numpy()}

    limits: dict[str, Any] = {"truncation": True}
    if predictor.task.info.asks:
        limits = {"truncation": "only_second", "max_length": predictor.max_length}
    labels, choosing = [], predictor.encoder.head == CHOICE_HEAD
    if predictor.encoder.label_texts:
        texts = predictor.encoder.outputs
        labels = [tokenizer(text, return_tensors="pt").input_ids for text in texts]
    return ask


def _log_probability(model: Any, inputs: Mapping[str, Any], label: Any) -> float:
    """Log-probability of the label's subwords (1, S) as the target of an encoder–decoder."""
    return -float(model(**inputs, labels=label).loss) * int(label.shape[1])


def every_window(loaded: Predictor) -> Ask:
    """Logits of all inputs of a document, as another predictor of ours computes them."""

    def ask(document: Document) -> Logits:
        features = Features(loaded.prepare([document]), {})
        work = infer(loaded.task, loaded.model, features)
        while True:
            try:
                next(work)
            except StopIteration as end:
                logits: Logits = end.value
                return logits

    return ask


if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, first_window="every_window")


def _decided(
    predictor: Predictor,
    prepared: Prepared,
    ours: Sequence[Mapping[str, np.ndarray]],
    theirs: Sequence[Mapping[str, np.ndarray]],
) -> np.ndarray:
    """For each decision on one document, whether both sets of logits agree."""
    first, second = (
        predictor.task.info.decisions(predictor.decode(list(logits), prepared)[0])
        for logits in (ours, theirs)
    )
    return np.array([value == other for value, other in zip(first, second, strict=True)], bool)


def _compared(
    ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]
) -> tuple[float, np.ndarray]:
    """The largest difference, and for each position whether the highest logits agree."""
    name = next(iter(ours))
    if any(ours[key].shape != theirs[key].shape for key in ours):
        return float("inf"), np.zeros(1, bool)
    same = np.atleast_1d(ours[name].argmax(-1) == theirs[name].argmax(-1))
    return _difference(ours, theirs), same
