"""WebAnno TSV 3.3, which INCEpTION imports: one file for each document.

A layer of spans or tags is a custom layer with the feature `value`; relations and chains are custom
layers too, with the names that INCEpTION gives to layers. Offsets are UTF-16 units.
Source: INCEpTION User Guide, appendix "WebAnno TSV 3.3 File format".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    File,
    Plan,
    in_second_texts,
    links_lost,
    no_tokens,
    only_spans,
)
from workbench.exporters.data.webanno_units import NONE, Piece, Pieces, escaped
from workbench.text import relations as rules
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import Layer
from workbench.text.spans import Place, Span

FORMAT = "#FORMAT=WebAnno TSV 3.3"
PREFIX, VALUE = "webanno.custom.", "value"
_NOT_IN_NAMES = re.compile(r"\W+", re.ASCII)


class WebannoExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        found = [
            _(COMMON),
            _(LOOKS),
            *only_spans(layers),
            *links_lost(layers, relations=False, chains=False),
        ]
        names = type_names(layers)
        if named := ", ".join(f"{name} → {type}" for name, type in names.items() if name != type):
            found.append(
                _("Layers are named as INCEpTION names them: {named}.").format(named=named)
            )
        if names:
            message = _(
                "INCEpTION imports the files into a project that has layers with these names and "
                "the feature value: {names}."
            )
            found.append(message.format(names=", ".join(names.values())))
        found.append(_("Boundaries of spans between words are moved to the words."))
        return tuple(found)

    def shared(self, plan: Plan) -> Iterator[File]:
        return iter(())

    def files(self, record: Record, name: str, plan: Plan) -> Sequence[File]:
        text = Pieces(record.document)
        if not text.tokens:
            plan.count(no_tokens)
            return ()
        names = type_names(plan.layers)
        columns: list[_Column] = [
            _Spans(layer, names[layer.name], record, text, plan)
            for layer in plan.layers
            if layer.traits.in_text
        ]
        numbers = iter(range(1, 1 << 30))
        placed = {column.layer.name: column for column in columns if isinstance(column, _Spans)}
        for column in placed.values():
            column.number(numbers)
        columns += (
            _Relations(layer, names[layer.name], placed[of], record, text, plan)
            for layer in plan.layers
            if layer.traits.between_spans and (of := rules.span_layer(layer)) in placed
        )
        for layer in plan.layers:
            if rules.span_layer(layer) not in placed:
                plan.count(_without_ends, len(record.relations.get(layer.name, ())))
        lines = [FORMAT, *(column.header for column in columns), "", ""]
        for sentence in text.sentences():
            lines += sentence.heading
            for piece in sentence.pieces:
                cells = (cell for column in columns for cell in column.cells(piece))
                lines.append("\t".join((*text.cells(piece), *cells, "")))
            lines.append("")
        return ((f"{name}.tsv", "\n".join(lines) + "\n"),)


def type_names(layers: Iterable[Layer]) -> dict[str, str]:
    """Layer → its unique name in INCEpTION, which keeps ASCII letters, digits and underscores."""
    found: dict[str, str] = {}
    for layer in layers:
        if not (layer.traits.in_text or layer.traits.between_spans):
            continue
        short = _NOT_IN_NAMES.sub("", layer.name)
        short = short[:1].upper() + short[1:]
        if not short[:1].isalpha():
            short = f"Layer{short}"
        name, again = short, 2
        while name in found.values():
            name, again = f"{short}{again}", again + 1
        found[layer.name] = name
    return found


# ---------------------------------------------------------------- columns


class _Column:
    """The cells of a layer. header: its line at the beginning of the file."""

    header = ""

    def cells(self, piece: Piece) -> Sequence[str]:
        """Those of a token, or of a part of one."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Placed:
    span: Span
    pieces: tuple[Piece, ...]


