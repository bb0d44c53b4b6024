"""UIMA CAS in XMI or JSON, as INCEpTION, cTAKES and dkpro write it: one file is one document.

A feature of an annotation type becomes a layer of spans, or of tags if it is on every token; chains
and relations keep their ends. Type systems are not needed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ErrorString

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import inception
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
from workbench.importers.inception import points_of_units
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLUSTER, TAG
from workbench.text.relations import Relation
from workbench.text.spans import Span

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


MENTION = "mention"  # label of a span of a chain without a type
TYPES = ("referenceType", "value", "label")  # the feature of a link that names the span
ENDS = (("Governor", "Dependent"), ("source", "target"))  # from, to
RELATIONS, VIEWS = "relations", "views"  # what is counted, not imported
_TOKEN, _PLAIN = "Token", "uima.tcas.Annotation"
# Parts of the text and descriptions, which are no labels.
_STRUCTURE = re.compile(
    r"uima\.|.*\.(?:segmentation|metadata)\.type\.|.*\.webanno\.api\.type\.|.*\.type\.structured\."
    r"|.*\.type\.syntax\.\w+Token$|.*\.(?:Sentence|Segment|Paragraph|Div|DocumentMetaData)$"
)
_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NO_LABEL = re.compile(rf"{_NUMBER}(?: {_NUMBER})*$|true$|false$")

_LEFT = {
    RELATIONS: N_("relations whose ends have no label in common"),
    VIEWS: N_("annotations of other views"),
}


class UimaImporter:
    all_layers = True  # a person who labels a document sees the layers of all

    def sniff(self, head: str, name: str) -> Guess:
        if inception.is_cas(head):
            return Guess(0.99, _("annotations of a UIMA CAS, as INCEpTION and cTAKES write them"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        columns = (_("layer"), _("label"), _("offsets"), _("text"))
        why = _("one document with its annotations")
        try:
            reading = UimaReading(read(source))
            record = reading.record("")
        except Fault:  # reading says what is wrong
            return Table(columns, (), (), why)
        text, ids = record.document.text, reading.ids
        rows = [
            TableRow(
                1,
                (name, span.label, f"{span.start} {span.end}", text[span.start : span.end]),
                f"#{ids[name, span]}",
            )
            for name, spans in record.spans.items()
            for span in spans[:limit]
        ]
        return Table(columns, tuple(rows[:limit]), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: a UIMA CAS has no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        try:
            reading = UimaReading(read(source))
            key, person = inception.document(source.path)
            record = reading.record(key)
            check(record)
        except Fault as fault:
            yield Skipped(1, str(fault))
            return
        yield from (Hint(layer, CLUSTER) for layer in reading.chains)
        yield from (Hint(layer, TAG) for layer in reading.tags)
        yield Row(1, record, person)
        yield from map(Remark, inception.not_imported(source.name, reading.left, _LEFT))


class UimaReading:
    """The annotations of the main text. chains, tags: the layers of that kind. left: what was not
    imported → how often.
    """

    def __init__(self, cas: Cas) -> None:
        self.text = cas.texts[cas.main]
        self.chains: list[str] = []
        self.left: Counter[str] = Counter()
        self._cas, self._points = cas, points_of_units(self.text)
        self._spans: dict[str, list[Span]] = {}
        self._spans_by_id: dict[
            int, list[tuple[str, Span]]
        ] = {}  # number → its spans with their layers
        self.ids: dict[tuple[str, Span], int] = {}  # (layer, span) → number of its first structure
        self._relations: dict[str, dict[Relation, None]] = {}
        self._connected: set[str] = set()
        placed = sorted(self._placed(), key=lambda item: (item.begin, -item.end, item.id))
        types = {item.type: None for item in placed}
        shorts = Counter(type.rpartition(".")[2] for type in types)
        self._names = {
            type: short if shorts[short := type.rpartition(".")[2]] == 1 else type for type in types
        }
        links = self._take_chains(placed)
        for type in types:
            some = [item for item in placed if item.type == type and item.id not in links]
            if not any(_ends(item) for item in some):
                self._take_spans(some)
        for item in placed:
            if ends := _ends(item):
                self._relate(item, ends)

    def record(self, key: str) -> Record:
        """The document with all labels."""
        spans = {name: unique_spans(items) for name, items in self._spans.items()}
        relations = {name: tuple(items) for name, items in self._relations.items()}
        document = Document(key, ((TEXT, self.text),), tokens=self._tokens())
        states = dict.fromkeys((*spans, *relations), "submitted")
        return Record(document, states, {}, spans, relations=relations)

    @property
    def tags(self) -> tuple[str, ...]:
        """Layers with exactly one label on every token, whose spans no relation connects."""
        tokens = list(self._tokens().get(TEXT, ()))
        return tuple(
            name
            for name, spans in self._spans.items()
            if name not in self._connected
            and name not in self.chains
            and tokens
            and [(span.start, span.end) for span in spans] == tokens
        )

    # ------------------------------------------------------------ places

    def _placed(self) -> Iterator[Structure]:
        """The annotations of the main text that may be labels."""
        for item in self._cas.structures.values():
            if item.begin < 0 or item.end < 0:
                continue
            if item.type != _PLAIN and _STRUCTURE.match(item.type):
                continue
            if item.sofa == self._cas.main:
                yield item
            else:
                self.left[VIEWS] += 1

    def _offsets(self, item: Structure) -> tuple[int, int]:
        """Start and end in code points. Raises Fault beyond the text."""
        length = len(self.text) if self._points is None else len(self._points) - 1
        if not 0 <= item.begin <= item.end <= length:
            raise Fault(
                _(
                    "the annotation {id} at {start}–{end} does not lie within the text of length "
                    "{length}",
                    id=item.id,
                    start=item.begin,
                    end=item.end,
                    length=length,
                )
            )
        if self._points is None:
            return item.begin, item.end
        return self._points[item.begin], self._points[item.end]

    def _tokens(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """The tokens, if they do not overlap."""
        offsets = sorted(
            self._offsets(item)
            for item in self._cas.structures.values()
            if item.short == _TOKEN and item.sofa == self._cas.main and item.begin >= 0
        )
        apart = all(
            first[1] <= second[0] for first, second in zip(offsets, offsets[1:], strict=False)
        )
        return {TEXT: tuple(offsets)} if offsets and apart else {}

    # ------------------------------------------------------------ labels

    def _take_spans(self, some: Sequence[Structure]) -> None:
        """A layer for each feature with names as values; without any, one with the type's name."""
        used = _features(some)
        for item in some:
            name = self._names[item.type]
            start, end = self._offsets(item)
            labels = {feature: item.values[feature] for feature in used if item.values.get(feature)}
            layers = {feature: name if len(used) == 1 else f"{name}.{feature}" for feature in used}
            layer_spans = [
                (layers[feature], Span(start, end, text)) for feature, text in labels.items()
            ]
            if not layer_spans:
                layer_spans = [(layers[used[0]] if used else name, Span(start, end, item.short))]
            self._spans_by_id[item.id] = layer_spans
            for layer, span in layer_spans:
                self._add(layer, span, item.id)

    def _add(self, layer: str, span: Span, id: int) -> None:
        self._spans.setdefault(layer, []).append(span)
        self.ids.setdefault((layer, span), id)

    def _take_chains(self, placed: Sequence[Structure]) -> set[int]:
        """Read the chains; returns the numbers of their links."""
        by_id = {item.id: item for item in placed}
        taken: set[int] = set()
        number = 0
        for chain in self._cas.structures.values():
            id = next(iter(chain.refs.get("first", ())), 0)
            if chain.begin >= 0 or id not in by_id or id in taken:
                continue
            number += 1
            while id in by_id and id not in taken:
                taken.add(id)
                link = by_id[id]
                name = self._names[link.type]
                if name not in self.chains:
                    self.chains.append(name)
                label = next((text for type in TYPES if (text := link.values.get(type))), MENTION)
                self._add(name, Span(*self._offsets(link), label, chain=number), id)
                id = next(iter(link.refs.get("next", ())), 0)
        return taken

    def _end(self, id: int) -> list[tuple[str, Span]]:
        """The spans of an annotation; of a token, as dependencies have it, those of its tag."""
        tag = self._cas.structures[id].refs.get("pos", ()) if id in self._cas.structures else ()
        return self._spans_by_id.get(id) or self._spans_by_id.get(tag[0] if tag else 0, [])

    def _relate(self, item: Structure, ends: tuple[int, int]) -> None:
        first, second = map(self._end, ends)
        targets = dict(second)
        pair = next(((layer, span) for layer, span in first if layer in targets), None)
        if pair is None:
            self.left[RELATIONS] += 1
            return
        layer, span = pair
        self._connected.add(layer)
        label = next((item.values[name] for name in _features([item])), item.short)
        relation = Relation(label, span, targets[layer])
        self._relations.setdefault(self._names[item.type], {})[relation] = None


