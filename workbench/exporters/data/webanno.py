"""WebAnno TSV 3.3, which INCEpTION imports: one file for each document.

A layer of spans or tags is a custom layer with the feature `value`; relations and chains are custom
layers too, with the names that INCEpTION gives to layers. Offsets are UTF-16 units.
Source: INCEpTION User Guide, appendix "WebAnno TSV 3.3 File format", and `Tsv3XDeserializer`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    ExportPlan,
    File,
    in_second_texts,
    links_lost,
    no_tokens,
    only_spans,
)
from workbench.text import relations as rules
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import Layer
from workbench.text.segment import tokens_of
from workbench.text.sentences import SENTENCE, units_of
from workbench.text.spans import Place, Span

Piece = tuple[int, int, int]  # number of its token, start and end in code points
NONE = "_"  # a cell without an annotation
_CONTROLS = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\b": "\\b"}
_IN_TEXT = str.maketrans(_CONTROLS)
_IN_VALUES = str.maketrans(_CONTROLS | {sign: f"\\{sign}" for sign in "[]|_;*"})
_ARROW = re.compile("->")


def escaped(label: str) -> str:
    """A label as the value of a cell."""
    return _ARROW.sub(r"\\->", label.translate(_IN_VALUES))


@dataclass(frozen=True)
class ExportedSentence:
    """heading: the lines with its text; a line break in it begins a new one."""

    heading: list[str]
    pieces: list[Piece]


class TokenPieces:
    """The tokens of the first text of a document, with parts where spans begin or end in them.

    `of` is called for all spans first: the numbers of parts follow from their order.
    """

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self.tokens = _apart(tokens_of(document))
        self._starts = [start for start, _end in self.tokens]
        self._ends = [end for _start, end in self.tokens]
        self._units = _units(self._text)
        self._parts: dict[int, dict[Piece, None]] = {}  # token → its parts
        begin = (bisect_left(self._starts, start) for start, _end in units_of(document, SENTENCE))
        self._firsts = sorted({0, *(first for first in begin if first < len(self.tokens))})

    def of(self, span: Span) -> tuple[Piece, ...]:
        """The tokens that a span covers, with parts of its first and last one; () without any.

        An empty span is an empty part of the token at its place.
        """
        if span.start == span.end:
            first = bisect_left(self._ends, span.start)
            is_inside = first < len(self.tokens) and self._starts[first] <= span.start
            last = first + is_inside
        else:
            first = bisect_right(self._ends, span.start)
            last = bisect_left(self._starts, span.end)
        pieces = [
            (at, max(span.start, self._starts[at]), min(span.end, self._ends[at]))
            for at in range(first, last)
        ]
        for piece in pieces:
            if piece[1:] != self.tokens[piece[0]]:
                self._parts.setdefault(piece[0], {})[piece] = None
        return tuple(pieces)

    def sentences(self) -> Iterator[ExportedSentence]:
        """All sentences; text between two belongs to the first of them.

        Line breaks at their ends are left out, as readers put them between sentences. White space
        before the first token is, too: the text of a sentence begins with its first token.
        """
        text, begun = self._text, self._starts[0]
        for first, last in zip(self._firsts, [*self._firsts[1:], len(self.tokens)], strict=True):
            is_last = last == len(self.tokens)
            end = len(text) if is_last else self._starts[last]
            sentence_text = text[begun:end] if is_last else text[begun:end].rstrip("\n")
            pieces = [piece for at in range(first, last) for piece in self._all(at)]
            yield ExportedSentence(
                [f"#Text={_plain(line)}" for line in sentence_text.split("\n")], pieces
            )
            begun = end

    def id(self, piece: Piece) -> str:
        """`sentence-token`, or `sentence-token.part`."""
        at = piece[0]
        sentence = bisect_right(self._firsts, at)
        token = f"{sentence}-{at - self._firsts[sentence - 1] + 1}"
        part = self._all(at).index(piece)
        return f"{token}.{part}" if part else token

    def cells(self, piece: Piece) -> tuple[str, str, str]:
        """The id, the offsets in UTF-16 units, and the text of a token."""
        _at, start, end = piece
        places = f"{self._place(start)}-{self._place(end)}"
        return self.id(piece), places, _plain(self._text[start:end])

    def _all(self, at: int) -> list[Piece]:
        """A token and its parts in order, longer ones first."""
        parts = sorted(self._parts.get(at, ()), key=lambda part: (part[1], -part[2]))
        return [(at, *self.tokens[at]), *parts]

    def _place(self, at: int) -> int:
        return at if self._units is None else self._units[at]


def _plain(text: str) -> str:
    return text.translate(_IN_TEXT)


def _apart(tokens: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without tokens that overlap an earlier one."""
    separate: list[tuple[int, int]] = []
    for start, end in tokens:
        if not separate or separate[-1][1] <= start:
            separate.append((start, end))
    return separate


