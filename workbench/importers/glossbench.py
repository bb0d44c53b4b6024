"""The own format: first line the layers, then a document a line. Complete: whatever people said of the documents comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import jsonl
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    check,
    show,
    unique_spans,
)
from workbench.importers.source import Source
from workbench.text.dataset import FORMAT_VERSION, Record, layer_from_json, record_from_json
from workbench.text.labels import KINDS, Label, Layer

_SPANLIKE = ("span", "tag")


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
                rows.append(
                    (
                        document.key,
                        " ‖ ".join(content for _, content in document.texts),
                        document.split or "",
                        states,
                    )
                )
            if len(rows) == limit:
                break
        return Table(
            ("key", "text", "split", "states"),
            tuple(rows),
            (),
            _("keys, texts, labels and states are taken as they are"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        values = jsonl.values(source)
        layers = _layers(next(values, (1, None))[1], source.name)
        yield from layers.values()
        for line, value in values:
            try:
                yield Row(line, _record(value, layers))
            except Fault as fault:
                yield Skipped(line, str(fault))


def _layers(header: object, name: str) -> dict[str, Layer]:
    if isinstance(header, Fault):
        raise ImportFailed(
            _("{name} is not in Glossbench's own format: in line 1, {header}.").format(
                name=name, header=header
            ),
            hint=_("Choose another format, or let it be guessed."),
        )
    if not isinstance(header, dict) or "glossbench" not in header:
        raise ImportFailed(
            _("{name} is not in Glossbench's own format: its first line holds no layers.").format(
                name=name
            ),
            hint=_("Choose another format, or let it be guessed."),
        )
    version = header["glossbench"]
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ImportFailed(
            _("{name} was written by a newer version (format {version}).").format(
                name=name, version=show(version)
            ),
            hint=_("Update Glossbench."),
        )
    try:
        layers = [_layer(one) for one in header.get("layers", ())]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ImportFailed(
            _("{name}, line 1: the layers cannot be read ({error}).").format(name=name, error=error)
        ) from error
    if len({one.name for one in layers}) != len(layers):
        raise ImportFailed(_("{name}, line 1: two layers have one name.").format(name=name))
    return {one.name: one for one in layers}


def _layer(raw: Mapping) -> Layer:
    layer = layer_from_json(raw)
    if not layer.name.strip():
        raise ValueError(_("a layer has no name"))
    if layer.kind not in KINDS:
        told = _("the kind of layer {name!r} is {kind!r}, expected one of {kinds}")
        raise ValueError(told.format(name=layer.name, kind=layer.kind, kinds=", ".join(KINDS)))
    if len(set(layer.names)) != len(layer.names) or not all(name.strip() for name in layer.names):
        raise ValueError(
            _("layer {name!r} has a label twice or one without a name").format(name=layer.name)
        )
    return replace(layer, labels=tuple(_label(one) for one in layer.labels))


def _label(label: Label) -> Label:
    return label if len(label.key) <= 1 else replace(label, key="")


def _record(value: object, layers: Mapping[str, Layer]) -> Record:
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, dict):
        raise Fault(
            _("expected an object with key and texts, found {value}").format(value=show(value))
        )
    _shape(value)
    try:
        record = record_from_json(value)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Fault(
            _("this is not a document of the own format ({error!r})").format(error=error)
        ) from None
    record = replace(
        record,
        document=replace(record.document, id=None),
        spans={name: unique_spans(list(spans)) for name, spans in record.spans.items()},
        marks={name: tuple(dict.fromkeys(labels)) for name, labels in record.marks.items()},
    )
    check(record)
    _fits(record, layers)
    return record


def _shape(value: Mapping) -> None:
    if not isinstance(value.get("texts"), dict):
        raise Fault(_("the document has no texts"))
    if not isinstance(value.get("key"), str):
        raise Fault(_("the key is {value}, expected a string").format(value=show(value.get("key"))))
    for name, kind in (
        ("states", dict),
        ("marks", dict),
        ("spans", dict),
        ("meta", dict),
        ("tokens", dict),
        ("split", str),
        ("group", str),
    ):
        if name in value and not isinstance(value[name], kind):
            raise Fault(_("{name!r} is {value}").format(name=name, value=show(value[name])))


def _fits(record: Record, layers: Mapping[str, Layer]) -> None:
    for name in {*record.states, *record.marks, *record.spans}:
        if name not in layers:
            raise Fault(
                _("the layer {name!r} does not stand in the first line of the file").format(
                    name=name
                )
            )
        if layers[name].texts != len(record.document.texts):
            raise Fault(
                _(
                    "the layer {name!r} is for documents with {texts} texts, this one has {count}"
                ).format(name=name, texts=layers[name].texts, count=len(record.document.texts))
            )
    for name in record.spans:
        if layers[name].kind not in _SPANLIKE:
            raise Fault(
                _("there are spans for the layer {name!r}, which is of kind {kind}").format(
                    name=name, kind=layers[name].kind
                )
            )
    for name, labels in record.marks.items():
        if layers[name].kind in _SPANLIKE or (len(labels) > 1 and layers[name].kind == "class"):
            raise Fault(
                _("the classes {labels} do not fit the layer {name!r} of kind {kind}").format(
                    labels=json.dumps(labels, ensure_ascii=False), name=name, kind=layers[name].kind
                )
            )
