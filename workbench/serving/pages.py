"""The two pages of a server, which load nothing from elsewhere, and its OpenAPI description."""

from __future__ import annotations

import html
import json
from string import Template
from typing import Any

from workbench.base.i18n import _
from workbench.base.paths import resource
from workbench.serving.forms import LISTS, Form
from workbench.text.document import SPANS


def page(form: Form) -> str:
    """A form for one text, or what else the model reads, and its prediction."""
    titles = {
        "text": _("Text"),
        "text_b": _("Second text"),
        "question": _("Question"),
        "choices": _("Choices, one per line"),
        "questions": _("Questions, one per line"),
        "spans": _("Spans: a JSON list of objects with start, end and label"),
    }
    fields = [
        {
            "name": name,
            "title": titles[name],
            "needed": name in form.fields,
            "list": name in LISTS,
            "json": name == SPANS,
        }
        for name in (*form.fields, *form.optional)
        if name in titles
    ]
    data = {"fields": fields, "predict": _("Predict"), "reference": _("Requests of programs")}
    return _page(_("Try {name}", name=form.name), data, "try.js")


def reference(name: str) -> str:
    """The description of all requests, from /openapi.json."""
    data = {"back": _("Try it")}
    return _page(_("Requests to {name}", name=name), data, "reference.js")


def _page(title: str, data: dict[str, Any], script: str) -> str:
    """A page whose script reads `data`."""
    folder = resource("serving")
    frame = Template((folder / "page.html").read_text(encoding="utf-8"))
    code = (folder / script).read_text(encoding="utf-8")
    raw = json.dumps(data).replace("</", "<\\/")
    return frame.substitute(title=html.escape(title), data=raw, script=code)


# ---------------------------------------------------------------- OpenAPI

ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "status": {"type": "integer"},
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
            },
            "required": ["status", "code", "message"],
        }
    },
    "required": ["error"],
}


def setup() -> dict[str, Any]:
    """The request body and the response of POST /setup."""
    return {
        "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
        "responses": {"200": {"description": _("The version of the model.")}},
    }


def schema(form: Form) -> dict[str, Any]:
    """The request body and the responses of POST /predict, for what the model reads."""
    texts = {"type": "array", "items": {"type": "string"}}
    place = {"start": {"type": "integer"}, "end": {"type": "integer"}, "label": {"type": "string"}}
    span = {"type": "object", "properties": place, "required": list(place)}
    spans = {"type": "array", "items": span, "maxItems": form.limits.spans}
    properties = {
        name: texts if name in LISTS else spans if name == SPANS else {"type": "string"}
        for name in (*form.fields, *form.optional)
    }
    document: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(form.fields),
        "additionalProperties": False,
    }
    if len(form.fields) == 1:
        items: dict[str, Any] = {"anyOf": [{"type": "string"}, document]}
    else:
        items = document
    several = {"type": "array", "items": items, "maxItems": form.limits.texts}
    listed = {"type": "object", "properties": {"texts": several}, "required": ["texts"]}
    inputs = {
        "type": "object",
        "properties": {"inputs": {}, "parameters": {"type": "object"}},
        "required": ["inputs"],
    }
    tasks = {
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "items": {"type": "object"}},
            "label_config": {"type": "string"},
        },
        "required": ["tasks", "label_config"],
    }
    content = {
        "schema": {"anyOf": [document, listed, several, inputs, tasks]},
        "examples": _examples(form),
    }
    return {
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": {**_answers(), **_errors()},
    }


def _examples(form: Form) -> dict[str, Any]:
    values: dict[str, Any] = {
        "text": "The 42 tram was late again.",
        "text_b": "The tram did not come on time.",
        "choices": ["It was early.", "It was late."],
        "questions": ["Which tram was late?"],
        "spans": [
            {"start": 4, "end": 6, "label": "LINE"},
            {"start": 7, "end": 11, "label": "VEHICLE"},
        ],
    }
    document = {name: values[name] for name in form.fields}
    inputs: object = document
    if form.task.asks:
        inputs = {"question": values["questions"][0], "context": values["text"]}
    elif form.task.texts == 2:
        inputs = {"text": values["text"], "text_pair": values["text_b"]}
    elif len(form.fields) == 1:
        inputs = values["text"]
    examples: dict[str, Any] = {
        "one": {"summary": _("One text; the answer is an object"), "value": document},
        "many": {
            "summary": _("Several texts; the answer is a list"),
            "value": {"texts": [document, document]},
        },
    }
    if not form.task.connects:
        examples["hugging_face"] = {
            "summary": _("As the inference API of Hugging Face"),
            "value": {"inputs": inputs, "parameters": {}},
        }
    return examples


def _answers() -> dict[str, Any]:
    described = _(
        "Per text: its fields, label, scores, tokens, spans (offsets in code points), cut, as "
        "`glossbench predict --json` prints it; or in the form of the request."
    )
    return {"200": {"description": described, "content": {"application/json": {"schema": {}}}}}


def _errors() -> dict[str, Any]:
    reasons = {
        "401": _("The token is missing or wrong."),
        "403": _("The host is not this computer."),
        "408": _("The request did not arrive in time."),
        "413": _("The request, its number of texts or a text is too long."),
        "415": _("The request is not application/json."),
        "422": _("The request is not what this model reads."),
        "429": _("Too many requests are waiting."),
        "500": _("The model cannot predict this."),
        "503": _("The server is stopping."),
        "504": _("No answer in time."),
    }
    content = {"application/json": {"schema": ERROR}}
    return {
        status: {"description": reason, "content": content} for status, reason in reasons.items()
    }
