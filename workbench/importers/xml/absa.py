"""Aspects and opinions of SemEval (XML): aspect terms, their categories and polarities.

2014 has aspect terms and aspect categories, 2015 and 2016 opinions with a target, a category and a
polarity. A sentence is a document; those of one review belong together. Targets are spans with
their polarity and, in a layer of their own, their category. What is said of the sentence, with the
target NULL or without one, is a class `CATEGORY: polarity`, among those of all its opinions.
Sources: Pontiki et al. 2014, 2015 and 2016 (SemEval tasks 4, 12 and 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import foreign_xml
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
    show,
    unique_spans,
)
from workbench.importers.offsets import Offsets, Quote
from workbench.importers.source import Source
from workbench.importers.xml import xml_nodes
from workbench.importers.xml.xml_nodes import Node
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import MULTI
from workbench.text.spans import Span

CATEGORIES = "categories"  # the layer of the categories of targets
NULL = "NULL"  # the target of an opinion without words of its own
_MARKS = ("<aspectTerm ", "<aspectCategory ", "<Opinion ")


@dataclass
class _Sentence:
    """terms: (place, polarity, category)."""

    node: Node
    text: str
    group: str
    terms: list[tuple[tuple[int, int], str, str]] = field(default_factory=list)
    classes: dict[str, None] = field(default_factory=dict)

    @property
    def is_annotated(self) -> bool:
        return self.node.attrs.get("OutOfScope", "").upper() != "TRUE"


class AbsaImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if foreign_xml.has_aspects(head):
            return Guess(0.98, _("sentences with aspects and opinions, as of SemEval"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = list[TableRow]()
        for node, group in _sentences(source):
            try:
                sentence = _read(node, group, Offsets())
            except Fault:
                sentence = _Sentence(node, node.text_of("text"), group)
            terms = ", ".join(
                f"{sentence.text[start:end]} ({polarity})"
                for (start, end), polarity, _category in sentence.terms
            )
            cells = sentence.text, terms, ", ".join(sentence.classes)
            rows.append(TableRow(node.line, cells, node.attrs.get("id", "")))
            if len(rows) == limit:
                break
        columns = _("text"), _("spans"), _("classes")
        return Table(columns, tuple(rows), (), _("sentences with aspects and opinions"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: aspects and opinions have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        terms, categories, opinions = _kinds(source)
        layers = [options.span_layer] * (terms or opinions) + [CATEGORIES] * opinions
        out, offsets = 0, Offsets()
        if categories or opinions:
            yield Hint(options.class_layer, MULTI)
        for node, group in _sentences(source):
            try:
                sentence = _read(node, group, offsets)
                out += not sentence.is_annotated
                classes = [options.class_layer] if categories or opinions else []
                record = _record(sentence, layers, classes)
                check(record)
                yield Row(node.line, record)
            except Fault as fault:
                id = node.attrs.get("id", "")
                yield Skipped(node.line, f"{id}: {fault}" if id else str(fault))
        yield from (Remark(message) for message in offsets.remarks(source.name))
        if out:
            message = ngettext(
                "{file}: {n:,} sentence is out of scope and was imported without labels.",
                "{file}: {n:,} sentences are out of scope and were imported without labels.",
                out,
            )
            yield Remark(message.format(file=source.name, n=out))


def _kinds(source: Source) -> tuple[bool, bool, bool]:
    """Whether the file has aspect terms, aspect categories, and opinions; a file without any is
    one whose sentences are not labelled.
    """
    occurs = [False, False, False]
    for line in source.lines():
        occurs = [before or mark in line for before, mark in zip(occurs, _MARKS, strict=True)]
        if all(occurs[:2]) or occurs[2]:
            break
    terms, categories, opinions = occurs
    return terms, categories, opinions


def _sentences(source: Source) -> Iterator[tuple[Node, str]]:
    """(element, id of the review) of each sentence."""
    for node in xml_nodes.records(source, ("Review", "sentence")):
        if node.name == "sentence":
            yield node, ""
            continue
        for sentence in node.within("sentence"):
            yield sentence, node.attrs.get("rid", "")


def _read(node: Node, group: str, offsets: Offsets) -> _Sentence:
    """Raises Fault."""
    sentence = _Sentence(node, node.text_of("text"), group)
    for item in node.within("aspectCategory"):
        category = _needed(item, "category")
        sentence.classes[_class(category, item.attrs.get("polarity", ""))] = None
    for opinion in node.within("Opinion"):
        category, polarity = _needed(opinion, "category"), _needed(opinion, "polarity")
        sentence.classes[_class(category, polarity)] = None
    terms = [
        *node.within("aspectTerm"),
        *(item for item in node.within("Opinion") if item.attrs.get("target", NULL) != NULL),
    ]
    places = [(_offset(term, "from"), _offset(term, "to")) for term in terms]
    quotes = [
        Quote.of(*place, term.attrs.get("term", term.attrs.get("target")))
        for place, term in zip(places, terms, strict=True)
    ]
    counting = offsets.counting(sentence.text, quotes, fixed=True, mark=False)
    sentence.terms = [
        (counting.span(*place), _needed(term, "polarity"), term.attrs.get("category", ""))
        for place, term in zip(places, terms, strict=True)
    ]
    return sentence


def _class(category: str, polarity: str) -> str:
    return f"{category}: {polarity}" if polarity else category


def _needed(node: Node, name: str) -> str:
    if value := node.attrs.get(name, "").strip():
        return value
    message = _("line {line}: <{element}> has no {name!r}")
    raise Fault(message.format(line=node.line, element=node.name, name=name))


def _offset(node: Node, name: str) -> int:
    value = node.attrs.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        message = _("line {line}: {name!r} is {value}, expected a whole number")
        raise Fault(message.format(line=node.line, name=name, value=show(value)))
    return int(value)


def _record(sentence: _Sentence, layers: list[str], classes: list[str]) -> Record:
    document = Document(
        sentence.node.attrs.get("id", ""),
        ((TEXT, sentence.text),),
        group=sentence.group or None,
    )
    if not sentence.is_annotated:
        return Record(document)
    spans = {layer: tuple[Span, ...]() for layer in layers}
    if layers:
        polarities = [Span(*place, polarity) for place, polarity, _category in sentence.terms]
        spans[layers[0]] = unique_spans(polarities)
    if CATEGORIES in layers:
        targets = [Span(*place, category) for place, _polarity, category in sentence.terms]
        spans[CATEGORIES] = unique_spans([*targets])
    marks = {layer: tuple(sentence.classes) for layer in classes}
    return Record(document, dict.fromkeys((*marks, *spans), "submitted"), marks, spans)
