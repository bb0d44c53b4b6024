"""Requests of Label Studio to a backend: {"tasks": […], "label_config": XML} → {"results": […]}.

The control of the configuration that fits the model receives what it predicts. Source:
labelstud.io/guide/ml_create and github.com/HumanSignal/label-studio-ml-backend.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from workbench.base.i18n import _
from workbench.exporters.data import label_studio
from workbench.serving.forms import Form, Raw, Reading, invalid, text_of, too_many
from workbench.text import result_view
from workbench.text.document import CHOICES, TEXT, TEXT_B, Document
from workbench.text.fields import DocumentLabels, Prediction
from workbench.text.result_view import Answer

CLASSES, SPANS, NUMBER = "Choices", "Labels", "Number"  # controls
ITEMS = {CLASSES: "Choice", SPANS: "Label"}  # their labels
TEXTS = ("Text", "HyperText")
DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)", re.I)
VARIABLE = re.compile(r"\$\{?([^\s{}]+)\}?")
Result = dict[str, Any]


@dataclass(frozen=True)
class Control:
    """The control that receives predictions. name and kind: of it; of: the object that it labels.

    fields: the fields of a task's data with the texts of a document, in order. labels: label of the
    model, case folded → that of the control; () if it has none of its own.
    """

    name: str
    kind: str
    of: str
    fields: tuple[str, ...]
    labels: Mapping[str, str]

    def label(self, label: str) -> str | None:
        """The label of the control; None if it has no such label."""
        return self.labels.get(label.casefold()) if self.labels else label


def read(raw: Raw, form: Form, labels: Sequence[str]) -> Reading:
    """labels: of the model. Raises Refusal if no control fits it."""
    tasks, config = raw["tasks"], raw.get("label_config")
    if not isinstance(tasks, list):
        raise invalid(_("{at}: expected a list.", at="tasks"))
    if not isinstance(config, str):
        raise invalid(_("{field} is missing.", field="label_config"))
    control = control_of(text_of(config, "label_config"), form, labels)
    rows = [_data(task, f"tasks.{number}") for number, task in enumerate(tasks)]
    # A task without a text has no predictions; it must not prevent those of the others.
    numbers = [number for number, data in enumerate(rows) if _is_complete(data, control)]
    if len(numbers) > form.limits.texts:
        raise too_many(len(numbers), form.limits)
    documents = tuple(
        form.document(_own(rows[number], control, form), f"tasks.{number}") for number in numbers
    )

    def answer(predictions: Sequence[Prediction]) -> object:
        version = form.name
        results: list[Result] = [
            {"result": [], "score": 0.0, "model_version": version} for _task in tasks
        ]
        for number, document, prediction in zip(numbers, documents, predictions, strict=True):
            results[number] |= _answered(document, prediction, control)
        return {"results": results, "model_version": version}

    return Reading(documents, answer)


def _data(task: object, at: str) -> Mapping[str, Any]:
    data = task.get("data") if isinstance(task, Mapping) else None
    if not isinstance(data, Mapping):
        raise invalid(_("{at}: expected {expected}.", at=f"{at}.data", expected=_("an object")))
    return data


def _is_complete(data: Mapping[str, Any], control: Control) -> bool:
    return all(isinstance(data.get(field), str) for field in control.fields)


def _own(data: Mapping[str, Any], control: Control, form: Form) -> object:
    """The texts of a task in our own form."""
    texts = [data[field] for field in control.fields]
    if form.task.asks:
        return {TEXT: texts[0], "questions": [texts[1]]}
    return dict(zip((TEXT, TEXT_B), texts, strict=False))


# ---------------------------------------------------------------- the labelling configuration


def control_of(config: str, form: Form, labels: Sequence[str]) -> Control:
    """The control that fits what the model predicts, with most of its labels."""
    if form.task.texts == CHOICES:
        raise invalid(_("Label Studio has no tasks with texts to choose from."))
    if form.task.connects:
        raise invalid(_("The spans of a task cannot be read from Label Studio."))
    root = _parsed(config)
    texts = {item.get("name", ""): item for tag in TEXTS for item in root.iter(tag)}
    fitting = [
        control
        for item in root.iter()
        if item.tag == _kind(form) and (control := _control(item, texts, form, labels)) is not None
    ]
    if not fitting:
        raise invalid(
            _("The labelling configuration has no control for this model."),
            _(
                "It needs <{kind}> with a label of the model ({labels}), for enough texts: <Text>.",
                kind=_kind(form),
                labels=", ".join(labels),
            ),
        )
    return max(fitting, key=lambda control: len(control.labels))


def _parsed(config: str) -> ElementTree.Element:
    if DECLARED.search(config):  # entities could expand without limit
        raise invalid(_("label_config: declarations (<!DOCTYPE, <!ENTITY) are not read."))
    try:
        return ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise invalid(_("label_config is not valid XML: {error}.", error=error)) from error


def _kind(form: Form) -> str:
    """The controls that receive what the model predicts."""
    view = result_view.of_outputs(form.task.outputs)
    if view.by_size:
        return NUMBER
    return CLASSES if view.on_document else SPANS


def _control(
    item: ElementTree.Element,
    texts: Mapping[str, ElementTree.Element],
    form: Form,
    labels: Sequence[str],
) -> Control | None:
    """The control of an element, None if it does not fit."""
    of = item.get("toName", "").split(",")[0].strip()
    count = 2 if form.task.asks else form.task.texts
    # The object that it labels comes first, unless the model reads several that it labels as one.
    names = [of, *(name for name in texts if name != of)] if form.task.asks else [*texts]
    names = [of] if count == 1 else names[:count]
    if len(names) < count or not all(name in texts for name in (of, *names)):
        return None
    fields = tuple(_field(texts[name]) for name in names)
    if not all(fields):
        return None
    kind = str(item.tag)
    own = dict(_labels(item, ITEMS[kind])) if kind in ITEMS else {}
    if form.task.asks:  # an answer is a span without a label of the model
        own = dict(list(own.items())[:1])
    elif kind in ITEMS:
        known = {label.casefold() for label in labels}
        own = {label: name for label, name in own.items() if label in known}
    if kind in ITEMS and not own:
        return None
    return Control(item.get("name", ""), kind, of, fields, own)


def _field(item: ElementTree.Element) -> str:
    """The field of the data that an object shows, "" for anything but a text."""
    variable = VARIABLE.fullmatch(item.get("value", ""))
    return variable[1] if variable and item.get("valueType", "text") == "text" else ""


def _labels(item: ElementTree.Element, tag: str) -> Iterable[tuple[str, str]]:
    """(label case folded, how results name it); an alias replaces the value in results."""
    for label in item.iter(tag):
        value, alias = label.get("value", ""), label.get("alias", "")
        for name in filter(None, (value, alias)):
            yield name.casefold(), alias or value


# ---------------------------------------------------------------- results


def _answered(document: Document, prediction: Prediction, control: Control) -> Result:
    answers = result_view.of(prediction).answers(prediction)
    results = list(_results(document, answers, control))
    known = [float(answer.score) for answer in answers if answer.score is not None]
    labels = prediction.get(DocumentLabels)
    if not known and labels is not None:  # of several labels, none is predicted
        known = [1 - max(labels.as_dict().values(), default=0.0)]
    return {"result": results, "score": min(known, default=1.0)}


def _results(document: Document, answers: Sequence[Answer], control: Control) -> Iterable[Result]:
    if control.kind == NUMBER:
        for answer in answers:
            yield label_studio.result(
                control.name, "number", {"number": answer.value}, of=control.of
            )
        return
    if control.kind == CLASSES:
        named = [(name, answer) for answer in answers if (name := control.label(answer.label))]
        if named:
            row = label_studio.classes(control.name, [name for name, _a in named], of=control.of)
            scores = [answer.score for _n, answer in named if answer.score is not None]
            yield {**row, **({"score": min(scores)} if scores else {})}
        return
    for number, answer in enumerate(answers, 1):
        own = next(iter(control.labels.values()), "")
        name = control.label(answer.label) or (own if document.questions else None)
        if name and answer.start is not None and answer.end is not None and answer.field == TEXT:
            place = (answer.start, answer.end)
            row = label_studio.region(control.name, document.text, place, name, of=control.of)
            yield {"id": f"{control.name}-{number}", **row, "score": answer.score}
