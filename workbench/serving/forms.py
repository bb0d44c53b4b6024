"""Requests in the form of `glossbench predict --json`, and what all forms share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.base.i18n import _
from workbench.serving.batches import characters
from workbench.serving.spec import ServeLimits
from workbench.tasks.spec import TaskInfo
from workbench.text.document import (
    CHOICES,
    QUESTION,
    SPANS,
    TEXT,
    TEXT_B,
    Document,
    spans_from_json,
    with_choices,
    with_questions,
)
from workbench.text.fields import Prediction
from workbench.text.result_view import answer_json
from workbench.text.spans import Span

Raw = Mapping[str, Any]
LISTS = ("choices", "questions")


class Refusal(Exception):
    """A request that is answered with an error. status: of HTTP. code: for programs."""

    def __init__(self, status: int, code: str, message: str, hint: str = ""):
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint

    def to_json(self) -> dict[str, Any]:
        error = {"status": self.status, "code": self.code, "message": self.message}
        return {"error": {**error, **({"hint": self.hint} if self.hint else {})}}


def invalid(message: str, hint: str = "") -> Refusal:
    return Refusal(422, "invalid", message, hint)


@dataclass(frozen=True)
class Reading:
    """A request: its documents, and how their predictions are written as a JSON value."""

    documents: tuple[Document, ...]
    answer: Callable[[Sequence[Prediction]], object]


@dataclass(frozen=True)
class Form:
    """What documents a model reads, by the task; `name` is that of the model."""

    task: TaskInfo
    name: str
    limits: ServeLimits

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that a document needs."""
        if self.task.asks:
            return (TEXT, "questions")
        if self.task.texts == CHOICES:
            return (TEXT, "choices")
        if self.task.connects:
            return (TEXT, SPANS)
        return (TEXT, TEXT_B)[: self.task.texts]

    @property
    def optional(self) -> tuple[str, ...]:
        return (*((QUESTION,) if self.task.texts == CHOICES else ()), "key")

    def document(self, raw: object, at: str) -> Document:
        """A text, or an object of its fields. Raises Refusal naming the place `at`."""
        if isinstance(raw, str) and self.fields == (TEXT,):
            raw = {TEXT: raw}
        if not isinstance(raw, Mapping):
            needed = _("an object with {fields}", fields=", ".join(self.fields))
            expected = _("a text") if self.fields == (TEXT,) else needed
            raise invalid(_("{at}: expected {expected}.", at=at, expected=expected))
        missing = [name for name in self.fields if name not in raw]
        if missing:
            raise invalid(_("{at}: {field} is missing.", at=at, field=missing[0]))
        known = (*self.fields, *self.optional)
        if unknown := [name for name in raw if name not in known]:
            raise invalid(
                _("{at}: {field!r} is not a field of a text.", at=at, field=str(unknown[0])),
                _("This model reads: {fields}.", fields=", ".join(known)),
            )
        spans = self._spans(raw, at) if self.task.connects else ()
        values = {
            name: self._value(name, raw[name], f"{at}.{name}") for name in raw if name != SPANS
        }
        return self._checked(replace(self._made(values), input_spans=spans), at)

    def _value(self, name: str, value: object, at: str) -> Any:
        if name not in LISTS:
            return text_of(value, at)
        if not isinstance(value, list) or not value:
            raise invalid(_("{at}: expected a list of texts.", at=at))
        if len(value) > self.limits.texts:
            raise too_many(len(value), self.limits)
        return [text_of(item, f"{at}.{number}") for number, item in enumerate(value)]

    def _spans(self, raw: Raw, at: str) -> tuple[Span, ...]:
        try:
            spans = spans_from_json(raw, text_of(raw[TEXT], f"{at}.{TEXT}"))
        except ValueError as error:
            raise invalid(f"{at}.{error}") from error
        if len(spans) > self.limits.spans:
            message = _(
                "{at} has too many spans: {count:,}. Most in one text: {limit:,}.",
                at=at,
                count=len(spans),
                limit=self.limits.spans,
            )
            raise Refusal(413, "too_many_spans", message)
        for number, span in enumerate(spans):
            text_of(span.label, f"{at}.{SPANS}.{number}.label")
        return spans

    def _made(self, values: Mapping[str, Any]) -> Document:
        key, text = values.get("key", ""), values[TEXT]
        if self.task.asks:
            return with_questions(key, text, values["questions"])
        if self.task.texts == CHOICES:
            return with_choices(key, text, values["choices"], values.get(QUESTION, ""))
        return Document(key, tuple((name, values[name]) for name in self.fields if name in values))

    def _checked(self, document: Document, at: str) -> Document:
        longest, size = self.limits.characters, characters(document)
        if size > longest:
            message = _(
                "{at} is too long: {size:,}. Longest text, in characters: {limit:,}.",
                at=at,
                size=size,
                limit=longest,
            )
            raise Refusal(413, "text_too_long", message)
        return document

    def documents(self, raw: Sequence[object], at: str) -> tuple[Document, ...]:
        if len(raw) > self.limits.texts:
            raise too_many(len(raw), self.limits)
        return tuple(self.document(item, f"{at}.{number}") for number, item in enumerate(raw))


def too_many(count: int, limits: ServeLimits) -> Refusal:
    message = _(
        "The request has too many texts: {count:,}. Most in one request: {limit:,}.",
        count=count,
        limit=limits.texts,
    )
    return Refusal(413, "too_many_texts", message, _("Send them in several requests."))


def text_of(value: object, at: str) -> str:
    """Raises Refusal for anything but a text of Unicode characters."""
    if not isinstance(value, str):
        raise invalid(_("{at}: expected a text.", at=at))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise invalid(_("{at}: not valid Unicode (a lone surrogate).", at=at)) from error
    return value


def read(raw: object, form: Form) -> Reading:
    """A document, a list of documents, or {"texts": [document, …]}.

    The answer is an object as of `glossbench predict --json`, or a list of them.
    """
    if isinstance(raw, Mapping) and "texts" in raw:
        if unknown := [name for name in raw if name != "texts"]:
            raise invalid(_("{field!r} is not a field of the request.", field=str(unknown[0])))
        raw = raw["texts"]
        if not isinstance(raw, list):
            raise invalid(_("texts: expected a list."))
    if isinstance(raw, list):
        documents = form.documents(raw, "texts")
        return Reading(documents, lambda predictions: _answers(documents, predictions))
    documents = (form.document(raw, "request"),)
    return Reading(documents, lambda predictions: _answers(documents, predictions)[0])


def _answers(
    documents: Sequence[Document], predictions: Sequence[Prediction]
) -> list[dict[str, object]]:
    pairs = zip(documents, predictions, strict=True)
    return [answer_json(item, answer, named=bool(item.key)) for item, answer in pairs]


def json_bytes(value: object) -> bytes:
    """JSON in UTF-8; infinity and NaN become null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(value)).encode()


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
