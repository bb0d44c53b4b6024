"""Whether the records of a plugin's importer are what the contract says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.base.registry import contract_hint
from workbench.importers.base import Fault, Item, Row, Skipped, check, is_number
from workbench.text.dataset import Record
from workbench.text.labels import LAYER_KINDS, MAX_NAME_CHARS, Layer
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span

# part of a record → what it holds for each layer: (class, None) for a tuple of it
PARTS: Mapping[str, type] = {
    "marks": str,
    "spans": Span,
    "relations": Relation,
    "questions": Question,
}
PART_OF = {"answers": "questions"}  # LayerKind.record → the field of a Record


def checked(format: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items. Records that cannot be stored are skipped, as those of other importers are.

    Raises ImportFailed for a record whose parts have the wrong type, and for a layer whose labels
    are in another part than its kind requires.
    """
    kinds: dict[str, str] = {}
    for item in items:
        if isinstance(item, Layer):
            if fault := _fault_of_layer(item):
                raise _broken(format, fault)
            kinds[item.name] = item.kind
        if not isinstance(item, Row):
            yield item
            continue
        for fault in _faults(item.record, kinds):
            raise _broken(format, fault, item.line)
        try:
            check(item.record)
        except Fault as error:
            yield Skipped(item.line, str(error))
        else:
            yield item


def _broken(format: str, fault: str, line: int = 0) -> ImportFailed:
    message = _("The importer {format} does not follow its contract: {fault}.")
    if line:
        message = _("The importer {format} does not follow its contract in line {line}: {fault}.")
    return ImportFailed(
        message.format(format=format, line=line, fault=fault), hint=contract_hint(format)
    )


def _fault_of_layer(layer: Layer) -> str:
    """What is wrong with a layer, "" if nothing is."""
    if layer.kind not in LAYER_KINDS:
        return _(
            "the layer {layer!r} has the kind {kind!r}, expected one of {known}",
            layer=layer.name,
            kind=layer.kind,
            known=", ".join(LAYER_KINDS),
        )
    names: list[object] = [layer.name, *(getattr(each, "name", each) for each in layer.labels)]
    for name in names:
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_CHARS:
            return _(
                "the layer {layer!r} has the name or label {name!r}, expected 1 to {most} "
                "characters",
                layer=layer.name,
                name=name,
                most=MAX_NAME_CHARS,
            )
    return ""


def _faults(record: Record, kinds: Mapping[str, str]) -> Iterator[str]:
    document = record.document
    if not isinstance(document.texts, tuple) or not all(map(_is_text, document.texts)):
        yield _("`texts` of the document is not a tuple of pairs (name, text)")
    for name, value in (("tokens", document.tokens), ("meta", document.meta)):
        if not isinstance(value, Mapping):
            yield _(
                "`{name}` of the document is {kind}, expected a dict",
                name=name,
                kind=type(value).__name__,
            )
    for name in ("states", *PARTS, "numbers", "written"):
        if not isinstance(getattr(record, name), Mapping):
            yield _(
                "`{name}` of the record is {kind}, expected a dict by layer",
                name=name,
                kind=type(getattr(record, name)).__name__,
            )
    named = (record.states, *(getattr(record, name) for name in (*PARTS, "numbers", "written")))
    if any(not layer.strip() for part in named for layer in part):
        yield _("the record has labels in a layer without a name")
    for layer, number in record.numbers.items():
        if not is_number(number):
            yield _(
                "`numbers` of the layer {layer!r} is {kind}, expected a number",
                layer=layer,
                kind=type(number).__name__,
            )
    for name, kind in PARTS.items():
        for layer, values in getattr(record, name).items():
            if isinstance(values, str) or not all(isinstance(value, kind) for value in values):
                yield _(
                    "`{name}` of the layer {layer!r} is not a tuple of {kind}",
                    name=name,
                    layer=layer,
                    kind=kind.__name__,
                )
            yield from _elsewhere(layer, name, kinds)


def _is_text(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, str) for x in value)


def _elsewhere(layer: str, name: str, kinds: Mapping[str, str]) -> Iterator[str]:
    """Labels in another part of the record than the kind of the layer requires."""
    if layer not in kinds:
        return
    part = LAYER_KINDS[kinds[layer]].record
    expected = PART_OF.get(part, part)
    if expected != name:
        yield _(
            "the layer {layer!r} of the kind {kind!r} is in `{name}`, expected `{part}`",
            layer=layer,
            kind=kinds[layer],
            name=name,
            part=expected,
        )
