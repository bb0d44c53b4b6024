"""Prodigy's JSON lines: tokens and spans, or classes with accept and reject.

`accept` counts as submitted, `ignore` as discarded. Of a rejected task only the text is imported:
rejection does not tell which labels are correct. Lines of one text by several people are one
document: `_annotator_id` (before version 1.12 `_session_id`) is the name of the data set, a hyphen
and the name of the session. Source: prodi.gy/docs/api-web-app.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from workbench.base.i18n import _, ngettext
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    label_name,
    offset,
    person_name,
    show,
    span_offsets,
    split_name,
    unique_spans,
)
from workbench.importers.json import jsonl
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLASS
from workbench.text.spans import Span

ANSWERS = ("accept", "reject", "ignore")
_OWN = (
    "_input_hash",
    "_task_hash",
    "_view_id",
    "_session_id",
    "_annotator_id",
    "_timestamp",
    "answer",
    "options",
    "accept",
    "tokens",
    "spans",
    "config",
)
_UNNAMED = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$")  # of a session: its start
_KNOWN = (
    *_OWN,
    "text",
    "label",
    "labels",
    "meta",
    "id",
    "split",
    "group",
    "priority",
    "score",
    "relations",
    "html",
    "style",
    "_is_binary",
)


class ProdigyImporter:
    def sniff(self, head: str, name: str) -> Guess:
        first = jsonl.first_object(head)
        if not isinstance(first.get("text"), str):
            return Guess(0.0)
        if prodigy_keys := [
            key for key in ("answer", "_task_hash", "_input_hash", "_view_id") if key in first
        ]:
            return Guess(
                0.95,
                _(
                    "JSON with {names}, as Prodigy writes it",
                    names=", ".join(map(repr, prodigy_keys)),
                ),
            )
        if any(_holds_objects(first.get(key)) for key in ("tokens", "spans")):
            return Guess(0.9, _("JSON with 'text' and 'spans' in Prodigy's format"))
        return (
            Guess(0.4, _("JSON with 'text'"))
            if "label" not in first and "labels" not in first
            else Guess(0.1)
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = [
            TableRow(line, _preview_cells(value))
            for line, value in islice(jsonl.values(source), limit)
            if isinstance(value, dict)
        ]
        return Table(
            ("text", "labels", "answer"),
            tuple(rows),
            (),
            _("texts, tokens, spans, classes and answers are imported unchanged"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        rejected, offsets = 0, Offsets()
        for line, value in jsonl.values(source):
            try:
                record = _record(value, options, offsets)
                person = _person(value)
                check(record)
            except Fault as fault:
                yield Skipped(line, str(fault))
                continue
            rejected += isinstance(value, dict) and value.get("answer") == "reject"
            if options.class_layer in record.states and not record.marks:
                yield Hint(options.class_layer, CLASS)  # an ignored task does not show its kind
            yield Row(line, record, person)
        yield from (Remark(message) for message in offsets.remarks(source.name))
        if rejected:
            yield Remark(
                ngettext(
                    "{n:,} task was rejected in Prodigy: its text was imported without labels.",
                    "{n:,} tasks were rejected in Prodigy: their texts were imported "
                    "without labels.",
                    rejected,
                )
            )


def _holds_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _preview_cells(value: Mapping[str, Any]) -> tuple[str, str, str]:
    labels = ", ".join(_preview_labels(value))
    return _cell(value.get("text")), labels, _cell(value.get("answer"))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else jsonl.dumps(value)


def _preview_labels(value: Mapping[str, Any]) -> list[str]:
    """The labels of a task as a preview lists them; `read` reports what is wrong with them."""
    spans, accepted = value.get("spans"), value.get("accept")
    span_labels = [
        _cell(span.get("label"))
        for span in (spans if isinstance(spans, list) else ())
        if isinstance(span, dict)
    ]
    chosen = [_cell(label) for label in (accepted if isinstance(accepted, list) else ())]
    return [label for label in (*span_labels, *(chosen or [_cell(value.get("label"))])) if label]


def _person(value: object) -> str:
    """The name of the session, "" if it has none. Raises Fault."""
    if not isinstance(value, dict):
        return ""
    name = person_name(value.get("_annotator_id") or value.get("_session_id"))
    if _UNNAMED.search(name):
        return ""
    return name.partition("-")[2].strip() or name


def _record(value: object, options: Options, offsets: Offsets) -> Record:
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, dict):
        raise Fault(_("expected an object with a text, found {value}", value=show(value)))
    if not isinstance(text := value.get("text"), str):
        raise Fault(
            _("'text' is {text}, expected a string", text=show(text))
            if "text" in value
            else _("the record has no 'text'")
        )
    answer = value.get("answer")
    if answer is not None and answer not in ANSWERS:
        raise Fault(
            _("the answer is {answer}, expected accept, reject or ignore", answer=show(answer))
        )
    counting = _counting(value, text, offsets)
    spans, marks = _spans(value, counting), _classes(value)
    states = {}
    layers = [options.span_layer] * (spans is not None) + [options.class_layer] * bool(marks)
    if answer == "ignore":
        states = dict.fromkeys(
            layers or [options.span_layer if "tokens" in value else options.class_layer],
            "discarded",
        )
    elif answer != "reject":
        states = dict.fromkeys(layers, "submitted")
    accepted = answer != "reject"
    return Record(
        _document(value, counting),
        states,
        {options.class_layer: marks} if marks and accepted else {},
        {options.span_layer: spans} if spans and accepted else {},
    )


def _counting(value: Mapping[str, Any], text: str, offsets: Offsets) -> Counting:
    """How the offsets of a task are counted. Raises Fault."""
    quotes = [
        Quote.of(item.get("start"), item.get("end"), item.get("text"))
        for name in ("tokens", "spans")
        for item in (value[name] if isinstance(value.get(name), list) else ())
        if isinstance(item, dict)
    ]
    return offsets.counting(text, quotes)


def _document(value: Mapping[str, Any], counting: Counting) -> Document:
    text = counting.text
    tokens = _tokens(value.get("tokens"), counting)
    meta = dict(value["meta"]) if isinstance(value.get("meta"), dict) else {}
    meta.update({key: other for key, other in value.items() if key not in _KNOWN})
    group = value.get("group")
    key = value.get("id")
    return Document(
        "" if key is None else str(key),
        ((TEXT, text),),
        split_name(value.get("split")),
        None if group in (None, "") else str(group),
        meta,
        {TEXT: tokens} if tokens else {},
    )


def _tokens(raw: object, counting: Counting) -> tuple[tuple[int, int], ...]:
    if not raw:
        return ()
    if not isinstance(raw, list):
        raise Fault(_("the tokens are {raw}, expected a list", raw=show(raw)))
    offsets = []
    for item in raw:
        if not isinstance(item, dict):
            raise Fault(_("a token is {one}, expected an object", one=show(item)))
        start = offset(
            item.get("start"), _("the start of a token is {value}, expected a whole number")
        )
        end = offset(item.get("end"), _("the end of a token is {value}, expected a whole number"))
        start, end = counting.span(start, end)
        if not 0 <= start <= end <= len(counting.text):
            raise Fault(
                _(
                    "the token {start}–{end} does not lie within the text of length {length}",
                    start=start,
                    end=end,
                    length=len(counting.text),
                )
            )
        offsets.append((start, end))
    return tuple(offsets)


def _spans(value: Mapping[str, Any], counting: Counting) -> tuple[Span, ...] | None:
    """None if the record has no spans field."""
    raw = value.get("spans")
    if raw is None or (not raw and "label" in value) or (not raw and "options" in value):
        return None if "answer" not in value or "tokens" not in value else ()
    if not isinstance(raw, list):
        raise Fault(_("the spans are {raw}, expected a list", raw=show(raw)))
    spans = []
    for item in raw:
        if not isinstance(item, dict):
            raise Fault(_("a span is {one}, expected an object", one=show(item)))
        if item.get("answer") != "reject":
            start, end = counting.span(*span_offsets(item.get("start"), item.get("end")))
            spans.append(Span(start, end, label_name(item.get("label"))))
    return unique_spans(spans)


def _classes(value: Mapping[str, Any]) -> tuple[str, ...]:
    accept = value.get("accept")
    if isinstance(accept, list):
        return tuple(dict.fromkeys(label_name(item) for item in accept))
    return (label_name(value["label"]),) if value.get("label") not in (None, "") else ()
