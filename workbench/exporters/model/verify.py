"""Verifies that an exported model gives the same predictions as the original, on the user's own
texts and on unusual ones, in padded batches and one by one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import torch

from workbench.base import deprecation
from workbench.exporters.model.results import MAX_DIFFERING, CheckedText, Verification
from workbench.runtime.inputs import EncodedInput, Logits, Prepared
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.runtime.preparers.replies import REPLY
from workbench.runtime.preparers.subwords import Subwords, contents
from workbench.tasks.agreement import equal_decisions
from workbench.tasks.answers import read_answers
from workbench.tasks.base import Features
from workbench.tasks.model import NEXT
from workbench.tasks.predictor import Predictor, infer
from workbench.tasks.spec import TaskInfo
from workbench.tasks.text2text.info import CHARACTERS, ENDED, PROBABILITY
from workbench.tasks.text2text.task import TextToText
from workbench.text import conversation, result_view
from workbench.text.document import Document
from workbench.text.fields import Prediction

CHOICE_HEAD = "choice"  # its inputs are (documents, choices, T)
BATCH = 8  # texts of all lengths together, so that most are padded


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


class Answering(Protocol):
    """What predicts with an exported folder."""

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction per document, in order."""
        ...


class _Comparison:
    """Sums over the compared documents. A document of `extremes` has a negative id."""

    def __init__(self, format: str, total: int) -> None:
        self._format, self._total = format, total
        self._began = time.monotonic()
        self._texts = self._extremes = self._labels = self._equal = 0
        self._largest = 0.0
        self._differing: list[CheckedText] = []

    def add(
        self, document: Document, difference: float, same: int, labels: int, *answers: Prediction
    ) -> dict[str, Any]:
        """Count a document; returns what the job yields. answers: expected and given, if known."""
        extreme = (document.id or 0) < 0
        self._texts, self._extremes = self._texts + 1, self._extremes + extreme
        self._labels, self._equal = self._labels + labels, self._equal + same
        self._largest = max(self._largest, difference)
        wordings = [self._words(document, answer) for answer in answers] if same < labels else []
        row = CheckedText(document.text[:120], difference, same == labels, extreme, *wordings)
        if not row.equal and len(self._differing) < MAX_DIFFERING:
            self._differing.append(row)
        return {
            "kind": "checked",
            "format": self._format,
            "done": self._texts,
            "total": self._total,
            "rows": [row.to_json()],
        }

    @staticmethod
    def _words(document: Document, prediction: Prediction) -> str:
        """ "STOP “Elm Park”, TIME “at 5:30 pm”"."""
        texts = dict(document.texts)
        words = []
        for answer in result_view.of(prediction).answers(prediction):
            name = answer.label if answer.value is None else f"{answer.value:.3f}"
            quote = texts.get(answer.field, "")[answer.start : answer.end]
            words.append(name if answer.start is None else f"{name} “{quote}”".strip())
        return ", ".join(words)[:500]

    def result(self) -> Verification:
        return Verification(
            texts=self._texts,
            labels=self._labels,
            equal_labels=self._equal / self._labels if self._labels else 1.0,
            largest_difference=self._largest,
            seconds=time.monotonic() - self._began,
            extremes=self._extremes,
            differing=tuple(self._differing),
        )


