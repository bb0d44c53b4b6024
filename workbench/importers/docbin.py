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
from workbench.importers import binary, messagepack
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
from workbench.importers.docbin_symbols import SYMBOLS
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.joining import join
from workbench.text.labels import MULTI
from workbench.text.spans import Span

_NUMBER = {name: number for number, name in enumerate(SYMBOLS, 1)}
_ORTH, _IOB, _TYPE = (_NUMBER[name] for name in ("ORTH", "ENT_IOB", "ENT_TYPE"))
_LEFT_OUT = tuple((_NUMBER[name], name) for name in ("POS", "TAG", "LEMMA", "MORPH", "DEP"))
_INSIDE, _BEGIN = 1, 3  # values of ENT_IOB; 2 is outside, 0 a token without annotation
_MOST_BYTES = 1 << 31  # of an unpacked file
_MASK = (1 << 64) - 1


class DocBinImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if binary.is_docbin(head.encode("latin-1", "replace")):
            return Guess(0.99, _("documents of spaCy (DocBin)"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        docs, rows = _Docs.of(source), list[TableRow]()
        for number in range(docs.count):
            try:
                record = docs.record(number, options)
            except Fault:
                continue
            spans = [span for found in record.spans.values() for span in found]
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
                _("{file}: documents of spaCy have no columns.").format(file=source.name),
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
            message = _("{name}: not imported: {kinds}.")
            yield Remark(message.format(name=source.name, kinds=", ".join(left)))


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
                _("{name} cannot be read as a DocBin of spaCy: {error}.").format(
                    name=source.name, error=str(error).rstrip(".")
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
        for name, found in self._groups(number, tokens).items():
            spans[name] = unique_spans([*spans.get(name, ()), *found])
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
        if 0 < id <= len(SYMBOLS):
            return SYMBOLS[id - 1]
        raise Fault(_("the file does not list the string with the hash {id}").format(id=id))

    def _entities(self, number: int, tokens: Sequence[tuple[int, int]]) -> tuple[Span, ...] | None:
        """None if no token of the document is annotated."""
        inside, types = self._column(number, _IOB), self._column(number, _TYPE)
        if not any(inside) or not types:
            return None
        found, first = list[Span](), -1
        for n, (iob, type) in enumerate(zip(inside, types, strict=True)):
            if iob == _INSIDE and first >= 0 and types[first] == type:
                continue
            if first >= 0:
                found.append(self._span(tokens, first, n, types[first]))
            first = n if iob in (_BEGIN, _INSIDE) and type else -1
        if first >= 0:
            found.append(self._span(tokens, first, len(tokens), types[first]))
        return tuple(found)

    def _span(self, tokens: Sequence[tuple[int, int]], first: int, end: int, label: int) -> Span:
        return Span(tokens[first][0], tokens[end - 1][1], label_name(self._string(label)))

    def _groups(
        self, number: int, tokens: Sequence[tuple[int, int]]
    ) -> dict[str, tuple[Span, ...]]:
        """Name of a group → its spans."""
        raw = self.groups[number] if number < len(self.groups) else b""
        found: dict[str, tuple[Span, ...]] = {}
        try:
            groups = messagepack.read(raw) if raw else {}
            named = groups.items() if isinstance(groups, Mapping) else [(g, ()) for g in groups]
            for content, names in named:
                group = messagepack.read(content)
                spans = tuple(self._of_group(item, tokens) for item in group["spans"])
                for name in names or (group["name"],):
                    found[str(name)] = spans
        except (ValueError, TypeError, KeyError, struct.error) as error:
            message = _("the groups of spans cannot be read: {error}")
            raise Fault(message.format(error=error)) from None
        return found

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
    found = unpack.decompress(content, _MOST_BYTES)
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError(_("its content is incomplete, or larger than 2 GB"))
    return found


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