def _units(text: str) -> list[int] | None:
    """The UTF-16 unit at each code point and at the end; None if both counts are equal."""
    if max(text, default="") <= "\uffff":
        return None
    return [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]


FORMAT = "#FORMAT=WebAnno TSV 3.3"
PREFIX, VALUE = "webanno.custom.", "value"
_NOT_IN_NAMES = re.compile(r"\W+", re.ASCII)


class WebannoExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [
            _(COMMON),
            _(LOOKS),
            *only_spans(layers),
            *links_lost(layers, relations=False, chains=False),
        ]
        names = type_names(layers)
        if named := ", ".join(f"{name} → {type}" for name, type in names.items() if name != type):
            losses.append(_("Layers are named as INCEpTION names them: {named}.", named=named))
        if names:
            message = _(
                "INCEpTION imports the files into a project that has layers with these names and "
                "the feature value: {names}.",
                names=", ".join(names.values()),
            )
            losses.append(message)
        losses.append(_("Boundaries of spans between words are moved to the words."))
        return tuple(losses)

    def shared(self, plan: ExportPlan) -> Iterator[File]:
        return iter(())

    def files(self, record: Record, name: str, plan: ExportPlan) -> Sequence[File]:
        text = TokenPieces(record.document)
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
        return ((f"{name}.tsv", "\n".join(lines)),)  # INCEpTION refuses an empty line at the end


def type_names(layers: Iterable[Layer]) -> dict[str, str]:
    """Layer → its unique name in INCEpTION, which keeps ASCII letters, digits and underscores."""
    names_by_layer: dict[str, str] = {}
    for layer in layers:
        if not (layer.traits.in_text or layer.traits.between_spans):
            continue
        short = _NOT_IN_NAMES.sub("", layer.name)
        short = short[:1].upper() + short[1:]
        if not short[:1].isalpha():
            short = f"Layer{short}"
        name, again = short, 2
        while name in names_by_layer.values():
            name, again = f"{short}{again}", again + 1
        names_by_layer[layer.name] = name
    return names_by_layer


# ---------------------------------------------------------------- columns


class _Column:
    """The cells of a layer. header: its line at the beginning of the file."""

    header = ""

    def cells(self, piece: Piece) -> Sequence[str]:
        """The cells of a token, or of a part of one."""
        raise NotImplementedError


Mention = tuple[Place, int | None]  # a span; mentions at one place differ by their chain


@dataclass(frozen=True)
class _Placed:
    span: Span
    pieces: tuple[Piece, ...]


