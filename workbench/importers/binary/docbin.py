"""spaCy's `DocBin` (.spacy): documents with entities, groups of spans and categories.

Read without spaCy: a map of MessagePack, compressed with zlib, has a table of 64-bit numbers with
a row for each token. A number stands for a string that the file lists: its hash, or its place in
the symbols of spaCy.
Sources: `spacy.tokens.DocBin`, `SpanGroup.to_bytes` and `spacy.strings` of spaCy 3; MurmurHash64A
by Austin Appleby (public domain).
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import signatures
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
    is_number,
    label_name,
    show,
    unique_spans,
)
from workbench.importers.binary import messagepack
from workbench.importers.joining import join
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import MULTI
from workbench.text.spans import Span

# Strings that spaCy numbers instead of hashing them, in the order of their numbers from 1.
# Source: `spacy.symbols.NAMES` of spaCy 3.8.
_SYMBOLS = tuple(
    """
    IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM
    LIKE_EMAIL IS_STOP IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT
    IS_CURRENCY FLAG19 FLAG20 FLAG21 FLAG22 FLAG23 FLAG24 FLAG25 FLAG26 FLAG27 FLAG28 FLAG29 FLAG30
    FLAG31 FLAG32 FLAG33 FLAG34 FLAG35 FLAG36 FLAG37 FLAG38 FLAG39 FLAG40 FLAG41 FLAG42 FLAG43
    FLAG44 FLAG45 FLAG46 FLAG47 FLAG48 FLAG49 FLAG50 FLAG51 FLAG52 FLAG53 FLAG54 FLAG55 FLAG56
    FLAG57 FLAG58 FLAG59 FLAG60 FLAG61 FLAG62 FLAG63 ID ORTH LOWER NORM SHAPE PREFIX SUFFIX LENGTH
    CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START SPACY PROB LANG ADJ ADP ADV AUX CONJ
    CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL SPACE DEPRECATED001
    DEPRECATED002 DEPRECATED003 DEPRECATED004 DEPRECATED005 DEPRECATED006 DEPRECATED007
    DEPRECATED008 DEPRECATED009 DEPRECATED010 DEPRECATED011 DEPRECATED012 DEPRECATED013
    DEPRECATED014 DEPRECATED015 DEPRECATED016 DEPRECATED017 DEPRECATED018 DEPRECATED019
    DEPRECATED020 DEPRECATED021 DEPRECATED022 DEPRECATED023 DEPRECATED024 DEPRECATED025
    DEPRECATED026 DEPRECATED027 DEPRECATED028 DEPRECATED029 DEPRECATED030 DEPRECATED031
    DEPRECATED032 DEPRECATED033 DEPRECATED034 DEPRECATED035 DEPRECATED036 DEPRECATED037
    DEPRECATED038 DEPRECATED039 DEPRECATED040 DEPRECATED041 DEPRECATED042 DEPRECATED043
    DEPRECATED044 DEPRECATED045 DEPRECATED046 DEPRECATED047 DEPRECATED048 DEPRECATED049
    DEPRECATED050 DEPRECATED051 DEPRECATED052 DEPRECATED053 DEPRECATED054 DEPRECATED055
    DEPRECATED056 DEPRECATED057 DEPRECATED058 DEPRECATED059 DEPRECATED060 DEPRECATED061
    DEPRECATED062 DEPRECATED063 DEPRECATED064 DEPRECATED065 DEPRECATED066 DEPRECATED067
    DEPRECATED068 DEPRECATED069 DEPRECATED070 DEPRECATED071 DEPRECATED072 DEPRECATED073
    DEPRECATED074 DEPRECATED075 DEPRECATED076 DEPRECATED077 DEPRECATED078 DEPRECATED079
    DEPRECATED080 DEPRECATED081 DEPRECATED082 DEPRECATED083 DEPRECATED084 DEPRECATED085
    DEPRECATED086 DEPRECATED087 DEPRECATED088 DEPRECATED089 DEPRECATED090 DEPRECATED091
    DEPRECATED092 DEPRECATED093 DEPRECATED094 DEPRECATED095 DEPRECATED096 DEPRECATED097
    DEPRECATED098 DEPRECATED099 DEPRECATED100 DEPRECATED101 DEPRECATED102 DEPRECATED103
    DEPRECATED104 DEPRECATED105 DEPRECATED106 DEPRECATED107 DEPRECATED108 DEPRECATED109
    DEPRECATED110 DEPRECATED111 DEPRECATED112 DEPRECATED113 DEPRECATED114 DEPRECATED115
    DEPRECATED116 DEPRECATED117 DEPRECATED118 DEPRECATED119 DEPRECATED120 DEPRECATED121
    DEPRECATED122 DEPRECATED123 DEPRECATED124 DEPRECATED125 DEPRECATED126 DEPRECATED127
    DEPRECATED128 DEPRECATED129 DEPRECATED130 DEPRECATED131 DEPRECATED132 DEPRECATED133
    DEPRECATED134 DEPRECATED135 DEPRECATED136 DEPRECATED137 DEPRECATED138 DEPRECATED139
    DEPRECATED140 DEPRECATED141 DEPRECATED142 DEPRECATED143 DEPRECATED144 DEPRECATED145
    DEPRECATED146 DEPRECATED147 DEPRECATED148 DEPRECATED149 DEPRECATED150 DEPRECATED151
    DEPRECATED152 DEPRECATED153 DEPRECATED154 DEPRECATED155 DEPRECATED156 DEPRECATED157
    DEPRECATED158 DEPRECATED159 DEPRECATED160 DEPRECATED161 DEPRECATED162 DEPRECATED163
    DEPRECATED164 DEPRECATED165 DEPRECATED166 DEPRECATED167 DEPRECATED168 DEPRECATED169
    DEPRECATED170 DEPRECATED171 DEPRECATED172 DEPRECATED173 DEPRECATED174 DEPRECATED175
    DEPRECATED176 DEPRECATED177 DEPRECATED178 DEPRECATED179 DEPRECATED180 DEPRECATED181
    DEPRECATED182 DEPRECATED183 DEPRECATED184 DEPRECATED185 DEPRECATED186 DEPRECATED187
    DEPRECATED188 DEPRECATED189 DEPRECATED190 DEPRECATED191 DEPRECATED192 DEPRECATED193
    DEPRECATED194 DEPRECATED195 DEPRECATED196 DEPRECATED197 DEPRECATED198 DEPRECATED199
    DEPRECATED200 DEPRECATED201 DEPRECATED202 DEPRECATED203 DEPRECATED204 DEPRECATED205
    DEPRECATED206 DEPRECATED207 DEPRECATED208 DEPRECATED209 DEPRECATED210 DEPRECATED211
    DEPRECATED212 DEPRECATED213 DEPRECATED214 DEPRECATED215 DEPRECATED216 DEPRECATED217
    DEPRECATED218 DEPRECATED219 DEPRECATED220 DEPRECATED221 DEPRECATED222 DEPRECATED223
    DEPRECATED224 DEPRECATED225 DEPRECATED226 DEPRECATED227 DEPRECATED228 DEPRECATED229
    DEPRECATED230 DEPRECATED231 DEPRECATED232 DEPRECATED233 DEPRECATED234 DEPRECATED235
    DEPRECATED236 DEPRECATED237 DEPRECATED238 DEPRECATED239 DEPRECATED240 DEPRECATED241
    DEPRECATED242 DEPRECATED243 DEPRECATED244 DEPRECATED245 DEPRECATED246 DEPRECATED247
    DEPRECATED248 DEPRECATED249 DEPRECATED250 DEPRECATED251 DEPRECATED252 DEPRECATED253
    DEPRECATED254 DEPRECATED255 DEPRECATED256 DEPRECATED257 DEPRECATED258 DEPRECATED259
    DEPRECATED260 DEPRECATED261 DEPRECATED262 DEPRECATED263 DEPRECATED264 DEPRECATED265
    DEPRECATED266 DEPRECATED267 DEPRECATED268 DEPRECATED269 DEPRECATED270 DEPRECATED271
    DEPRECATED272 DEPRECATED273 DEPRECATED274 DEPRECATED275 DEPRECATED276 PERSON NORP FACILITY ORG
    GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL
    acomp advcl advmod agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass
    dep det dobj expl hmod hyph infmod intj iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num
    number oprd obj obl parataxis partmod pcomp pobj poss possessive preconj prep prt punct quantmod
    relcl rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _
    """.split()
)


_NUMBER = {name: number for number, name in enumerate(_SYMBOLS, 1)}
_ORTH, _IOB, _TYPE = (_NUMBER[name] for name in ("ORTH", "ENT_IOB", "ENT_TYPE"))
_LEFT_OUT = tuple((_NUMBER[name], name) for name in ("POS", "TAG", "LEMMA", "MORPH", "DEP"))
_INSIDE, _BEGIN = 1, 3  # values of ENT_IOB; 2 is outside, 0 a token without annotation
_MAX_BYTES = 1 << 31  # of an unpacked file
_MASK = (1 << 64) - 1


class DocBinImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if signatures.is_docbin(head.encode("latin-1", "replace")):
            return Guess(0.99, _("documents of spaCy (DocBin)"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        docs, rows = _Docs.of(source), list[TableRow]()
        for number in range(docs.count):
            try:
                record = docs.record(number, options)
            except Fault:
                continue
            spans = [span for layer_spans in record.spans.values() for span in layer_spans]
            text = record.document.text
            labels = ", ".join(f"{text[span.start : span.end]} ({span.label})" for span in spans)
            classes = ", ".join(record.marks.get(options.class_layer, ()))
            rows.append(TableRow(number + 1, (text, labels, classes)))
            if len(rows) == limit:
                break
        columns = _("text"), _("spans"), _("classes")
        return Table(columns, tuple(rows), (), _("documents of spaCy (DocBin)"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: documents of spaCy have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        docs = _Docs.of(source)
        if docs.several:
            yield Hint(options.class_layer, MULTI)
        for number in range(docs.count):
            try:
                record = docs.record(number, options)
                check(record)
                yield Row(number + 1, record)
            except Fault as fault:
                yield Skipped(number + 1, str(fault))
        if left := docs.left_out:
            message = _("{name}: not imported: {kinds}.", name=source.name, kinds=", ".join(left))
            yield Remark(message)


@dataclass(frozen=True)
class _Docs:
    """The parts of a file. table: a row of `attrs` for each token of all documents."""

    attrs: tuple[int, ...]
    table: Sequence[int]
    spaces: bytes
    starts: tuple[int, ...]
    strings: Mapping[int, str]
    cats: Sequence[Any]
    flags: Sequence[Any]
    groups: Sequence[Any]

    @classmethod
    def of(cls, source: Source) -> _Docs:
        """Raises ImportFailed."""
        try:
            raw = messagepack.read(_unpacked(source.path.read_bytes()))
            return cls._of(raw)
        except (zlib.error, ValueError, TypeError, KeyError, OverflowError) as error:
            raise ImportFailed(
                _(
                    "{name} cannot be read as a DocBin of spaCy: {error}.",
                    name=source.name,
                    error=str(error).rstrip("."),
                ),
                hint=_("The file may be incomplete; write it again with DocBin.to_disk."),
            ) from error

    @classmethod
    def _of(cls, raw: Any) -> _Docs:
        attrs = tuple(map(int, raw["attrs"]))
        table, lengths = array("Q"), array("i")
        table.frombytes(raw["tokens"])
        lengths.frombytes(raw["lengths"])
        starts = [0]
        for length in lengths:
            starts.append(starts[-1] + length)
        spaces = bytes(raw["spaces"])
        if min(lengths, default=0) < 0 or len(table) != starts[-1] * len(attrs):
            raise ValueError(_("the number of tokens is not that of its table"))
        if len(spaces) != starts[-1] or _ORTH not in attrs:
            raise ValueError(_("the words or the spaces after them are missing"))
        strings = {_id(text): text for text in map(str, raw["strings"])}
        parts = (tuple(raw.get(name) or ()) for name in ("cats", "flags", "span_groups"))
        return cls(attrs, table, spaces, tuple(starts), strings, *parts)

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def several(self) -> bool:
        """Whether documents have another number of classes than one."""
        numbers = {
            sum(is_number(score) and score >= 0.5 for score in cats.values())
            for cats in self.cats
            if isinstance(cats, Mapping) and cats
        }
        return bool(numbers - {1})

    @property
    def left_out(self) -> list[str]:
        """Names of the attributes with values that are not imported."""
        width = len(self.attrs)
        return [
            name
            for number, name in _LEFT_OUT
            if number in self.attrs and any(self.table[self.attrs.index(number) :: width])
        ]

    def record(self, number: int, options: Options) -> Record:
        """Raises Fault."""
        text, tokens = self._words(number)
        spans: dict[str, tuple[Span, ...]] = {}
        if (entities := self._entities(number, tokens)) is not None:
            spans[options.span_layer] = entities
        for name, group_spans in self._groups(number, tokens).items():
            spans[name] = unique_spans([*spans.get(name, ()), *group_spans])
        marks = self._classes(number)
        layers = {options.class_layer: marks} if marks is not None else {}
        document = Document("", ((TEXT, text),), tokens={TEXT: tokens})
        return Record(document, dict.fromkeys((*layers, *spans), "submitted"), layers, spans)

    def _column(self, number: int, attr: int) -> Sequence[int]:
        """The values of an attribute for the tokens of a document; () if there are none."""
        if attr not in self.attrs:
            return ()
        width, first, last = len(self.attrs), self.starts[number], self.starts[number + 1]
        return self.table[first * width + self.attrs.index(attr) : last * width : width]

    def _words(self, number: int) -> tuple[str, tuple[tuple[int, int], ...]]:
        words = [self._string(id) for id in self._column(number, _ORTH)]
        flags = self.flags[number] if number < len(self.flags) else {}
        if isinstance(flags, Mapping) and flags.get("has_unknown_spaces") and all(words):
            return join(words)
        spaces = self.spaces[self.starts[number] : self.starts[number + 1]]
        text, offsets = "", list[tuple[int, int]]()
        for word, space in zip(words, spaces, strict=True):
            offsets.append((len(text), len(text) + len(word)))
            text += word + (" " if space else "")
        return text, tuple(offsets)

    def _string(self, id: int) -> str:
        """Raises Fault for a number that stands for no string of the file."""
        if id in self.strings:
            return self.strings[id]
        if 0 < id <= len(_SYMBOLS):
            return _SYMBOLS[id - 1]
        raise Fault(_("the file does not list the string with the hash {id}", id=id))

    def _entities(self, number: int, tokens: Sequence[tuple[int, int]]) -> tuple[Span, ...] | None:
        """None if no token of the document is annotated."""
        inside, types = self._column(number, _IOB), self._column(number, _TYPE)
        if not any(inside) or not types:
            return None
        spans, first = list[Span](), -1
        for n, (iob, type) in enumerate(zip(inside, types, strict=True)):
            if iob == _INSIDE and first >= 0 and types[first] == type:
                continue
            if first >= 0:
                spans.append(self._span(tokens, first, n, types[first]))
            first = n if iob in (_BEGIN, _INSIDE) and type else -1
        if first >= 0:
            spans.append(self._span(tokens, first, len(tokens), types[first]))
        return tuple(spans)

    def _span(self, tokens: Sequence[tuple[int, int]], first: int, end: int, label: int) -> Span:
        return Span(tokens[first][0], tokens[end - 1][1], label_name(self._string(label)))

    def _groups(
        self, number: int, tokens: Sequence[tuple[int, int]]
    ) -> dict[str, tuple[Span, ...]]:
        """Name of a group → its spans."""
        raw = self.groups[number] if number < len(self.groups) else b""
        spans_by_group: dict[str, tuple[Span, ...]] = {}
        try:
            groups = messagepack.read(raw) if raw else {}
            named = groups.items() if isinstance(groups, Mapping) else [(g, ()) for g in groups]
            for content, names in named:
                group = messagepack.read(content)
                spans = tuple(self._of_group(item, tokens) for item in group["spans"])
                for name in names or (group["name"],):
                    spans_by_group[str(name)] = spans
        except (ValueError, TypeError, KeyError, struct.error) as error:
            message = _("the groups of spans cannot be read: {error}")
            raise Fault(message.format(error=error)) from None
        return spans_by_group

    def _of_group(self, item: bytes, tokens: Sequence[tuple[int, int]]) -> Span:
        """A span of a group: numbers of 8 bytes, the last of them its label, and its place."""
        label, first, end = struct.unpack(">Qll", item[-24:-8])
        if not 0 <= first < end <= len(tokens):
            message = _("the span of the tokens {start}–{end} is not within the tokens (0–{count})")
            raise Fault(message.format(start=first, end=end, count=len(tokens)))
        return self._span(tokens, first, end, label)

    def _classes(self, number: int) -> tuple[str, ...] | None:
        """None for a document without categories, or without the one that it should have."""
        cats = self.cats[number] if number < len(self.cats) else None
        if not isinstance(cats, Mapping) or not cats:
            return None
        for name, score in cats.items():
            if not is_number(score) and not isinstance(score, bool):
                message = _("the score of the class {name} is {value}, expected a number")
                raise Fault(message.format(name=show(name), value=show(score)))
        return tuple(label_name(name) for name, score in cats.items() if score >= 0.5)


def _unpacked(content: bytes) -> bytes:
    unpack = zlib.decompressobj()
    data = unpack.decompress(content, _MAX_BYTES)
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError(_("its content is incomplete, or larger than 2 GB"))
    return data


def _id(text: str) -> int:
    """The number that spaCy gives a string."""
    return _NUMBER.get(text) or (hashed(text.encode("utf-8", "surrogatepass")) if text else 0)


def hashed(content: bytes, seed: int = 1) -> int:
    """MurmurHash64A of the bytes."""
    factor = 0xC6A4A7935BD1E995
    value = seed ^ (len(content) * factor & _MASK)
    whole = len(content) & ~7
    for (part,) in struct.iter_unpack("<Q", content[:whole]):
        part = part * factor & _MASK
        part = (part ^ part >> 47) * factor & _MASK
        value = (value ^ part) * factor & _MASK
    if rest := content[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * factor & _MASK
    value = (value ^ value >> 47) * factor & _MASK
    return value ^ value >> 47
