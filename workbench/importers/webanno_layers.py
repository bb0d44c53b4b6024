"""What the columns of a file of WebAnno TSV 3 become: spans, chains and relations of a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from workbench.importers.base import unique_spans
from workbench.importers.webanno_lines import (
    CHAIN,
    RELATION,
    SPAN,
    UNSET,
    Declared,
    Sentence,
    Unit,
    Value,
    values,
)
from workbench.importers.webanno_text import Text
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.relations import Relation
from workbench.text.spans import Span

CUSTOM, LINK = "webanno.custom.", "Link"  # INCEpTION adds Link to the name of a layer of chains
MENTION = "mention"  # label of a span of a chain without a type
SLOTS, RELATIONS, LINKS = "slots", "relations", "links"  # what is counted, not imported
_LINK = re.compile(r"(.*)->(\d{1,9})-(\d{1,9})$", re.S)
_END = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?$")
Made = list[tuple[str, Span]]  # the spans of an annotation with their layers


class Reading:
    """The annotations of a file.

    chains, tags: the layers of that kind. left: what was not imported → how often.
    """

    def __init__(self, text: Text, found: Sequence[Sentence], layers: Sequence[Declared]) -> None:
        self.chains: list[str] = []
        self.left: Counter[str] = Counter()
        self._text, self._layers = text, layers
        self._units = [unit for sentence in found for unit in sentence.units]
        self._spans: dict[str, list[Span]] = {}
        self._relations: dict[str, dict[Relation, None]] = {}
        self._ends: dict[str, dict[str, dict[int, Made]]] = {}  # type → token → number → spans
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
        spans = {name: unique_spans(found) for name, found in self._spans.items()}
        relations = {name: tuple(found) for name, found in self._relations.items()}
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
                name if layer == names[0] else layer: found for layer, found in self._spans.items()
            }
            self._connected = {name if layer == names[0] else layer for layer in self._connected}

    def _whole(self, units: Sequence[Unit]) -> tuple[int, int]:
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
        units: dict[tuple[str, int], list[Unit]] = {}
        texts: dict[tuple[str, int], dict[str, str]] = {}  # annotation → feature → value
        for unit in self._units:
            for number, found in _stacked(layer, unit):
                key = ("", number) if number else (unit.id, 0)
                units.setdefault(key, []).append(unit)
                texts.setdefault(key, {}).update(found)
            self.left[SLOTS] += _targets(layer, unit)
        used = _used(layer, list(texts.values()))
        ends = self._ends.setdefault(layer.type, {})
        for key, found in texts.items():
            made = self._made(layer, used, found, units[key])
            for name, span in made:
                self._spans.setdefault(name, []).append(span)
            for unit in units[key]:
                ends.setdefault(unit.id, {})[key[1]] = made

    def _made(
        self, layer: Declared, used: Sequence[str], texts: dict[str, str], units: Sequence[Unit]
    ) -> Made:
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
        units: dict[tuple[int, int], list[Unit]] = {}
        labels: dict[tuple[int, int], str] = {}
        for unit in self._units:
            cells = [values(unit.cells[at]) for at in layer.columns]
            links = next((found for found in cells if any(map(_link, found))), ())
            types = next((found for found in cells if found is not links), ())
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
        for place, found in sorted(units.items()):
            span = Span(*self._whole(found), labels[place] or MENTION, chain=place[0])
            self._spans.setdefault(name, []).append(span)

    # ------------------------------------------------------------ relations

    def _relations_of(self, layer: Declared) -> None:
        """The line of a token has the relations that end there, and the token they begin at."""
        last = layer.columns.stop - 1
        found = []
        for unit in self._units:
            stacked = _stacked(layer, unit, without=last)
            for number, end in enumerate(values(unit.cells[last])):
                texts = stacked[number][1] if number < len(stacked) else {}
                if pair := self._pair(layer, unit, end):
                    found.append((texts, pair))
                else:
                    self.left[RELATIONS] += 1
        used = _used(layer, [texts for texts, _pair in found])
        for texts, (first, second) in found:
            for feature, text in (texts or {"": layer.short}).items():
                name = self._layer_name(layer, feature or (used[0] if used else ""), used)
                relation = Relation(text, first, second)
                self._relations.setdefault(name, {})[relation] = None

    def _pair(self, layer: Declared, unit: Unit, end: Value) -> tuple[Span, Span] | None:
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

    def _at(self, type: str, token: str, number: int) -> Made:
        """The spans of an annotation; 0 is the only one at that token."""
        found = self._ends.get(type, {}).get(token, {})
        if number == 0 and len(found) == 1:
            return next(iter(found.values()))
        return found.get(number, [])


def _link(value: Value) -> re.Match[str] | None:
    return _LINK.match(value.raw)


def _stacked(
    layer: Declared, unit: Unit, without: int | None = None
) -> list[tuple[int, dict[str, str]]]:
    """(number, feature → value) of the annotations of a token, in the order of the cells."""
    names = {at: name for name, at in layer.features}
    found: list[tuple[int, dict[str, str]]] = []
    for at in layer.columns:
        if at == without:
            continue
        for place, value in enumerate(values(unit.cells[at])):
            if place == len(found):
                found.append((value.number, {}))
            if at in names and value.text:
                found[place][1][names[at]] = value.text
    return found


def _targets(layer: Declared, unit: Unit) -> int:
    """The number of links of slots."""
    found = (value for at in layer.slots for value in values(unit.cells[at]))
    return sum(len(value.raw.split(";")) for value in found if value.raw != UNSET)


def _used(layer: Declared, found: Sequence[dict[str, str]]) -> list[str]:
    """The features that have a value anywhere, in the order of the header."""
    names = {name for texts in found for name in texts}
    return [name for name, _at in layer.features if name in names]
