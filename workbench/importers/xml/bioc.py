"""BioC in XML and JSON: documents of passages with annotations and relations.

A passage has its text, or sentences with theirs, and an offset in the document, counted in code
points or in bytes of UTF-8. Passages are joined by line breaks, sentences by spaces, and
annotations are placed within the passage or sentence that their offset lies in; the words they
quote show how offsets are counted. The type of an annotation is its label.
Sources: Comeau et al. 2013, BioC.dtd; bioc.sourceforge.net; the JSON of PubTator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import foreign_xml
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    label_name,
    show,
    unique_spans,
)
from workbench.importers.json import jsonl
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.source import Source
from workbench.importers.xml import xml_nodes
from workbench.importers.xml.xml_nodes import Node
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.relations import Relation
from workbench.text.spans import Span, joined

_CONCEPTS = ("identifier", "Identifier", "MESH", "database_id")
_LEFT = {
    "places": N_("annotations without a place"),
    "many": N_("relations of more than two annotations"),
    "missing": N_("relations of what is not annotated"),
}
Fields = Mapping[str, Any]


class BiocImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            of_annotations = all(f'"{key}"' in head for key in ("annotations", "offset"))
            is_bioc = '"passages"' in head and ('"infons"' in head or of_annotations)
        else:
            is_bioc = foreign_xml.is_bioc(head)
        return Guess(0.99 if is_bioc else 0.0, _("passages with annotations, as of BioC"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = list[TableRow]()
        for line, fields in _documents(source):
            try:
                record = _Reading(fields, options).record(False)
            except Fault:
                continue
            text, key = record.document.text, record.document.key
            spans = [span for layer_spans in record.spans.values() for span in layer_spans]
            rows += [
                TableRow(line, (key, text[span.start : span.end], span.label, f"{span.start}"))
                for span in spans[:limit]
            ] or [TableRow(line, (key, text, "", ""))]
            if len(rows) >= limit:
                break
        columns = _("document"), _("text"), _("label"), _("start")
        return Table(columns, tuple(rows[:limit]), (), _("passages with annotations, as of BioC"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: annotations of BioC have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        left, offsets = Counter[str](), Offsets()
        labelled = _has_annotations(source)
        for line, fields in _documents(source):
            try:
                reading = _Reading(fields, options)
                record = reading.record(labelled)
                check(record)
                offsets.add(reading.offsets)
                left.update(reading.left)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))
        yield from (Remark(message) for message in offsets.remarks(source.name))
        if left := +left:
            kinds = ", ".join(f"{_(_LEFT[kind])} ({n:,})" for kind, n in sorted(left.items()))
            message = _("{name}: not imported: {kinds}.")
            yield Remark(message.format(name=source.name, kinds=kinds))


def _has_annotations(source: Source) -> bool:
    if not jsonl.opens(source.head()):
        return any("<annotation" in line for line in source.lines())
    return any(
        not isinstance(fields, Fault) and any(True for _item in _all(fields, "annotations"))
        for _line, fields in _documents(source)
    )


# ---------------------------------------------------------------- the documents of a file


def _documents(source: Source) -> Iterator[tuple[int, Fields | Fault]]:
    """(line, document) in the form of JSON."""
    if not jsonl.opens(source.head()):
        for node in xml_nodes.records(source, ("document",)):
            yield node.line, _of_xml(node)
        return
    for line, value in jsonl.values(source):
        if isinstance(value, dict):
            for name in ("documents", "PubTator3"):
                if isinstance(value.get(name), list):
                    yield from ((line, document) for document in value[name])
                    break
            else:
                yield line, value
        elif isinstance(value, Fault):
            yield line, value
        else:
            yield line, Fault(_("expected a document, found {value}", value=show(value)))


def _of_xml(node: Node) -> dict[str, Any]:
    """An element with passages, sentences, annotations or relations as JSON has it."""
    fields: dict[str, Any] = {"id": node.text_of("id") or node.attrs.get("id", "")}
    fields["infons"] = {item.attrs.get("key", ""): item.text for item in node.all("infon")}
    if (offset := node.first("offset")) is not None:
        fields["offset"] = offset.text.strip()
    if (text := node.first("text")) is not None:
        fields["text"] = text.text
    for name in ("passage", "sentence", "annotation", "relation"):
        fields[f"{name}s"] = [_of_xml(child) for child in node.all(name)]
    fields["locations"] = [child.attrs for child in node.all("location")]
    fields["nodes"] = [child.attrs for child in node.all("node")]
    return fields


def _listed(fields: Any, name: str) -> list[Any]:
    """A list of objects of a document. Raises Fault if it is something else."""
    if not isinstance(fields, Mapping):
        raise Fault(_("expected an object, found {value}", value=show(fields)))
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        message = _("{name!r} is {value}, expected a list of objects")
        raise Fault(message.format(name=name, value=show(value)))
    return value


def _all(fields: Any, name: str) -> Iterator[Any]:
    """The annotations or relations of a document, its passages and sentences; none of a faulty
    document.
    """
    try:
        yield from _listed(fields, name)
        for passage in _listed(fields, "passages"):
            yield from _listed(passage, name)
            for sentence in _listed(passage, "sentences"):
                yield from _listed(sentence, name)
    except Fault:
        return


# ---------------------------------------------------------------- one document


@dataclass(frozen=True)
class _Unit:
    """A passage or sentence with text. offset: in the document of BioC. start: in ours."""

    offset: int
    start: int
    text: str


@dataclass
class _Reading:
    """left: kind of what is not imported → number."""

    fields: Fields | Fault
    options: Options
    offsets: Offsets = field(default_factory=Offsets)
    left: Counter[str] = field(default_factory=Counter)
    _units: list[_Unit] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _spans: dict[str, Span] = field(default_factory=dict)  # id of an annotation → span
    _concepts: dict[str, Span] = field(default_factory=dict)  # concept → its first mention

    def record(self, labelled: bool) -> Record:
        """labelled: a document without annotations has none, instead of not being labelled."""
        if isinstance(self.fields, Fault):
            raise self.fields
        annotations = [(item, None) for item in _listed(self.fields, "annotations")]
        in_units: list[tuple[Any, _Unit | None]] = [*annotations]
        for passage in _listed(self.fields, "passages"):
            unit = self._add(passage, "\n" if self._pieces else "")
            in_units += [(item, unit) for item in _listed(passage, "annotations")]
            between = "\n" if self._pieces else ""
            for sentence in _listed(passage, "sentences") if unit is None else ():
                part = self._add(sentence, between)
                between = " "
                in_units += [(item, part) for item in _listed(sentence, "annotations")]
            if unit is not None:
                for sentence in _listed(passage, "sentences"):
                    in_units += [(item, unit) for item in _listed(sentence, "annotations")]
        spans = self._placed(in_units)
        relations = tuple(
            dict.fromkeys(
                relation
                for item in _all(self.fields, "relations")
                if (relation := self._relation(item))
            )
        )
        layers = {self.options.span_layer: unique_spans(spans)} if labelled or spans else {}
        between_spans = {self.options.relation_layer: relations} if relations else {}
        states = dict.fromkeys((*layers, *between_spans), "submitted")
        document = Document(self._key(), ((TEXT, "".join(self._pieces)),), meta=self._meta())
        return Record(document, states, {}, layers, relations=between_spans)

    def _key(self) -> str:
        fields = self.fields if isinstance(self.fields, Mapping) else {}
        value = fields.get("id", fields.get("_id", ""))
        return str(value).strip() if isinstance(value, str | int) else ""

    def _meta(self) -> dict[str, object]:
        return {str(name): value for name, value in _infons(self.fields).items() if value}

    def _add(self, part: Any, between: str) -> _Unit | None:
        """Add the text of a passage or sentence; None if it has none of its own."""
        text = part.get("text")
        if text is None or text == "":
            return None
        if not isinstance(text, str):
            raise Fault(_("a text is {value}, expected a string", value=show(text)))
        unit = _Unit(_whole(part.get("offset", 0), "offset"), self._length + len(between), text)
        self._pieces += [between, text]
        self._length = unit.start + len(text)
        self._units.append(unit)
        return unit

    def _placed(self, annotations: list[tuple[Any, _Unit | None]]) -> list[Span]:
        """The spans of annotations, each in its passage or sentence, or in that of its offset."""
        of_unit: dict[int, list[Any]] = {}
        for item, unit in annotations:
            places = _places(item)
            if not places or not self._units:
                self.left["places"] += 1
                continue
            first = places[0][0]
            unit = unit or next(
                (one for one in reversed(self._units) if one.offset <= first), self._units[0]
            )
            of_unit.setdefault(self._units.index(unit), []).append(item)
        return [
            span
            for number in sorted(of_unit)
            for span in self._in_unit(self._units[number], of_unit[number])
        ]

    def _in_unit(self, unit: _Unit, items: list[Any]) -> Iterator[Span]:
        """Raises Fault for an annotation that does not cover the text that it quotes."""
        base, counting = self._counting(unit, items)
        for item in items:
            id, covered = str(item.get("id", "")), item.get("text")
            places = [counting.span(at - base, at - base + size) for at, size in _places(item)]
            inside = all(0 <= start <= end <= len(unit.text) for start, end in places)
            if not inside or (len(places) > 1 and not _same(unit.text, places, covered)):
                raise Fault(
                    _("the place of the annotation {id} is not in its passage", id=show(id))
                )
            parts = joined((unit.start + start, unit.start + end) for start, end in places)
            more = parts if len(parts) > 1 else ()
            span = Span(parts[0][0], parts[-1][1], _label(item, id), parts=more)
            self._spans.setdefault(id, span)
            for concept in _concepts(item):
                self._concepts.setdefault(concept, span)
            yield span

    def _counting(self, unit: _Unit, items: list[Any]) -> tuple[int, Counting]:
        """What offsets count from, and how; those of some files count from their sentence."""
        faults = []
        for base in dict.fromkeys((unit.offset, 0)):
            try:
                quotes = [_quote(item, base) for item in items]
                return base, self.offsets.counting(unit.text, quotes, fixed=True, mark=False)
            except Fault as fault:
                faults.append(fault)
        for item in items:
            try:
                Offsets().counting(unit.text, [_quote(item, unit.offset)], fixed=True)
            except Fault as fault:
                message = _("annotation {id}: {reason}")
                id = show(str(item.get("id", "")))
                raise Fault(message.format(id=id, reason=fault)) from None
        raise faults[0]

    def _relation(self, item: Any) -> Relation | None:
        nodes = [str(node.get("refid", "")) for node in _listed(item, "nodes")]
        nodes = [id for id in nodes if id]
        infons = _infons(item)
        ends: list[Span | None] = [self._spans.get(id) for id in nodes]
        if not nodes and "entity1" in infons:  # as BioRED names concepts
            ends = [self._concepts.get(str(infons.get(f"entity{n}"))) for n in (1, 2)]
        if len(ends) > 2:
            self.left["many"] += 1
            return None
        first, second = ends if len(ends) == 2 else (None, None)
        if first is None or second is None:
            self.left["missing"] += 1
            return None
        return Relation(_label(item, str(item.get("id", ""))), first, second)


def _same(text: str, places: list[tuple[int, int]], covered: object) -> bool:
    if not isinstance(covered, str):
        return True
    words = " ".join(text[start:end] for start, end in places).split()
    whole = text[places[0][0] : places[-1][1]].split()
    return covered.split() in (words, whole)


def _places(item: Any) -> list[tuple[int, int]]:
    """(offset, length) of the parts of an annotation. Raises Fault."""
    ranges = [
        (_whole(at.get("offset"), "offset"), _whole(at.get("length"), "length"))
        for at in _listed(item, "locations")
    ]
    return [place for place in ranges if place[1]]


def _quote(item: Any, base: int) -> Quote | None:
    """What an annotation in one part covers; offsets are counted from `base`."""
    places = _places(item)
    if len(places) != 1:
        return None
    at, size = places[0]
    return Quote.of(at - base, at - base + size, item.get("text"))


def _whole(value: object, name: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        message = _("{name!r} is {value}, expected a whole number")
        raise Fault(message.format(name=name, value=show(value)))
    return value


def _infons(item: Any) -> Mapping[str, Any]:
    infons = item.get("infons") if isinstance(item, Mapping) else None
    return infons if isinstance(infons, Mapping) else {}


def _label(item: Any, id: str) -> str:
    """The value or the type of an annotation or relation, or its only property."""
    infons = _infons(item)
    value = infons.get("value") or infons.get("type")
    if value is None and len(infons) == 1:
        value = next(iter(infons.values()))
    if value in (None, ""):
        raise Fault(_("{id} has no type", id=show(id)))
    return label_name(value)


def _concepts(item: Any) -> list[str]:
    value = next((str(v) for name, v in _infons(item).items() if name in _CONCEPTS and v), "")
    return [part.strip() for part in value.replace(";", ",").split(",") if part.strip() not in "-"]
