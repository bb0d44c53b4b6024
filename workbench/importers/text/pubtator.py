"""PubTator: titles and abstracts with annotated concepts and relations between them.

    12345|t|A title
    12345|a|An abstract
    12345	2	7	title	Disease	D001234
    12345	CID	D001234	C005678

Offsets count from the title on, with one character between title and abstract. Relations connect
concepts; they are imported between the first mentions of both.
Source: Wei, Allot, Leaman and Lu 2019, and the corpora BC5CDR and BioRED.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
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
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.relations import Relation
from workbench.text.spans import Span

_TEXT = re.compile(r"([^\s|]{1,60})\|([ta])\|(.*)", re.S)
_IDS = re.compile(r"[|;,+]")
_EMPTY = ("", "-", "-1")


@dataclass
class _Block:
    """The lines of a document: (line, content)."""

    line: int
    key: str = ""
    texts: dict[str, str] = field(default_factory=dict)  # t, a → text
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.texts[name] for name in "ta" if self.texts.get(name))


class PubtatorImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if _opens(head):
            return Guess(0.98, _("titles and abstracts with annotations, as of PubTator"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = list[TableRow]()
        for block in _blocks(source):
            for line, cells in block.rows:
                rows.append(TableRow(line, (*cells[:6], *[""] * (6 - len(cells)))))
            if not block.rows:
                rows.append(TableRow(block.line, (block.key, "", "", block.text, "", "")))
            if len(rows) >= limit:
                break
        columns = _("document"), _("start"), _("end"), _("text"), _("label"), _("concept")
        return Table(columns, tuple(rows[:limit]), (), _("titles and abstracts with annotations"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: annotations of PubTator have no columns.", file=source.name),
                hint=_("Leave --map out."),
            )
        offsets, concepts, relations, lost = Offsets(), 0, 0, 0
        labelled = any(block.rows for block in _blocks(source))
        for block in _blocks(source):
            try:
                reading = _Reading(block, options, offsets)
                record = reading.record(labelled)
                check(record)
                yield Row(block.line, record)
            except Fault as fault:
                yield Skipped(block.line, str(fault))
                continue
            concepts += reading.concepts
            relations += sum(map(len, record.relations.values()))
            lost += reading.lost
        yield from (Remark(message) for message in offsets.remarks(source.name))
        if concepts:
            message = ngettext(
                "{file}: the concept of {n:,} span was not imported, only its type.",
                "{file}: the concepts of {n:,} spans were not imported, only their types.",
                concepts,
            )
            yield Remark(message.format(file=source.name, n=concepts))
        if relations:
            message = ngettext(
                "{file}: {n:,} relation between concepts connects their first mentions.",
                "{file}: {n:,} relations between concepts connect their first mentions.",
                relations,
            )
            yield Remark(message.format(file=source.name, n=relations))
        if lost:
            message = ngettext(
                "{file}: {n:,} relation was not imported, as its concepts have no mentions.",
                "{file}: {n:,} relations were not imported, as their concepts have no mentions.",
                lost,
            )
            yield Remark(message.format(file=source.name, n=lost))


def _opens(head: str) -> bool:
    """Whether the first lines are a title or an abstract, and more of the same document."""
    first, _end, rest = head.lstrip("\ufeff \r\n").partition("\n")
    match = _TEXT.match(first)
    following = rest.partition("\n")[0].rstrip("\r")
    return match is not None and (
        not following or following.startswith((f"{match[1]}|a|", f"{match[1]}\t"))
    )


def _blocks(source: Source) -> Iterator[_Block]:
    """The documents; a blank line or the title of another one begins the next."""
    block: _Block | None = None
    for number, line in enumerate(source.lines(), 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        if not line.strip():
            if block is not None:
                yield block
            block = None
            continue
        match = _TEXT.match(line)
        if block is not None and match and match[2] in block.texts:
            yield block
            block = None
        block = block or _Block(number)
        try:
            _take(block, number, line, match)
        except Fault as fault:
            block.fault = block.fault or fault
    if block is not None and not (source.cut and source.scan is not None):
        yield block


def _take(block: _Block, number: int, line: str, match: re.Match[str] | None) -> None:
    """Raises Fault."""
    if match:
        block.key = block.key or match[1]
        block.texts[match[2]] = match[3]
        return
    cells = line.split("\t")
    if len(cells) < 4 or not block.texts:
        message = _("line {line}: {content} is neither a title, an abstract, nor an annotation")
        raise Fault(message.format(line=number, content=show(line)))
    if cells[0] != block.key:
        message = _("line {line} belongs to the document {key}, expected {wanted}")
        raise Fault(message.format(line=number, key=show(cells[0]), wanted=show(block.key)))
    block.rows.append((number, cells))


class _Reading:
    """The annotations of a document. concepts: spans with one. lost: relations without spans."""

    def __init__(self, block: _Block, options: Options, offsets: Offsets) -> None:
        if block.fault is not None:
            raise block.fault
        self._block, self._options, self._offsets = block, options, offsets
        self._mentions: dict[str, Span] = {}  # concept → its first mention
        self.concepts = self.lost = 0

    def record(self, labelled: bool) -> Record:
        """labelled: the file has annotations, so that none means that there are none."""
        block, options = self._block, self._options
        text, spans, linked = block.text, list[Span](), list[Relation]()
        mentions = [(line, row) for line, row in block.rows if row[1].lstrip("-").isdecimal()]
        quotes = [_quote(line, row) for line, row in mentions]
        counting = self._counting(text, quotes, mentions)
        for (_line, row), quote in zip(mentions, quotes, strict=True):
            spans.append(self._span(row, counting.span(*quote.parts[0])))
        for line, row in block.rows:
            if (line, row) not in mentions:
                linked += self._relation(row)
        layers = {options.span_layer: unique_spans(spans)} if labelled else {}
        relations = {options.relation_layer: tuple(dict.fromkeys(linked))} if linked else {}
        states = dict.fromkeys((*layers, *relations), "submitted")
        document = Document(block.key, ((TEXT, text),))
        return Record(document, states, {}, layers, relations=relations)

    def _counting(
        self, text: str, quotes: list[Quote], mentions: list[tuple[int, list[str]]]
    ) -> Counting:
        """How offsets are counted. Raises Fault with the line of the first that does not fit."""
        try:
            return self._offsets.counting(text, quotes, fixed=True, mark=False)
        except Fault:
            for quote, (line, _row) in zip(quotes, mentions, strict=True):
                try:
                    Offsets().counting(text, [quote], fixed=True)
                except Fault as fault:
                    message = _("line {line}: {reason}")
                    raise Fault(message.format(line=line, reason=fault)) from None
            raise

    def _span(self, row: list[str], place: tuple[int, int]) -> Span:
        span = Span(*place, label_name(row[4]))
        ids = [id.strip() for id in _IDS.split(row[5])] if len(row) > 5 else []
        ids = [id for id in ids if id not in _EMPTY]
        self.concepts += bool(ids)
        for id in ids:
            self._mentions.setdefault(id, span)
        return span

    def _relation(self, row: list[str]) -> list[Relation]:
        """`CID, D1, D2`; the concepts of PubTator 3 follow their types: `Disease|D1`."""
        ends = [self._mentions.get(id, self._mentions.get(_after(id))) for id in row[2:4]]
        if None in ends or len(ends) < 2:
            self.lost += 1
            return []
        first, second = (end for end in ends if end is not None)
        return [Relation(label_name(row[1]), first, second)]


def _quote(line: int, row: list[str]) -> Quote:
    """The place of an annotation. Raises Fault."""
    if len(row) < 5 or not row[2].lstrip("-").isdecimal() or len(row[1] + row[2]) > 18:
        message = _("line {line}: expected start, end, text, and type, found {content}")
        raise Fault(message.format(line=line, content=show("\t".join(row))))
    return Quote(((int(row[1]), int(row[2])),), row[3])


def _after(id: str) -> str:
    return id.rpartition("|")[2]