def _ends(item: Structure) -> tuple[int, int] | None:
    """The numbers of both ends of a relation; None for other annotations."""
    for first, second in ENDS:
        if item.refs.get(first) and item.refs.get(second):
            return item.refs[first][0], item.refs[second][0]
    return None


def _features(some: Sequence[Structure]) -> list[str]:
    """The features with names as values, in the order of the file; numbers and flags are none."""
    values: dict[str, list[str]] = {}
    for item in some:
        for name, value in item.values.items():
            if value:
                values.setdefault(name, []).append(value)
    return [name for name, texts in values.items() if not all(map(_NO_LABEL.match, texts))]


SOFA, VIEW = "uima.cas.Sofa", "uima.cas.View"
MAIN_VIEW = "_InitialView"
_LIST = "%FEATURE_STRUCTURES"
_XMI = "{http://www.omg.org/XMI}"
_FIXED = frozenset({"id", "sofa", "begin", "end"})
_NUMBERS = re.compile(r"\d{1,9}(?: \d{1,9})*$")


@dataclass(frozen=True)
class Structure:
    """values: feature → text. refs: feature → numbers of other structures. begin, end: UTF-16
    units of the text with the number `sofa`, -1 where it has no place.
    """

    id: int
    type: str
    sofa: int = 0
    begin: int = -1
    end: int = -1
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The type without its package."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True)
class Cas:
    """structures: number → structure. texts: number of a sofa → text. main: the first to read."""

    structures: Mapping[int, Structure]
    texts: Mapping[int, str]
    main: int


