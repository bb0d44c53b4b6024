"""brat's standoff annotations: NAME.txt and NAME.ann for each document, and annotation.conf.

Offsets are code points. A span over a line break is written in parts without it, as brat does: its
lines cannot hold one, and it compares the quoted text exactly. Relations are `R` lines, chains are
equivalences, notes of spans are annotator notes, and flags of spans are attributes.
Source: brat.nlplab.org/standoff.html, and `annotation.py` of brat's server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    ExportPlan,
    File,
    in_second_texts,
    only_spans,
)
from workbench.text import relations as rules
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import Layer
from workbench.text.remarks import FLAG, DocumentRemark
from workbench.text.spans import Place, Span

TEXTS, ANNOTATIONS, CONFIGURATION = ".txt", ".ann", "annotation.conf"
_SPACE = re.compile(r"\s")
LINE_BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"  # where brat ends a line
_IN_LINES = re.compile(f"[^{LINE_BREAKS}]+")
_NOT_IN_NAMES = re.compile(r"[^\w-]+")  # of types, in annotation.conf and .ann
Ids = dict[tuple[str, Place], str]  # layer and place of a span → its id


class BratExporter:
    def __init__(self) -> None:
        self._flags: dict[str, None] = {}  # of spans, which are attributes

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [_(COMMON), _(LOOKS), _("Tokens are not written.")]
        losses += only_spans(layers, notes=True)
        if len(several := [layer.name for layer in layers if layer.traits.in_text]) > 1:
            message = _("Spans of all layers are written together; their layer is lost: {names}.")
            losses.append(message.format(names=", ".join(several)))
        if names := ", ".join(layer.name for layer in layers if layer.traits.in_chains):
            message = _("Chains of a single span are written as a span without a chain: {names}.")
            losses.append(message.format(names=names))
        types = _types(layers).items()
        if changed := ", ".join(f"{name} → {type}" for name, type in types if name != type):
            message = _("Labels are named as brat names types: {names}.")
            losses.append(message.format(names=changed))
        return tuple(losses)

    def shared(self, plan: ExportPlan) -> Iterator[File]:
        attributes = (f"{name}\tArg:<ENTITY>" for name in self._flags)
        yield CONFIGURATION, "\n".join((*_configuration(plan.layers), *attributes, ""))

    def files(self, record: Record, name: str, plan: ExportPlan) -> Sequence[File]:
        lines = "".join(f"{line}\n" for line in _lines(record, plan))
        flags = (item for item in record.remarks if item.kind == FLAG and item.place is not None)
        self._flags.update(dict.fromkeys(_type(flag.text) for flag in flags))
        return (name + TEXTS, record.document.text), (name + ANNOTATIONS, lines)


def _written(layers: Iterable[Layer]) -> list[Layer]:
    """The layers whose labels are types of brat."""
    return [layer for layer in layers if layer.traits.in_text or layer.traits.between_spans]


def _type(label: str) -> str:
    """A label as the name of a type; a line of hyphens only is a separator in annotation.conf."""
    name = _NOT_IN_NAMES.sub("_", label)
    return name if name.strip("-") else "_"


def _types(layers: Iterable[Layer]) -> dict[str, str]:
    """Label → its type; two labels have different ones."""
    types: dict[str, str] = {}
    for label in dict.fromkeys(name for layer in _written(layers) for name in layer.names):
        name, again = _type(label), 2
        while name in types.values():
            name, again = f"{_type(label)}_{again}", again + 1
        types[label] = name
    return types


def _lines(record: Record, plan: ExportPlan) -> Iterator[str]:
    ids: Ids = {}
    types = _types(plan.layers)
    numbers = count(1)
    chains: dict[tuple[str, int], list[str]] = {}
    for layer in plan.layers:
        for span in record.spans.get(layer.name, ()):
            if span.field != TEXT:
                plan.count(in_second_texts)
                continue
            if not (parts := _parts(span, record.document.text)):
                plan.count(_empty)
                continue
            id = f"T{next(numbers)}"  # mentions of two chains at one place have two
            ids.setdefault((layer.name, span.place), id)
            if span.chain is not None:
                chains.setdefault((layer.name, span.chain), []).append(id)
            offsets = ";".join(f"{start} {end}" for start, end in parts)
            quoted = " ".join(record.document.text[start:end] for start, end in parts)
            yield f"{id}\t{types.get(span.label) or _type(span.label)} {offsets}\t{quoted}"
    for members in chains.values():
        if len(members) > 1:
            yield f"*\tEquiv {' '.join(members)}"
    yield from _relations(record, plan, ids, types)
    yield from _remarks(record.remarks, ids)


def _parts(span: Span, text: str) -> list[tuple[int, int]]:
    """The ranges of a span without line breaks."""
    by_line = (_IN_LINES.finditer(text, start, end) for start, end in span.ranges)
    return [match.span() for by_line in by_line for match in by_line]


def _relations(
    record: Record, plan: ExportPlan, ids: Ids, types: Mapping[str, str]
) -> Iterator[str]:
    number = 0
    for layer in plan.layers:
        for relation in record.relations.get(layer.name, ()):
            ends = relation.from_span.place, relation.to_span.place
            of = next(
                (name for name in record.spans if all((name, end) in ids for end in ends)), ""
            )
            if not of:
                plan.count(_without_ends)
                continue
            number += 1
            first, second = ids[of, ends[0]], ids[of, ends[1]]
            type = types.get(relation.label) or _type(relation.label)
            yield f"R{number}\t{type} Arg1:{first} Arg2:{second}"


def _remarks(remarks: Iterable[DocumentRemark], ids: Ids) -> Iterator[str]:
    flags = notes = 0
    for remark in remarks:
        id = ids.get((remark.layer, remark.place)) if remark.place is not None else None
        if id is None:
            continue
        if remark.kind == FLAG:
            flags += 1
            yield f"A{flags}\t{_type(remark.text)} {id}"
        else:
            notes += 1
            yield f"#{notes}\tAnnotatorNotes {id}\t{_SPACE.sub(' ', remark.text)}"


# ---------------------------------------------------------------- annotation.conf


def _configuration(layers: Sequence[Layer]) -> Iterator[str]:
    """The types that brat offers, from the labels and rules of the layers."""
    spans = [layer for layer in layers if layer.traits.in_text]
    yield "[entities]"
    types = _types(layers)
    yield from dict.fromkeys(types[name] for layer in spans for name in layer.names)
    yield from ("", "[relations]")
    if any(layer.traits.in_chains for layer in layers):
        yield "Equiv\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric-transitive"
    yield "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"
    for layer in layers:
        if layer.traits.between_spans:
            yield from _rules(layer, types)
    yield from ("", "[events]", "", "[attributes]")


def _rules(layer: Layer, types: Mapping[str, str]) -> Iterator[str]:
    """A line for each pair of labels that a relation may connect, or one for all."""
    for name in layer.names:
        kind = "" if rules.directed(layer, name) else ", <REL-TYPE>:symmetric"
        for pair in rules.pairs(layer, name) or ((rules.ANY, rules.ANY),):
            first, second = (
                types.get(label) or _type(label) if label != rules.ANY else "<ENTITY>"
                for label in pair
            )
            yield f"{types[name]}\tArg1:{first}, Arg2:{second}{kind}"


def _empty(n: int) -> str:
    return ngettext(
        "{n} span without characters was omitted.",
        "{n} spans without characters were omitted.",
        n,
    )


def _without_ends(n: int) -> str:
    return ngettext(
        "{n} relation of omitted spans was omitted.",
        "{n} relations of omitted spans were omitted.",
        n,
    )
