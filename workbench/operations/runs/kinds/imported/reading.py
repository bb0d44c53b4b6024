"""A file of predictions: what each of its lines says about which document.

Files are read by the importers; here a line becomes a prediction of a task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.base import Fault, Options, Row, Skipped, texts_of
from workbench.importers.detect import detect, first_rows, items
from workbench.importers.fields import roles, table_cells
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.importers.tables.table_form import TableForm
from workbench.text import result_view
from workbench.text.fields import (
    Answers,
    Chains,
    ClassScores,
    LabelScores,
    Number,
    Prediction,
    SpanScores,
    WordTags,
    named,
)
from workbench.text.questions import Candidate, PredictedAnswer
from workbench.text.result_views import words_with
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.tasks.spec import TaskInfo
    from workbench.text.document import Document
    from workbench.text.labels import Layer

TABLES = {"csv": ",", "tsv": "\t"}  # formats that are read as a table, with the usual delimiter
KEY = ("key", "id", "doc_id", "uid", "guid", "pair_id")
TEXTS = ("text", "text_a", "sentence", "sentence1", "premise", "content", "document", "message")
SECOND = ("text_b", "sentence2", "hypothesis")
LABEL = ("label", "prediction", "predicted", "predicted_label", "pred", "class", "category")
LABELS = ("labels", "predictions", "classes", "categories", *LABEL)
NUMBER = ("number", "prediction", "predicted", "pred", "value", "score", "label")
PROBABILITY = ("probability", "score", "confidence", "prob")
SCORES = ("scores", "probabilities")
SPANS = ("spans", "entities", "prediction", "predicted", "label", "labels")
ANSWER = ("answer", "prediction_text", "prediction", "predicted")
THRESHOLD = 0.5


class UnknownLabel(Fault):
    """A label that the layer does not have."""

    def __init__(self, label: str, layer: str):
        message = _("the layer {layer!r} has no label {label!r}", layer=layer, label=label)
        super().__init__(message)
        self.label = label


class NoPrediction(Fault):
    """A line without a field that would have a prediction of the layer."""


@dataclass(frozen=True)
class FileLine:
    """A line of the file: values by name of field or column."""

    number: int
    values: Mapping[str, Any]

    def first(self, names: Sequence[str]) -> Any:
        """The value of the first of these fields that is filled in; None if there is none."""
        cells = (self.values.get(name) for name in names)
        return next((value for value in cells if value not in (None, "")), None)

    @property
    def key(self) -> str:
        value = self.first(KEY)
        return "" if value is None else str(value)

    @property
    def document_id(self) -> int | None:
        """The id in the project, as the predictions in the folder of a run have it."""
        value = self.values.get("document_id")
        return value if isinstance(value, int) else None

    @property
    def texts(self) -> tuple[str, ...]:
        text, second = self.first(TEXTS), self.first(SECOND)
        contents = texts_of(text, second if isinstance(second, str) else None) if text else ()
        return tuple(content for _name, content in contents)


def lines(path: Path, layer: Layer) -> Iterator[FileLine | Skipped]:
    """The lines of a file; Skipped for those that cannot be read.

    Raises ImportFailed if the file cannot be read at all.
    """
    source = Source(path)
    head = source.head()
    if not head.strip():
        raise ImportFailed(_("{file} is empty.", file=path.name))
    if jsonl.opens(head):
        return _objects(source)
    format = detect(source).format
    if format in TABLES:
        return _rows(source, TABLES[format], layer)
    return _records(source, format, layer)


def _objects(source: Source) -> Iterator[FileLine | Skipped]:
    for number, value in jsonl.values(source):
        if isinstance(value, Fault):
            yield Skipped(number, str(value))
        elif not isinstance(value, dict):
            yield Skipped(number, _("not a JSON object"))
        else:
            yield FileLine(number, value)


def _rows(source: Source, delimiter: str, layer: Layer) -> Iterator[FileLine | Skipped]:
    form = TableForm.of(source, Options(), delimiter)
    own = {f"label:{layer.name}", f"labels:{layer.name}", f"score:{layer.name}", layer.name}
    names = ["label" if name in own else name.strip() for name in form.columns]
    for number, row in form.rows(source):
        if isinstance(row, Fault):
            yield Skipped(number, str(row))
        elif len(row) != len(names):
            message = _(
                "number of columns: {n}, expected {expected}", n=len(row), expected=len(names)
            )
            yield Skipped(number, message)
        else:
            yield FileLine(number, dict(zip(names, row, strict=True)))


def _records(source: Source, format: str, layer: Layer) -> Iterator[FileLine | Skipped]:
    """Files of any other import format: their labels are taken as predictions.

    In columns of tokens, the last column has the predicted tags.
    """
    options = Options(class_layer=layer.name, span_layer=layer.name, tag_layer=layer.name)
    table = first_rows(format, source, options, 1)
    if format == "conll" and len(table.columns) > 1:
        text = next((column for role, column in table.mapping if role == "text"), table.columns[0])
        tags = f"{roles.TAG}:{layer.name}"
        mapping = (("text", text), (tags, table.columns[-1]))
        options = Options(mapping=mapping, tag_layer=layer.name, span_layer=layer.name)
    for item in items(format, source, options):
        if isinstance(item, Skipped):
            yield item
        elif isinstance(item, Row):
            record = item.record
            texts = dict(record.document.texts)
            values: dict[str, Any] = {"text": record.document.text, "text_b": texts.get("text_b")}
            values["labels"] = [*_only(record.marks, layer)]
            values["spans"] = _only(record.spans, layer)
            values["number"] = record.numbers.get(layer.name)
            yield FileLine(item.line, {**values, "key": ""})


def _only(by_layer: Mapping[str, Sequence[Any]], layer: Layer) -> Sequence[Any]:
    """What is of the layer, or of the only layer of the file."""
    if layer.name in by_layer or len(by_layer) != 1:
        return by_layer.get(layer.name, ())
    return next(iter(by_layer.values()))


# ---------------------------------------------------------------- predictions


def prediction(line: FileLine, document: Document, layer: Layer, task: TaskInfo) -> Prediction:
    """What a line predicts for a document. Raises Fault naming what is missing or wrong."""
    raw = _object(line)
    if isinstance(raw.get("fields"), list):
        return _own(raw, layer, task)
    for output, make in _MAKE.items():
        if output in task.outputs:
            return make(line, document, layer)
    raise Fault(
        _(
            "predictions of the task {task} can only be read in the format of Glossbench",
            task=_(task.title),
        )
    )


def task_of(line: FileLine, fitting: Sequence[TaskInfo]) -> TaskInfo:
    """The task that predicts what a line has in the format of Glossbench; else the first one."""
    fields = _object(line).get("fields")
    keys = {*map(str, fields)} if isinstance(fields, list) else set()
    for task in fitting:
        kinds = (named(output) for output in task.outputs)
        if keys & {kind.key for kind in kinds if kind is not None and kind.key}:
            return task
    return fitting[0]


def _object(line: FileLine) -> Mapping[str, Any]:
    raw = line.values.get("prediction")
    return raw if isinstance(raw, dict) else line.values


def _own(raw: Mapping[str, Any], layer: Layer, task: TaskInfo) -> Prediction:
    """The format that `predict` and runs write."""
    try:
        prediction = Prediction.from_json(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Fault(_("the prediction is incomplete: {error!r}", error=error)) from None
    view = result_view.of(prediction)
    if not {named(output) for output in task.outputs} & {type(item) for item in prediction.fields}:
        kinds = ", ".join(sorted(type(item).__name__ for item in prediction.fields))
        message = _("a prediction of {kinds}, expected {expected}")
        raise Fault(message.format(kinds=kinds, expected=task.outputs[0]))
    if layer.names and not view.by_size and not view.asks:
        for answer in view.answers(prediction):
            _check(answer.label, layer)
    return prediction


def _check(label: object, layer: Layer) -> str:
    if str(label) not in layer.names:
        raise UnknownLabel(str(label), layer.name)
    return str(label)


def _class(line: FileLine, _document: Document, layer: Layer) -> Prediction:
    label, scores = line.first(LABEL), _scores(line, layer)
    if isinstance(label, list | tuple) or label is None:
        several = line.first(LABELS) if label is None else label
        label = several[0] if isinstance(several, list | tuple) and len(several) == 1 else None
    if label is None and scores:
        label = max(scores, key=lambda name: scores[name])
    if label is None:
        raise _missing(LABEL)
    label = _check(label, layer)
    names = layer.names
    if not (scores and max(names, key=lambda name: scores.get(name, 0.0)) == label):
        scores = _spread(label, _probability(line), names)
    return Prediction((ClassScores(names, tuple(scores.get(name, 0.0) for name in names)),))


def _spread(label: str, chance: float | None, names: Sequence[str]) -> dict[str, float]:
    """The probability of the label, and the same for each of the others; all of it for the label
    if it would not be the most probable one.
    """
    rest = (1 - chance) / (len(names) - 1) if chance is not None and len(names) > 1 else 0.0
    if chance is None or chance <= rest:
        chance, rest = 1.0, 0.0
    return {name: chance if name == label else rest for name in names}


def _several(line: FileLine, _document: Document, layer: Layer) -> Prediction:
    names, scores = line.first(LABELS), _scores(line, layer)
    if isinstance(names, str):
        names = table_cells.labels(names)
    if names is None and not scores and not any(name in line.values for name in LABELS):
        raise _missing(LABELS)
    chosen = {_check(label, layer) for label in names or ()}
    if names is None:
        chosen = {name for name, score in scores.items() if score >= THRESHOLD}
    values = []
    for name in layer.names:
        score = scores.get(name, float(name in chosen))
        fits = (score >= THRESHOLD) == (name in chosen)
        values.append(score if fits else float(name in chosen))
    thresholds = (THRESHOLD,) * len(values)
    return Prediction((LabelScores(layer.names, tuple(values), thresholds),))


def _number(line: FileLine, _document: Document, _layer: Layer) -> Prediction:
    value = line.first(NUMBER)
    if value is None:
        raise _missing(NUMBER)
    return Prediction((Number(_float(value)),))


def _spans(line: FileLine, document: Document, layer: Layer) -> Prediction:
    items = (_span(item, document, layer) for item in _items(line, document))
    spans = tuple(sorted(items, key=lambda span: span.start))
    return Prediction((WordTags(words_with(document, spans)), SpanScores(spans)))


def _chains(line: FileLine, document: Document, layer: Layer) -> Prediction:
    """Spans with the number of their chain; one without is a chain of its own."""
    numbers: dict[object, int] = {}
    spans = []
    for at, item in enumerate(_items(line, document)):
        chain = item.get("chain") if isinstance(item, Mapping) else getattr(item, "chain", None)
        number = numbers.setdefault((at,) if chain is None else chain, len(numbers) + 1)
        spans.append(replace(_span(item, document, layer), chain=number))
    return Prediction((Chains(tuple(sorted(spans, key=lambda span: (span.start, -span.end)))),))


def _items(line: FileLine, document: Document) -> Sequence[Any]:
    """The spans as the file has them."""
    raw = next((line.values[name] for name in SPANS if name in line.values), None)
    if raw is None:
        raise _missing(SPANS)
    return table_cells.spans(raw, document.text) if isinstance(raw, str) else raw


def _span(item: Any, document: Document, layer: Layer) -> Span:
    """A Span, an object with start, end and label, or a list of these. Raises Fault."""
    start: Any
    end: Any
    score: Any
    if isinstance(item, Span):
        start, end, label, score = item.start, item.end, item.label, item.score
    elif isinstance(item, Mapping):
        label = next((item[name] for name in ("label", "type", "entity_group") if name in item), "")
        start, end, score = item.get("start"), item.get("end"), item.get("score")
    elif isinstance(item, list | tuple) and len(item) in (3, 4):
        start, end, label, score = (*item, None)[:4]
    else:
        raise Fault(_("{value!r} is not a span", value=item))
    if not (isinstance(start, int) and isinstance(end, int)):
        raise Fault(_("the span {value!r} has no start and end", value=item))
    if not 0 <= start < end <= len(document.text):
        message = _("the span {start}–{end} is outside the text, which ends at {length}")
        raise Fault(message.format(start=start, end=end, length=len(document.text)))
    chance = None if score is None else _float(score)
    return Span(start, end, _check(label, layer), score=1.0 if chance is None else chance)


def _answers(line: FileLine, document: Document, _layer: Layer) -> Prediction:
    questions = document.questions
    question = line.values.get("question") or (questions[0] if len(questions) == 1 else None)
    if question is None or question not in questions:
        raise Fault(_("the document has no question {question!r}", question=question))
    if not any(name in line.values for name in ANSWER):
        raise _missing(ANSWER)
    text = str(line.first(ANSWER) or "")
    start = line.values.get("start")
    if not isinstance(start, int):
        start = document.text.find(text)
    if text and document.text[start : start + len(text)] != text:
        raise Fault(_("the text does not contain the answer {answer!r}", answer=text))
    chance = _probability(line)
    chance = 1.0 if chance is None else chance
    candidates = (Candidate(start, start + len(text), chance),) if text else ()
    null = 1.0 - chance if text else chance
    answer = PredictedAnswer(question, candidates, text, 0.0, null, not text)
    return Prediction((Answers((answer,)),))


_MAKE = {
    "ClassScores": _class,
    "LabelScores": _several,
    "Number": _number,
    "SpanScores": _spans,
    "Chains": _chains,
    "Answers": _answers,
}


def _scores(line: FileLine, layer: Layer) -> dict[str, float]:
    """The probability of each label: of one field, or of a column for each label."""
    raw = line.first(SCORES)
    if not isinstance(raw, Mapping):
        raw = {name: line.values[name] for name in layer.names if name in line.values}
        if len(raw) < len(layer.names):
            return {}
    return {_check(name, layer): _float(value) for name, value in raw.items()}


def _probability(line: FileLine) -> float | None:
    value = line.first(PROBABILITY)
    if value is None:
        return None
    chance = _float(value)
    if not 0 <= chance <= 1:
        raise Fault(_("the probability {value} is not between 0 and 1", value=value))
    return chance


def _float(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Fault(_("{value!r} is not a number", value=value))
    return number


def _missing(names: Sequence[str]) -> NoPrediction:
    """names: fields that would have one."""
    return NoPrediction(_("there is no field or column {names}", names=", ".join(names[:4])))
