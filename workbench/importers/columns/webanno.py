"""WebAnno TSV 3, which INCEpTION and WebAnno export: one file is one document.

A feature of a span layer becomes a layer of spans, one that tags every token a layer of tags;
chains and relations keep their ends. Links of slots, and the names of links in chains, are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import inception
from workbench.importers.base import (
    SPANS,
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
from workbench.importers.columns import webanno_lines as lines
from workbench.importers.columns.webanno_lines import (
    CHAIN,
    RELATION,
    SPAN,
    UNSET,
    Declared,
    Sentence,
    TokenUnit,
    Value,
    values,
)
from workbench.importers.offsets import BYTES, POINTS, UTF16, Offsets, length, points
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLUSTER, TAG
from workbench.text.relations import Relation
from workbench.text.spans import Span

CUSTOM, LINK = "webanno.custom.", "Link"  # INCEpTION adds Link to the name of a layer of chains
MENTION = "mention"  # label of a span of a chain without a type
SLOTS, RELATIONS, LINKS = "slots", "relations", "links"  # what is counted, not imported
_LINK = re.compile(r"(.*)->(\d{1,9})-(\d{1,9})$", re.S)
_END = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?$")
LayerSpans = list[tuple[str, Span]]  # the spans of an annotation with their layers


class WebannoImporter:
    all_layers = True  # a person who labels a document sees the layers of all

    def sniff(self, head: str, name: str) -> Guess:
        if head.lstrip("\ufeff \t\r\n").startswith(lines.START):
            return Guess(0.99, _("tokens with offsets and layers, as INCEpTION exports them"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        layers = lines.declared(source.lines())
        names = [name for layer in layers for name, _column in layer.features]
        rows = []
        try:
            for sentence in lines.sentences(source.lines(), _width(layers)):
                for unit in sentence.units:
                    cells = [unit.cells[at] for layer in layers for _name, at in layer.features]
                    rows.append(TableRow(unit.line, (unit.text, *map(_display_cell, cells))))
                if len(rows) >= limit:
                    break
        except Fault:
            pass  # reading says what is wrong
        why = _("one document; its layers are in the header")
        return Table((_("token"), *names), tuple(rows[:limit]), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the columns of WebAnno TSV are fixed.", file=source.name),
                hint=_("Leave --map out."),
            )
        layers = lines.declared(source.lines())
        try:
            sentences = list(lines.sentences(source.lines(), _width(layers)))
            if not sentences:
                raise Fault(_("the file has no sentences"))
            text = Text.of(sentences)
            reading = WebannoReading(text, sentences, layers)
            if options.span_layer != SPANS:
                reading.rename(options.span_layer)
            key, person = inception.document(source.path)
            record = reading.record(key)
            check(record)
        except Fault as fault:
            yield Skipped(1, str(fault))
            return
        yield from (Hint(layer, CLUSTER) for layer in reading.chains)
        yield from (Hint(layer, TAG) for layer in reading.tags)
        yield Row(1, record, person)
        offsets = Offsets()
        if text.way != UTF16:
            offsets.note(text.way)
        yield from map(Remark, inception.not_imported(source.name, reading.left, _LEFT))
        yield from map(Remark, offsets.remarks(source.name))


def _width(layers: tuple[Declared, ...]) -> int:
    return layers[-1].columns.stop if layers else 0


def _display_cell(cell: str) -> str:
    return ", ".join(value.text or lines.UNSET for value in lines.values(cell))


_LEFT = {
    SLOTS: N_("links of slots"),
    RELATIONS: N_("relations whose ends have no label in common"),
    LINKS: N_("names of the links in chains"),
}


class WebannoReading:
    """The annotations of a file.

    chains, tags: the layers of that kind. left: what was not imported → how often.
    """

    def __init__(
        self, text: Text, sentences: Sequence[Sentence], layers: Sequence[Declared]
    ) -> None:
        self.chains: list[str] = []
        self.left: Counter[str] = Counter()
        self._text, self._layers = text, layers
        self._units = [unit for sentence in sentences for unit in sentence.units]
        self._spans: dict[str, list[Span]] = {}
        self._relations: dict[str, dict[Relation, None]] = {}
        self._ends: dict[
            str, dict[str, dict[int, LayerSpans]]
        ] = {}  # type → token → number → spans
        self._connected: set[str] = set()  # layers of spans that relations connect
        for kind, take in ((SPAN, self._spans_of), (CHAIN, self._chains_of)):
            for layer in layers:
                if layer.kind == kind:
                    take(layer)
        for layer in layers:
            if layer.kind == RELATION:
                self._relations_of(layer)

    def record(self, key: str) -> Record:
        """The document with all labels."""
        tokens = tuple(self._text.offsets(unit) for unit in self._units if unit.is_token)
        spans = {name: unique_spans(items) for name, items in self._spans.items()}
        relations = {name: tuple(items) for name, items in self._relations.items()}
        document = Document(key, ((TEXT, self._text.text),), tokens={TEXT: tokens})
        states = dict.fromkeys((*spans, *relations), "submitted")
        return Record(document, states, {}, spans, relations=relations)

    @property
    def tags(self) -> tuple[str, ...]:
        """Layers with exactly one label on every token, whose spans no relation connects."""
        tokens = [self._text.offsets(unit) for unit in self._units if unit.is_token]
        return tuple(
            name
            for name, spans in self._spans.items()
            if name not in self._connected
            and name not in self.chains
            and [(span.start, span.end) for span in spans] == tokens
        )

    def rename(self, name: str) -> None:
        """Give the only layer of spans another name; several keep theirs."""
        names = [layer for layer in self._spans if layer not in self.chains]
        if len(names) == 1 and name not in self._spans:
            self._spans = {
                name if layer == names[0] else layer: spans for layer, spans in self._spans.items()
            }
            self._connected = {name if layer == names[0] else layer for layer in self._connected}

    def _whole(self, units: Sequence[TokenUnit]) -> tuple[int, int]:
        places = [self._text.offsets(unit) for unit in units]
        return min(start for start, _end in places), max(end for _start, end in places)

    def _layer_name(self, layer: Declared, feature: str, used: Sequence[str]) -> str:
        """The short name of the layer if that is enough, else with its feature or package."""
        same = [other for other in self._layers if other.short == layer.short]
        first = layer.short if len(same) == 1 else layer.type
        if layer.kind == CHAIN and layer.type.startswith(CUSTOM):
            first = first.removesuffix(LINK) or first
        return first if len(used) < 2 else f"{first}.{feature}"

    # ------------------------------------------------------------ spans

    def _spans_of(self, layer: Declared) -> None:
        """Tokens with the same number are one span; without a number, each is one."""
        units: dict[tuple[str, int], list[TokenUnit]] = {}
        texts: dict[tuple[str, int], dict[str, str]] = {}  # annotation → feature → value
        for unit in self._units:
            for number, features in _stacked(layer, unit):
                key = ("", number) if number else (unit.id, 0)
                units.setdefault(key, []).append(unit)
                texts.setdefault(key, {}).update(features)
            self.left[SLOTS] += _targets(layer, unit)
        used = _used(layer, list(texts.values()))
        ends = self._ends.setdefault(layer.type, {})
        for key, features in texts.items():
            layer_spans = self._layer_spans(layer, used, features, units[key])
            for name, span in layer_spans:
                self._spans.setdefault(name, []).append(span)
            for unit in units[key]:
                ends.setdefault(unit.id, {})[key[1]] = layer_spans

    def _layer_spans(
        self,
        layer: Declared,
        used: Sequence[str],
        texts: dict[str, str],
        units: Sequence[TokenUnit],
    ) -> LayerSpans:
        """A span for each feature that has a value; without any, one with the layer's name."""
        start, end = self._whole(units)
        if not texts:
            name = self._layer_name(layer, used[0] if used else "", used)
            return [(name, Span(start, end, layer.short))]
        return [
            (self._layer_name(layer, feature, used), Span(start, end, text))
            for feature, text in texts.items()
        ]

    # ------------------------------------------------------------ chains

    def _chains_of(self, layer: Declared) -> None:
        """One column names chain and position (`*->1-2`), the other the type of the span."""
        units: dict[tuple[int, int], list[TokenUnit]] = {}
        labels: dict[tuple[int, int], str] = {}
        for unit in self._units:
            cells = [values(unit.cells[at]) for at in layer.columns]
            links = next((column for column in cells if any(map(_link, column))), ())
            types = next((column for column in cells if column is not links), ())
            for number, value in enumerate(links):
                if not (match := _link(value)):
                    continue
                place = int(match[2]), int(match[3])
                units.setdefault(place, []).append(unit)
                labels[place] = types[number].text if number < len(types) else ""
                self.left[LINKS] += match[1] != UNSET and len(units[place]) == 1
        if not units:
            return
        name = self._layer_name(layer, "", ())
        self.chains.append(name)
        for place, column in sorted(units.items()):
            span = Span(*self._whole(column), labels[place] or MENTION, chain=place[0])
            self._spans.setdefault(name, []).append(span)

    # ------------------------------------------------------------ relations

    def _relations_of(self, layer: Declared) -> None:
        """The line of a token has the relations that end there, and the token they begin at."""
        last = layer.columns.stop - 1
        annotations = []
        for unit in self._units:
            stacked = _stacked(layer, unit, without=last)
            for number, end in enumerate(values(unit.cells[last])):
                texts = stacked[number][1] if number < len(stacked) else {}
                if pair := self._pair(layer, unit, end):
                    annotations.append((texts, pair))
                else:
                    self.left[RELATIONS] += 1
        used = _used(layer, [texts for texts, _pair in annotations])
        for texts, (first, second) in annotations:
            for feature, text in (texts or {"": layer.short}).items():
                name = self._layer_name(layer, feature or (used[0] if used else ""), used)
                relation = Relation(text, first, second)
                self._relations.setdefault(name, {})[relation] = None

    def _pair(self, layer: Declared, unit: TokenUnit, end: Value) -> tuple[Span, Span] | None:
        """Both spans, in one layer; None if there is no such layer."""
        match = _END.match(end.raw)
        if not match:
            return None
        first = self._at(layer.base, match[1], int(match[2] or 0))
        second = self._at(layer.base, unit.id, int(match[3] or 0))
        targets = dict(second)
        for name, span in first:
            if name in targets:
                self._connected.add(name)
                return span, targets[name]
        return None

    def _at(self, type: str, token: str, number: int) -> LayerSpans:
        """The spans of an annotation; 0 is the only one at that token."""
        by_number = self._ends.get(type, {}).get(token, {})
        if number == 0 and len(by_number) == 1:
            return next(iter(by_number.values()))
        return by_number.get(number, [])