def check(
    predictor: Predictor, exported: Answering, documents: Sequence[Document], *, format: str
) -> Generator[dict[str, Any], None, Verification]:
    """Compare what predicts with an exported folder with the original on all documents: logits of
    an `OnnxPredictor`, singly and in batches of mixed lengths; of anything else the predictions.

    Yields {"kind": "checked", format, done, total, rows: [CheckedText as JSON]}.
    """
    info, sums = predictor.task.info, _Comparison(format, len(documents))
    if not isinstance(exported, OnnxPredictor):
        for start in range(0, len(documents), BATCH):
            part = documents[start : start + BATCH]
            pairs = zip(part, predictor.predict(part), exported.predict(part), strict=True)
            for document, expected, answer in pairs:
                same, count = agreement(info, expected, [answer])
                difference = _score_difference(expected, answer)
                yield sums.add(document, difference, same, count, expected, answer)
        return sums.result()
    prepared = exported.prepare(documents)
    original = yield from _reference(predictor, documents)
    mixed = _mixed(exported, prepared.inputs)
    expected_ones = predictor.decode(original, prepared)
    for number, document in enumerate(documents):
        difference, answers = _answers(exported, prepared, number, original, mixed)
        same, count = agreement(info, expected_ones[number], answers)
        other = next((item for item in answers if item != expected_ones[number]), answers[0])
        yield sums.add(document, difference, same, count, expected_ones[number], other)
    return sums.result()


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
    return equal_decisions(*(info.decisions(answer) for answer in (expected, *answers)))


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
    original = yield from _reference(predictor, documents)
    prepared = predictor.prepare(documents)
    if ask is None:
        own_head = predictor.model.head is not None or not predictor.encoder.in_transformers
        ask = (
            every_window(Predictor.load(folder, "cpu"))
            if own_head
            else _library_folder(predictor, folder)
        )
    sums = _Comparison(format, len(documents))
    for number, document in enumerate(documents):
        theirs, items = ask(document), list(prepared.of(number))
        if not all(theirs):
            continue
        if len(theirs) < len(items):
            items = prepared.firsts(number)
        pairs = [(original[item], other) for item, other in zip(items, theirs, strict=False)]
        gaps, sames = zip(*(_compared(*pair) for pair in pairs), strict=True)
        difference, same = max(gaps), np.concatenate(sames)
        answers: list[Prediction] = []
        if np.isfinite(difference) and len(prepared.of(number)) == len(pairs):
            part = prepared.only(number)
            answers = [
                predictor.decode(list(logits), part)[0] for logits in zip(*pairs, strict=True)
            ]
            equal, total = agreement(predictor.task.info, answers[0], answers[1:])
        else:
            equal, total = int(same.sum()), len(same)
        yield sums.add(document, difference, equal, total, *answers)
    return sums.result()


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
        "next": transformers.AutoModelForCausalLM,
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

    if predictor.info.writes:
        return _writing(predictor, model, folder)
    if not predictor.info.has_graph:
        return _replying(predictor, model, folder)
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
            if not inputs["input_ids"].numel():
                return {}  # GPT-2 has no token for an empty text, and transformers cannot read it
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


def _replying(predictor: Predictor, model: Any, folder: Path) -> Ask:
    """Log-probabilities of the replies of each document, with the tokenizer in `folder`."""
    preparer = Subwords.load(folder)

    def ask(document: Document) -> Logits:
        prepared = predictor.info.prepare(preparer, [document], predictor.max_length)
        return [{"logits": np.array([_log_of_reply(model, one)])} for one in prepared.inputs]

    return ask


def _writing(predictor: Predictor, model: Any, folder: Path) -> Ask:
    """What a model of transformers generates with the tokenizer and the chat template in `folder`.

    Nothing for a text that was truncated, which transformers would do elsewhere, and for a blank
    one, which is no message of a conversation here.
    """
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    task = cast(TextToText, predictor.task)
    options: dict[str, Any] = {"max_new_tokens": task.most, "do_sample": False, "num_beams": 1}
    options |= {"forced_eos_token_id": None, "output_logits": True}  # BART would force an end

    def ask(document: Document) -> Logits:
        if predictor.prepare([document]).cut[0] or not document.text.strip():
            return [{}]
        text, special = document.text, True
        if predictor.encoder.head == NEXT:
            messages = conversation.to_json(conversation.read(text))
            written = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            text, special = cast(str, written), False
        inputs = tokenizer(text, add_special_tokens=special, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        output = model.generate(**inputs, **options, return_dict_in_generate=True)
        ids = output.sequences[0, -len(output.logits) :].tolist()
        rows = zip(output.logits, ids, strict=True)
        logs = [float(row[0].float().log_softmax(-1)[id]) for row, id in rows]
        codes = [*map(ord, tokenizer.decode(ids, skip_special_tokens=True))]
        return [
            {
                CHARACTERS: np.array(codes, np.int64),
                PROBABILITY: np.array([np.exp(np.mean(logs))]),
                ENDED: np.array([float(ids[-1] in task.ends)]),
            }
        ]

    return ask


def _log_of_reply(model: Any, encoded: EncodedInput) -> float:
    ids = torch.from_numpy(encoded.ids.astype(np.int64))
    with torch.inference_mode():
        logs = model(input_ids=ids[None]).logits[0, :-1].log_softmax(-1)  # (T - 1, V)
    chosen = logs.gather(-1, ids[1:, None]).squeeze(-1)
    return float(chosen[torch.from_numpy(encoded.text[1:] == REPLY)].sum())


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


def _compared(
    ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]
) -> tuple[float, np.ndarray]:
    """The largest difference, and for each position whether the highest logits agree."""
    name = next(iter(ours))
    if any(ours[key].shape != theirs[key].shape for key in ours):
        return float("inf"), np.zeros(1, bool)
    if not ours[name].size:  # both have written nothing
        return _difference(ours, theirs), np.ones(1, bool)
    same = np.atleast_1d(ours[name].argmax(-1) == theirs[name].argmax(-1))
    return _difference(ours, theirs), same
