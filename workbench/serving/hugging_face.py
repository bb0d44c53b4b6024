"""Requests as of the inference API of Hugging Face: {"inputs": …, "parameters": {…}}.

Source: the specifications of text classification, token classification, question answering and
sentence similarity in huggingface.co/docs/inference-providers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.i18n import _
from workbench.serving.forms import Form, Raw, Reading, invalid, text_of
from workbench.text import fields
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.fields import (
    Answers,
    DocumentLabels,
    LabelScores,
    Number,
    Prediction,
    SpanScores,
    WordTag,
)
from workbench.text.questions import PredictedAnswer
from workbench.text.spans import Span

SINGLE = "LABEL_0"  # the label of a predicted number
OUTSIDE = "O"
APPLIED = {LabelScores: "sigmoid", Number: "none"}  # others are a softmax
STRATEGIES = ("none", "simple", "first", "average", "max")
Parameters = Mapping[str, Any]


def read(raw: Raw, form: Form) -> Reading:
    """Inputs: a text; {"text", "text_pair"}; {"question", "context"};
    {"source_sentence", "sentences"}; a document in our own form; or a list of these.
    """
    inputs, parameters = raw["inputs"], raw.get("parameters") or {}
    kind = _kind(form)
    _check(parameters, kind)
    if form.task.connects:
        raise invalid(
            _("The inference API of Hugging Face has no relations."),
            _("Send {fields} instead of inputs.", fields=", ".join(form.fields)),
        )
    if isinstance(inputs, Mapping) and "source_sentence" in inputs:
        return _similarity(inputs, form, kind)
    if isinstance(inputs, list):
        rows = [_own(item, f"inputs.{number}") for number, item in enumerate(inputs)]
        documents = form.documents(rows, "inputs")
    else:
        documents = (form.document(_own(inputs, "inputs"), "inputs"),)
    # The API wraps the classes of a single text in a list, but not its entities or its answer.
    wrapped = isinstance(inputs, list) or issubclass(kind, DocumentLabels | Number)

    def answer(predictions: Sequence[Prediction]) -> object:
        pairs = zip(documents, predictions, strict=True)
        written = [_written(document, item, parameters) for document, item in pairs]
        return written if wrapped else written[0]

    return Reading(documents, answer)


def _kind(form: Form) -> type[fields.Field]:
    """What the model predicts."""
    kinds = [kind for name in form.task.outputs if (kind := fields.named(name)) is not None]
    return next((kind for kind in kinds if kind.key), fields.Field)


def _own(item: object, at: str) -> object:
    """An input in our own form."""
    if not isinstance(item, Mapping):
        return item
    if "context" in item:
        question = text_of(item.get("question"), f"{at}.question")
        return {TEXT: item["context"], "questions": [question]}
    if "text_pair" in item:
        rest = {name: value for name, value in item.items() if name != "text_pair"}
        return {**rest, TEXT_B: item["text_pair"]}
    return item


def _similarity(inputs: Raw, form: Form, kind: type[fields.Field]) -> Reading:
    """One number for each of the sentences."""
    if kind is not Number:
        raise invalid(_("This model predicts no similarity: {at} is not read.", at="inputs"))
    if not isinstance(inputs.get("sentences"), list):
        raise invalid(_("{at}: expected a list of texts.", at="inputs.sentences"))
    rows = [{TEXT: inputs["source_sentence"], TEXT_B: other} for other in inputs["sentences"]]
    documents = form.documents(rows, "inputs.sentences")
    return Reading(documents, lambda predictions: [item.number for item in predictions])


def _check(parameters: object, kind: type[fields.Field]) -> None:
    """Raises Refusal for a parameter that would be without effect."""
    if not isinstance(parameters, Mapping):
        raise invalid(_("{at}: expected {expected}.", at="parameters", expected=_("an object")))
    known: dict[str, tuple[object, ...]] = {"top_k": ()}
    if issubclass(kind, DocumentLabels | Number):
        known["function_to_apply"] = (APPLIED.get(kind, "softmax"), None)
    elif kind is not Answers:
        known = {"aggregation_strategy": (*STRATEGIES, None), "ignore_labels": ()}
    for name, value in parameters.items():
        if name not in known:
            raise invalid(
                _("The parameter {name!r} has no effect on this model.", name=str(name)),
                _("It reads: {names}.", names=", ".join(known)),
            )
        if known[name] and value not in known[name]:
            options = ", ".join(str(option) for option in known[name] if option)
            raise invalid(_("parameters.{name}: expected {options}.", name=name, options=options))
    top = parameters.get("top_k")
    if top is not None and (not isinstance(top, int) or top < 1):
        raise invalid(_("parameters.top_k: expected a positive integer."))
    ignored = parameters.get("ignore_labels")
    if ignored is not None and not isinstance(ignored, list):
        raise invalid(_("parameters.ignore_labels: expected a list of labels."))


def _written(document: Document, prediction: Prediction, parameters: Parameters) -> object:
    top = parameters.get("top_k")
    if (answers := prediction.get(Answers)) is not None:
        rows = [_answer(document, predicted, top) for predicted in answers.answers]
        return rows[0] if len(rows) == 1 else rows
    if (labels := prediction.get(DocumentLabels)) is not None:
        best = sorted(labels.as_dict().items(), key=lambda item: -item[1])
        return [{"label": label, "score": score} for label, score in best[:top]]
    if (number := prediction.number) is not None:
        return [{"label": SINGLE, "score": number}]
    return _entities(document, prediction, parameters)


def _answer(document: Document, predicted: PredictedAnswer, top: int | None) -> object:
    rows: list[dict[str, object]] = [
        {
            "score": candidate.score,
            "start": candidate.start,
            "end": candidate.end,
            "answer": document.text[candidate.start : candidate.end],
        }
        for candidate in predicted.candidates
    ]
    if predicted.best is None:
        rows.insert(0, {"score": predicted.null_score, "start": 0, "end": 0, "answer": ""})
    return rows[:top] if top is not None and top > 1 else rows[0]


def _entities(
    document: Document, prediction: Prediction, parameters: Parameters
) -> list[dict[str, object]]:
    """Spans as groups; without aggregation, or for tags of words, one row for each word."""
    alone = parameters.get("aggregation_strategy") == "none"
    units: Sequence[Span | WordTag] = prediction.words
    if not alone and prediction.get(SpanScores) is not None:
        units = prediction.spans
    ignored = parameters.get("ignore_labels") or (OUTSIDE,)
    return [
        {
            "entity" if alone else "entity_group": unit.label,
            "score": unit.score,
            **({"index": number} if alone else {}),
            "word": document.text[unit.start : unit.end],
            "start": unit.start,
            "end": unit.end,
        }
        for number, unit in enumerate(units, 1)
        if unit.label is not None and unit.label not in ignored
    ]