class _Spans(_Column):
    """Spans, tags, or mentions of chains. `numbers` tells stacked and longer spans apart."""

    def __init__(
        self, layer: Layer, type: str, record: Record, text: TokenPieces, plan: ExportPlan
    ) -> None:
        self.layer, self.type = layer, PREFIX + type
        self.placed: dict[Mention, _Placed] = {}
        self.numbers: dict[Mention, int] = {}
        self._at: dict[Piece, list[Mention]] = {}
        self._links: dict[Mention, str] = {}
        for span in sorted(record.spans.get(layer.name, ()), key=lambda s: (s.start, -s.end)):
            if span.field != TEXT:
                plan.count(in_second_texts)
            elif not (covered := text.of(span)):
                plan.count(_without_word)
            elif _mention(span) not in self.placed:
                plan.count(_moved, (covered[0][1], covered[-1][2]) != (span.start, span.end))
                self.placed[_mention(span)] = _Placed(span, covered)
                for piece in covered:
                    self._at.setdefault(piece, []).append(_mention(span))
        self.by_place = {mention[0]: mention for mention in reversed(self.placed)}
        if layer.traits.in_chains:
            self._links, self.numbers = _links(self.placed)
            self.header = f"#T_CH={self.type}Link|referenceRelation|referenceType"
        else:
            self.header = f"#T_SP={self.type}|{VALUE}"

    def number(self, numbers: Iterator[int]) -> None:
        """Give numbers to spans of several units, and to those that share a unit with others.

        Mentions have the number of their chain.
        """
        if self.layer.traits.in_chains:
            return
        shared = {item for mentions in self._at.values() if len(mentions) > 1 for item in mentions}
        for mention, entry in self.placed.items():
            if mention in shared or len(entry.pieces) > 1:
                self.numbers[mention] = next(numbers)

    def cells(self, piece: Piece) -> Sequence[str]:
        mentions = self._at.get(piece, ())
        values = []
        for mention in mentions:
            number = self.numbers.get(mention)
            label = escaped(self.placed[mention].span.label)
            values.append(f"{label}[{number}]" if number else label)
        value = "|".join(values) or NONE
        if not self.layer.traits.in_chains:
            return (value,)
        return "|".join(self._links[mention] for mention in mentions) or NONE, value


def _mention(span: Span) -> Mention:
    return span.place, span.chain


def _links(mentions: Iterable[Mention]) -> tuple[dict[Mention, str], dict[Mention, int]]:
    """The cell of each mention, with its number in its chain, and the number of the chain; without
    a chain, one of its own.
    """
    chains: dict[object, int] = {}
    sizes: dict[int, int] = {}
    cells, numbers = {}, {}
    for place, number in mentions:
        chain = numbers[place, number] = chains.setdefault(
            place if number is None else number, len(chains) + 1
        )
        sizes[chain] = sizes.get(chain, 0) + 1
        cells[place, number] = f"*->{chain}-{sizes[chain]}"
    return cells, numbers


class _Relations(_Column):
    """A relation is in the line where its target begins, with the unit where its source begins."""

    def __init__(
        self,
        layer: Layer,
        type: str,
        of: _Spans,
        record: Record,
        text: TokenPieces,
        plan: ExportPlan,
    ) -> None:
        self.header = f"#T_RL={PREFIX}{type}|{VALUE}|BT_{of.type}"
        self._at: dict[Piece, list[tuple[str, str]]] = {}
        for relation in record.relations.get(layer.name, ()):
            first = of.by_place.get(relation.from_span.place)
            second = of.by_place.get(relation.to_span.place)
            if first is None or second is None:
                plan.count(_without_ends)
                continue
            ends = of.numbers.get(first, 0), of.numbers.get(second, 0)
            source = text.id(of.placed[first].pieces[0])
            source += f"[{ends[0]}_{ends[1]}]" if any(ends) else ""
            target = of.placed[second].pieces[0]
            self._at.setdefault(target, []).append((escaped(relation.label), source))

    def cells(self, piece: Piece) -> Sequence[str]:
        rows = self._at.get(piece, ())
        return tuple("|".join(values) for values in zip(*rows, strict=True)) or (NONE, NONE)


def _without_word(n: int) -> str:
    return ngettext(
        "{n} span without a word was omitted.",
        "{n} spans without a word were omitted.",
        n,
    )


def _moved(n: int) -> str:
    return ngettext(
        "{n} span begins or ends between words and was moved to them.",
        "{n} spans begin or end between words and were moved to them.",
        n,
    )


def _without_ends(n: int) -> str:
    return ngettext(
        "{n} relation of omitted spans, or of spans in another layer, was omitted.",
        "{n} relations of omitted spans, or of spans in another layer, were omitted.",
        n,
    )