class _Spans(_Column):
    """Spans, tags, or mentions of chains. `numbers` tells stacked and longer spans apart."""

    def __init__(self, layer: Layer, type: str, record: Record, text: Pieces, plan: Plan) -> None:
        self.layer, self.type = layer, PREFIX + type
        self.placed: dict[Place, _Placed] = {}
        self.numbers: dict[Place, int] = {}
        self._at: dict[Piece, list[Place]] = {}
        self._links: dict[Place, str] = {}
        for span in sorted(record.spans.get(layer.name, ()), key=lambda s: (s.start, -s.end)):
            if span.field != TEXT:
                plan.count(in_second_texts)
            elif not (found := text.of(span)):
                plan.count(_without_word)
            else:
                self.placed[span.place] = _Placed(span, found)
                for piece in found:
                    self._at.setdefault(piece, []).append(span.place)
        if layer.traits.in_chains:
            self._links = _links(found.span for found in self.placed.values())
            self.header = f"#T_CH={self.type}Link|referenceRelation|referenceType"
        else:
            self.header = f"#T_SP={self.type}|{VALUE}"

    def number(self, numbers: Iterator[int]) -> None:
        """Give numbers to spans of several units, and to those that share a unit with others."""
        shared = {place for places in self._at.values() if len(places) > 1 for place in places}
        for place, found in self.placed.items():
            if place in shared or len(found.pieces) > 1:
                self.numbers[place] = next(numbers)

    def cells(self, piece: Piece) -> Sequence[str]:
        places = self._at.get(piece, ())
        values = []
        for place in places:
            number = self.numbers.get(place)
            label = escaped(self.placed[place].span.label)
            values.append(f"{label}[{number}]" if number else label)
        value = "|".join(values) or NONE
        if not self.layer.traits.in_chains:
            return (value,)
        return "|".join(self._links[place] for place in places) or NONE, value


def _links(spans: Iterable[Span]) -> dict[Place, str]:
    """The cell of each mention: numbers of its chain and in it; without a chain, one of its own."""
    chains: dict[object, int] = {}
    sizes: dict[int, int] = {}
    found = {}
    for span in spans:
        chain = chains.setdefault(span.place if span.chain is None else span.chain, len(chains) + 1)
        sizes[chain] = sizes.get(chain, 0) + 1
        found[span.place] = f"*->{chain}-{sizes[chain]}"
    return found


class _Relations(_Column):
    """A relation is in the line where its target begins, with the unit where its source begins."""

    def __init__(
        self,
        layer: Layer,
        type: str,
        of: _Spans,
        record: Record,
        text: Pieces,
        plan: Plan,
    ) -> None:
        self.header = f"#T_RL={PREFIX}{type}|{VALUE}|BT_{of.type}"
        self._at: dict[Piece, list[tuple[str, str]]] = {}
        for relation in record.relations.get(layer.name, ()):
            first, second = relation.from_span.place, relation.to_span.place
            if first not in of.placed or second not in of.placed:
                plan.count(_without_ends)
                continue
            ends = of.numbers.get(first, 0), of.numbers.get(second, 0)
            source = text.id(of.placed[first].pieces[0])
            source += f"[{ends[0]}_{ends[1]}]" if any(ends) else ""
            target = of.placed[second].pieces[0]
            self._at.setdefault(target, []).append((escaped(relation.label), source))

    def cells(self, piece: Piece) -> Sequence[str]:
        found = self._at.get(piece, ())
        return tuple("|".join(values) for values in zip(*found, strict=True)) or (NONE, NONE)


def _without_word(n: int) -> str:
    return ngettext(
        "{n} span without a word was omitted.",
        "{n} spans without a word were omitted.",
        n,
    )


def _without_ends(n: int) -> str:
    return ngettext(
        "{n} relation of omitted spans, or of spans in another layer, was omitted.",
        "{n} relations of omitted spans, or of spans in another layer, were omitted.",
        n,
    )