def read(source: Source) -> Cas:
    """Raises Fault for a file that cannot be parsed or has no text."""
    text = source.text().lstrip("\ufeff")
    parsed = _of_xmi(text) if text.lstrip().startswith("<") else _of_json(text)
    structures: dict[int, Structure] = {}
    for item in parsed:
        structures[item.id] = item
    sofas = [item for item in structures.values() if item.type == SOFA]
    texts = {item.id: content for item in sofas if (content := item.values.get("sofaString"))}
    if not texts:
        raise Fault(_("the file has no text"))
    names = {item.values.get("sofaID"): item.id for item in sofas if item.id in texts}
    return Cas(structures, texts, names.get(MAIN_VIEW, min(texts)))


# ---------------------------------------------------------------- JSON


def _of_json(text: str) -> Iterator[Structure]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Fault(_("the file is not valid JSON: {error}", error=error)) from None
    listed = whole.get(_LIST) if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        message = _("“{name}” is not a list of feature structures, as in version 0.4 of the format")
        raise Fault(message.format(name=_LIST))
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(entry.get("%TYPE"), str):
            raise Fault(_("a feature structure is {value}", value=show(entry)))
        yield Structure(
            _whole(entry, "%ID"),
            entry["%TYPE"],
            _whole(entry, "@sofa"),
            _whole(entry, "begin", -1),
            _whole(entry, "end", -1),
            {name: _written(value) for name, value in entry.items() if _is_value(name, value)},
            {name[1:]: _ids(value) for name, value in entry.items() if name.startswith("@")},
        )


def _is_value(name: str, value: object) -> bool:
    plain = isinstance(value, str | int | float)
    return plain and name[:1] not in "%@^" and name not in _FIXED


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ids(value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(item for item in listed if type(item) is int)


def _whole(entry: Mapping[str, Any], name: str, default: int = 0) -> int:
    value = entry.get(name, default)
    if type(value) is not int:
        message = _("“{name}” of a feature structure is {value}, expected a whole number")
        raise Fault(message.format(name=name, value=show(value)))
    return value


# ---------------------------------------------------------------- XMI


def _of_xmi(text: str) -> Iterator[Structure]:
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"), _parser())
    except ElementTree.ParseError as error:
        line, column = error.position
        raise Fault(
            _(
                "the XML is not valid in line {line}, column {column}: {reason}",
                line=line,
                column=column + 1,
                reason=ErrorString(error.code),
            )
        ) from None
    elements = [(element, id) for element in root if (id := element.get(_XMI + "id")) is not None]
    known = {id for _element, id in elements}
    referring = _references(elements, known)
    for element, id in elements:
        yield _structure(element, id, referring)


def _parser() -> Any:
    """Declared encodings are ignored: the text is decoded already."""
    from xml.etree import ElementTree

    return ElementTree.XMLParser(encoding="utf-8")


def _type(element: Element) -> str:
    """`{http:///webanno/custom.ecore}Span` is webanno.custom.Span."""
    space, _brace, name = element.tag.removeprefix("{").rpartition("}")
    package = space.partition(":///")[2].removesuffix(".ecore").replace("/", ".")
    return f"{package}.{name}" if package not in ("", "uima.noNamespace") else name


def _references(elements: list[tuple[Element, str]], known: set[str]) -> set[tuple[str, str]]:
    """(tag, attribute) of the attributes whose values are all numbers of structures."""
    fits: dict[tuple[str, str], bool] = {}
    for element, _id in elements:
        for name, value in element.attrib.items():
            if name.startswith("{") or name in _FIXED:
                continue
            place = element.tag, name
            if fits.get(place, True):
                fits[place] = bool(_NUMBERS.match(value)) and known.issuperset(value.split(" "))
    return {place for place, all_fit in fits.items() if all_fit}


def _structure(element: Element, id: str, referring: set[tuple[str, str]]) -> Structure:
    values: dict[str, str] = {}
    refs: dict[str, tuple[int, ...]] = {}
    for name, value in element.attrib.items():
        if name.startswith("{") or name in _FIXED:
            continue
        if (element.tag, name) in referring:
            refs[name] = tuple(map(int, value.split(" ")))
        else:
            values[name] = value
    sofa, begin, end = (
        _number(element, name, default)
        for name, default in (("sofa", 0), ("begin", -1), ("end", -1))
    )
    return Structure(_int(id, "xmi:id"), _type(element), sofa, begin, end, values, refs)


def _number(element: Element, name: str, default: int) -> int:
    value = element.get(name)
    return default if value is None else _int(value, name)


def _int(value: str, name: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", value):
        message = _("“{name}” of a feature structure is {value}, expected a whole number")
        raise Fault(message.format(name=name, value=show(value)))
    return int(value)
