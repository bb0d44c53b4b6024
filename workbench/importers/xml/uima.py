"""UIMA CAS in XMI or JSON, as INCEpTION, cTAKES and dkpro write it: one file is one document.

A feature of an annotation type becomes a layer of spans, or of tags if it is on every token; chains
and relations keep their ends. Type systems are not needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

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
    unique_spans,
)
from workbench.importers.inception import points_of_units
from workbench.importers.source import Source
from workbench.importers.xml import uima_files
from workbench.importers.xml.uima_files import Cas, Structure
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLUSTER, TAG
from workbench.text.relations import Relation
from workbench.text.spans import Span

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
    def sniff(self, head: str, name: str) -> Guess:
        if inception.is_cas(head):
            return Guess(0.99, _("annotations of a UIMA CAS, as INCEpTION and cTAKES write them"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        columns = (_("layer"), _("label"), _("offsets"), _("text"))
        why = _("one document with its annotations")
        try:
            reading = UimaReading(uima_files.read(source))
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
            reading = UimaReading(uima_files.read(source))
            record = reading.record(inception.key(source.path))
            check(record)
        except Fault as fault:
            yield Skipped(1, str(fault))
            return
        yield from (Hint(layer, CLUSTER) for layer in reading.chains)
        yield from (Hint(layer, TAG) for layer in reading.tags)
        yield Row(1, record)
        yield from (Remark(message) for message in _remarks(source.name, reading.left))


def _remarks(name: str, left: Counter[str]) -> Iterator[str]:
    if kinds := +left:
        listed = ", ".join(f"{_(_LEFT[kind])} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _("{name}: not imported: {kinds}.", name=name, kinds=listed)


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