def _link(value: Value) -> re.Match[str] | None:
    return _LINK.match(value.raw)


def _stacked(
    layer: Declared, unit: TokenUnit, without: int | None = None
) -> list[tuple[int, dict[str, str]]]:
    """(number, feature → value) of the annotations of a token, in the order of the cells."""
    names = {at: name for name, at in layer.features}
    annotations: list[tuple[int, dict[str, str]]] = []
    for at in layer.columns:
        if at == without:
            continue
        for place, value in enumerate(values(unit.cells[at])):
            if place == len(annotations):
                annotations.append((value.number, {}))
            if at in names and value.text:
                annotations[place][1][names[at]] = value.text
    return annotations


def _targets(layer: Declared, unit: TokenUnit) -> int:
    """The number of links of slots."""
    link_values = (value for at in layer.slots for value in values(unit.cells[at]))
    return sum(len(value.raw.split(";")) for value in link_values if value.raw != UNSET)


def _used(layer: Declared, annotations: Sequence[dict[str, str]]) -> list[str]:
    """The features that have a value anywhere, in the order of the header."""
    names = {name for texts in annotations for name in texts}
    return [name for name, _at in layer.features if name in names]


MAX_SENTENCE_GAP = 100_000  # between two sentences; more is damage


class Text:
    """The whole text. Raises Fault where the offsets of a token do not cover its text.

    The file has no characters between sentences: line breaks are put there. way: how the offsets
    are counted, in UTF-16 units unless they are wrong.
    """

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Text:
        """The text with the first counting in which each token covers its text. Raises Fault."""
        try:
            return cls(sentences)
        except Fault:
            for way in (POINTS, BYTES):
                with suppress(Fault):
                    return cls(sentences, way)
            raise

    def __init__(self, sentences: Sequence[Sentence], way: str = UTF16) -> None:
        self.way = way
        pieces: list[str] = []
        end = 0  # of the pieces, as offsets are counted
        for sentence in sentences:
            text, start = _placed(sentence, way)
            if not 0 <= start - end <= MAX_SENTENCE_GAP:
                raise _wrong(sentence.units[0], "".join(pieces)[-20:])
            pieces += "\n" * (start - end), text
            end = start + length(text, way)
        if pieces[-1].endswith("\r"):  # the other half of a line break
            pieces.append("\n")
        self.text = "".join(pieces)
        self._points = points(self.text, way)
        for sentence in sentences:
            for unit in sentence.units:
                start, end = self.offsets(unit)
                if self.text[start:end] != unit.text:
                    raise _wrong(unit, self.text[start:end])

    def offsets(self, unit: TokenUnit) -> tuple[int, int]:
        """Start and end of a token in code points. Raises Fault beyond the text."""
        start, end = self._points.get(unit.start), self._points.get(unit.end)
        if start is None or end is None or start > end:
            raise _wrong(unit, "")
        return start, end


def _placed(sentence: Sentence, way: str) -> tuple[str, int]:
    """The text of a sentence and where it starts."""
    first, text = sentence.units[0], sentence.text
    at = text.find(first.text)
    if not text or at < 0:
        raise _wrong(first, text[:20])
    return text, first.start - length(text[:at], way)


def _wrong(unit: TokenUnit, covered: str) -> Fault:
    return Fault(
        _(
            "line {line}: the token {start}–{end} covers {found}, but the file says {said}",
            line=unit.line,
            start=unit.start,
            end=unit.end,
            found=show(covered),
            said=show(unit.text),
        )
    )
