"""The native format: the layers in the first line, then one document per line.

Lossless: all annotations are restored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    offset,
    show,
    span_offsets,
    unique_spans,
)
from workbench.importers.fields.document_values import check_scale, number_of
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.text import remarks
from workbench.text.dataset import FORMAT_VERSION, Record, layer_from_json, record_from_json
from workbench.text.document import CHOICES
from workbench.text.labels import LAYER_KINDS, MAX_NAME_CHARS, NUMBERS, WRITTEN, Label, Layer
from workbench.text.relations import span_layer

_SPAN = [int, int, str]
_MAX_CACHED_USES = 1_000  # combinations of layers that are remembered
Uses = tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
PARTS = (
    "states", "marks", "spans", "relations", "questions", "numbers", "written", "meta", "tokens",
)  # fmt: skip
_MAX_TEXTS = 100  # maximum per document; a pair has two


class OwnImporter:
    def sniff(self, head: str, name: str) -> Guess:
        start = head.lstrip("\ufeff \t\r\n")[:200]
        return (
            Guess(1.0, _("the first line is that of Glossbench's own format"))
            if start.startswith('{"glossbench"')
            else Guess(0.0)
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = []
        for item in self.read(source, options):
            if isinstance(item, Row):
                document = item.record.document
                states = ", ".join(
                    f"{layer} {state}" for layer, state in item.record.states.items()
                )
                texts = " ‖ ".join(content for _, content in document.texts)
                cells = (document.key, texts, document.split or "", states)
                rows.append(TableRow(item.line, cells))
            if len(rows) == limit:
                break
        return Table(
            ("key", "text", "split", "states"),
            tuple(rows),
            (),
            _("keys, texts, labels and states are imported unchanged"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        values = jsonl.values(source)
        layers = _layers(next(values, (1, None))[1], source.name)
        yield from layers.values()
        fitting: set[Uses] = set()
        for line, value in values:
            try:
                yield Row(line, _record(value, layers, fitting))
            except Fault as fault:
                yield Skipped(line, str(fault))


def _layers(header: object, name: str) -> dict[str, Layer]:
    if isinstance(header, Fault):
        raise ImportFailed(
            _(
                "{name} is not in Glossbench's own format: in line 1, {header}.",
                name=name,
                header=header,
            ),
            hint=_("Choose another format, or use automatic detection."),
        )
    if not isinstance(header, dict) or "glossbench" not in header:
        raise ImportFailed(
            _(
                "{name} is not in Glossbench's own format: its first line contains no layers.",
                name=name,
            ),
            hint=_("Choose another format, or use automatic detection."),
        )
    version = header["glossbench"]
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ImportFailed(
            _(
                "{name} was written by a newer version (format {version}).",
                name=name,
                version=show(version),
            ),
            hint=_("Update Glossbench."),
        )
    try:
        layers = [_layer(raw) for raw in _listed(header.get("layers", []), _("the layers"))]
    except Fault as fault:
        raise ImportFailed(
            _("{name}, line 1: the layers cannot be read: {reason}.", name=name, reason=fault),
            hint=_("The file may have been edited by hand. Export it again."),
        ) from None
    if len({layer.name for layer in layers}) != len(layers):
        raise ImportFailed(_("{name}, line 1: two layers have the same name.", name=name))
    return {layer.name: layer for layer in layers}


def _layer(raw: object) -> Layer:
    """Raises Fault."""
    if not isinstance(raw, dict) or not _is_name(raw.get("name")):
        raise Fault(_("a layer has no name"))
    name, kind, texts = raw["name"], raw.get("kind"), raw.get("texts", 1)
    if not isinstance(kind, str) or kind not in LAYER_KINDS:
        message = _("the kind of layer {name!r} is {kind}, expected one of {kinds}")
        raise Fault(message.format(name=name, kind=show(kind), kinds=", ".join(LAYER_KINDS)))
    least = CHOICES if LAYER_KINDS[kind].in_choices else 1
    if isinstance(texts, bool) or not isinstance(texts, int) or not least <= texts <= _MAX_TEXTS:
        message = _("the number of texts of layer {name!r} is {value}")
        raise Fault(message.format(name=name, value=show(texts)))
    labels = _listed(raw.get("labels", []), _("the labels of layer {name!r}", name=name))
    if not all(isinstance(label, dict) and _is_name(label.get("name")) for label in labels):
        raise Fault(_("layer {name!r} has a label without a name", name=name))
    if len({label["name"] for label in labels}) != len(labels):
        raise Fault(_("layer {name!r} contains the same label twice", name=name))
    if not isinstance(raw.get("options") or {}, dict):
        raise Fault(_("the options of layer {name!r} are not an object", name=name))
    layer = layer_from_json(raw)
    return replace(layer, labels=tuple(_label(label) for label in layer.labels))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= MAX_NAME_CHARS


def _listed(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise Fault(_("{what} are {value}, expected a list", what=what, value=show(value)))
    return value


def _label(label: Label) -> Label:
    return label if len(label.key) <= 1 else replace(label, key="")


def _record(value: object, layers: Mapping[str, Layer], fitting: set[Uses]) -> Record:
    """`fitting`: which layers records use whose layers are known to fit. Raises Fault."""
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, dict):
        raise Fault(_("expected an object with key and texts, found {value}", value=show(value)))
    value.pop("id", None)  # of the project that it was exported from
    _check_shape(value)
    record = record_from_json(value)
    if _repeats(record):
        record = replace(
            record,
            spans={name: unique_spans(list(spans)) for name, spans in record.spans.items()},
            marks={name: tuple(dict.fromkeys(labels)) for name, labels in record.marks.items()},
            relations={name: tuple(dict.fromkeys(some)) for name, some in record.relations.items()},
        )
    check(record)
    uses = _uses(record)
    if uses is None or uses not in fitting:
        _fits(record, layers)
        if uses is not None and len(fitting) < _MAX_CACHED_USES:
            fitting.add(uses)
    return record


def _uses(record: Record) -> Uses | None:
    """The form of a document and the layers of its labels, if these decide whether it fits."""
    if record.relations or record.questions or record.numbers or record.written:
        return None
    for labels in record.marks.values():
        if len(labels) > 1:
            return None
    return record.document.form, tuple(record.states), tuple(record.marks), tuple(record.spans)


def _repeats(record: Record) -> bool:
    """Whether the record may give a label twice. Few do, and removing them means a copy."""
    for spans in record.spans.values():
        if len(spans) > 1 and len({(span.start, span.end) for span in spans}) < len(spans):
            return True
    for part in (record.marks, record.relations):
        for some in part.values():
            if len(some) > 1 and len(set(some)) < len(some):
                return True
    return False


def _check_remarks(value: object) -> None:
    try:
        remarks.from_json(_listed(value, _("the notes and flags")))
    except (TypeError, ValueError):
        message = _("the notes and flags are {value}, expected a list of [kind, text]")
        raise Fault(message.format(value=show(value))) from None


def _check_shape(value: Mapping[str, Any]) -> None:
    """Raises Fault if `record_from_json` would fail, or would accept a fraction as an offset."""
    if not isinstance(value.get("texts"), dict):
        raise Fault(_("the document has no texts"))
    if not isinstance(value.get("key"), str):
        raise Fault(_("the key is {value}, expected a string", value=show(value.get("key"))))
    for name, part in value.items():
        check_part = _PART_CHECKS.get(name)
        if check_part is None:
            continue
        if type(part) is not dict and name in PARTS:
            message = _("{name!r} is {value}, expected an object")
            raise Fault(message.format(name=name, value=show(part)))
        check_part(name, part)


def _accept(_name: str, _part: object) -> None:
    """A part whose values `check` and `_fits` examine."""


def _check_string(name: str, value: object) -> None:
    if not isinstance(value, str):
        message = _("{name!r} is {value}, expected a string")
        raise Fault(message.format(name=name, value=show(value)))


def _check_texts(_name: str, texts: Mapping[str, Any]) -> None:
    for name, content in texts.items():
        if type(content) is not str:
            message = _("the text {name!r} is {value}, expected a string")
            raise Fault(message.format(name=name, value=show(content)))


def _check_tokens(_name: str, tokens: Mapping[str, Any]) -> None:
    for name, pairs in tokens.items():
        for pair in _listed(pairs, _("the tokens of the text {name!r}", name=name)):
            if not isinstance(pair, list) or len(pair) != 2:
                raise Fault(_("a token is {value}, expected [start, end]", value=show(pair)))
            message = _("an offset of a token is {value}, expected a whole number")
            offset(pair[0], message)
            offset(pair[1], message)


def _check_marks(_name: str, marks: Mapping[str, Any]) -> None:
    for name, labels in marks.items():
        if type(labels) is not list:
            _listed(labels, _("the classes of layer {name!r}", name=name))
        for label in labels:
            if type(label) is not str:
                raise Fault(_("a label is {value}, expected a string", value=show(label)))


def _check_numbers(_name: str, numbers: Mapping[str, Any]) -> None:
    for number in numbers.values():
        number_of(number)


def _check_written(_name: str, written: Mapping[str, Any]) -> None:
    for content in written.values():
        if not isinstance(content, str):
            message = _("the value of a text layer is {value}, expected a string")
            raise Fault(message.format(value=show(content)))


def _check_spans(_name: str, layers: Mapping[str, Any]) -> None:
    for name, spans in layers.items():
        if type(spans) is not list:
            _listed(spans, _("the spans of layer {name!r}", name=name))
        for span in spans:
            if type(span) is not list or list(map(type, span)) != _SPAN:
                _check_span(span)


def _check_relations(_name: str, layers: Mapping[str, Any]) -> None:
    for name, relations in layers.items():
        for item in _listed(relations, _("the relations of layer {name!r}", name=name)):
            if not isinstance(item, list) or len(item) != 3 or not isinstance(item[0], str):
                raise Fault(
                    _("a relation is {value}, expected [label, from, to]", value=show(item))
                )
            _check_span(item[1])
            _check_span(item[2])


def _check_questions(_name: str, layers: Mapping[str, Any]) -> None:
    for name, questions in layers.items():
        for raw in _listed(questions, _("the questions of layer {name!r}", name=name)):
            _check_question(raw)


def _check_question(raw: object) -> None:
    if not isinstance(raw, dict) or not isinstance(raw.get("question"), str):
        raise Fault(_("a question is {value}, expected its text", value=show(raw)))
    for offsets in _listed(raw.get("answers", []), _("the answers to a question")):
        if not isinstance(offsets, list) or len(offsets) != 2:
            raise Fault(_("an answer is {value}, expected [start, end]", value=show(offsets)))
        span_offsets(*offsets)
    if not isinstance(raw.get("attrs") or {}, dict):
        raise Fault(
            _(
                "the attributes of a question are {value}, expected an object",
                value=show(raw["attrs"]),
            )
        )


def _check_span(span: object) -> None:
    if not isinstance(span, list) or not 3 <= len(span) <= 5:
        raise Fault(_("a span is {value}, expected [start, end, label]", value=show(span)))
    span_offsets(span[0], span[1])
    words = span[2:]
    if len(words) > 1 and isinstance(words[-1], dict):
        _check_more(words.pop())
    for word in words:
        if not isinstance(word, str):
            raise Fault(
                _("a span has {value} for its label or text, expected a string", value=show(word))
            )


_PART_CHECKS: Mapping[str, Callable[[str, Any], None]] = {
    "remarks": lambda _name, value: _check_remarks(value),
    "texts": _check_texts,
    "split": _check_string,
    "group": _check_string,
    "states": _accept,
    "meta": _accept,
    "tokens": _check_tokens,
    "marks": _check_marks,
    "numbers": _check_numbers,
    "written": _check_written,
    "spans": _check_spans,
    "relations": _check_relations,
    "questions": _check_questions,
}


def _check_more(more: Mapping[str, Any]) -> None:
    """Check the parts of a discontinuous span and the number of a chain."""
    if "chain" in more:
        offset(more["chain"], _("the chain of a span is {value}, expected a whole number"))
    for part in _listed(more.get("parts", []), _("the parts of a span")):
        if not isinstance(part, list) or len(part) != 2:
            raise Fault(_("a part of a span is {value}, expected [start, end]", value=show(part)))
        span_offsets(*part)


def _fits(record: Record, layers: Mapping[str, Layer]) -> None:
    _are_declared(record, layers)
    for name in record.spans:
        if not layers[name].traits.in_text:
            raise Fault(
                _(
                    "there are spans for the layer {name!r}, which is of kind {kind}",
                    name=name,
                    kind=layers[name].kind,
                )
            )
    _connect_spans(record, layers)
    for name in record.questions:
        if not layers[name].traits.asks:
            raise Fault(
                _(
                    "there are questions for the layer {name!r}, which is of kind {kind}",
                    name=name,
                    kind=layers[name].kind,
                )
            )
    for part, values in ((NUMBERS, record.numbers), (WRITTEN, record.written)):
        for name in values:
            if layers[name].traits.record != part:
                message = _("the value for the layer {name!r} does not fit its kind {kind}")
                raise Fault(message.format(name=name, kind=layers[name].kind))
    for name, number in record.numbers.items():
        check_scale(number, name, layers[name])
    _classes_fit(record, layers)


def _are_declared(record: Record, layers: Mapping[str, Layer]) -> None:
    """Raises Fault for a layer that the file does not declare, or not for such documents."""
    form = record.document.form
    names = {*record.states, *record.marks, *record.spans, *record.relations, *record.questions}
    names |= {*record.numbers, *record.written}
    for name in names:
        if name not in layers:
            raise Fault(
                _("the layer {name!r} is not declared in the first line of the file", name=name)
            )
        if layers[name].texts != form:
            raise Fault(
                ngettext(
                    "the layer {name!r} is for documents with {texts} text, this one has {count}",
                    "the layer {name!r} is for documents with {texts} texts, this one has {count}",
                    layers[name].texts,
                    name=name,
                    texts=layers[name].texts,
                    count=form,
                )
            )


def _connect_spans(record: Record, layers: Mapping[str, Layer]) -> None:
    for name, relations in record.relations.items():
        of = span_layer(layers[name])
        places = {span.place for span in record.spans.get(of, ())}
        if not layers[name].traits.between_spans or any(
            not {relation.from_span.place, relation.to_span.place} <= places
            for relation in relations
        ):
            raise Fault(
                _(
                    "the relations of the layer {name!r} do not connect spans of {of!r}",
                    name=name,
                    of=of,
                )
            )


def _classes_fit(record: Record, layers: Mapping[str, Layer]) -> None:
    for name, labels in record.marks.items():
        if not layers[name].traits.on_document or (
            len(labels) > 1 and not layers[name].traits.several
        ):
            raise Fault(
                _(
                    "the classes {labels} do not fit the layer {name!r} of kind {kind}",
                    labels=json.dumps(labels, ensure_ascii=False),
                    name=name,
                    kind=layers[name].kind,
                )
            )
