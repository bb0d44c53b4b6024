"""Coreference in the columns of CoNLL-2012: chains as brackets in the last column.

A document is between "#begin document" and "#end document", a blank line ends a sentence. The
words are joined by spaces, sentences by line breaks; other columns are not read. Source: Pradhan et
al. 2012, "CoNLL-2012 shared task", section 3.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    show,
)
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLUSTER
from workbench.text.spans import Span

LABEL = "mention"
_BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part (\d+))?\s*$")
_CHAIN_PART = re.compile(r"(\()?(\d+)(\))?$")
_WORD, _MIN_COLUMNS = 3, 5  # column of the word; number of columns


class Conll2012Importer:
    def sniff(self, head: str, name: str) -> Guess:
        if head.lstrip("\ufeff \t\r\n").startswith("#begin document"):
            return Guess(0.99, _("documents with brackets of coreference, as in CoNLL-2012"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = []
        for number, line in enumerate(source.lines(), 1):
            cells = line.split()
            if len(cells) >= _MIN_COLUMNS and not line.startswith("#"):
                rows.append(TableRow(number, (cells[_WORD], cells[-1])))
            if len(rows) == limit:
                break
        why = _("words and chains of coreferent spans; other columns are not imported")
        return Table((_("word"), _("chain")), tuple(rows), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the columns of CoNLL-2012 are fixed.", file=source.name),
                hint=_("Leave --map out."),
            )
        yield Hint(options.chain_layer, CLUSTER)
        reading: _Reading | None = None
        for number, line in enumerate(source.lines(), 1):
            if match := _BEGIN.match(line):
                reading = _Reading(number, _key(*match.groups()))
            elif line.startswith("#end document"):
                if reading is not None:
                    yield reading.ended(options.chain_layer)
                reading = None
            elif reading is not None:
                reading.take(number, line)
        if reading is not None:
            yield Skipped(reading.line, _("the document has no “#end document”"))


def _key(name: str, part: str | None) -> str:
    return f"{name}#{int(part)}" if part and int(part) else name


class _Reading:
    """The document that is being read. `fault`: why it is skipped, None as long as it is right."""

    def __init__(self, line: int, key: str) -> None:
        self.line, self.key = line, key
        self.fault: tuple[int, str] | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._tokens: list[tuple[int, int]] = []
        self._open: dict[int, list[int]] = {}  # chain → starts of spans that are not closed yet
        self._spans: list[Span] = []

    def take(self, number: int, line: str) -> None:
        if self.fault is not None:
            return
        try:
            self._take(line)
        except Fault as fault:
            self.fault = number, str(fault)

    def _take(self, line: str) -> None:
        if not line.strip():
            if self._pieces and self._pieces[-1] != "\n":
                self._put("\n")
            return
        cells = line.split()
        if len(cells) < _MIN_COLUMNS:
            raise Fault(
                ngettext(
                    "{line} has {n} column, expected at least {least}",
                    "{line} has {n} columns, expected at least {least}",
                    len(cells),
                    line=show(line),
                    least=_MIN_COLUMNS,
                )
            )
        if self._pieces and self._pieces[-1] != "\n":
            self._put(" ")
        start = self._length
        self._put(cells[_WORD])
        self._tokens.append((start, self._length))
        for piece in () if cells[-1] in ("-", "_", "*") else cells[-1].split("|"):
            self._bracket(piece, start)

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _bracket(self, piece: str, start: int) -> None:
        match = _CHAIN_PART.match(piece)
        if not match or not (match[1] or match[3]):
            raise Fault(
                _(
                    "the last column has {piece}, expected brackets such as (12, 12) or -",
                    piece=show(piece),
                )
            )
        chain = int(match[2])
        if match[1]:
            self._open.setdefault(chain, []).append(start)
        if match[3]:
            if not self._open.get(chain):
                raise Fault(_("a span of chain {chain} ends but does not start", chain=chain))
            first = self._open[chain].pop()
            self._spans.append(Span(first, self._length, LABEL, chain=chain + 1))

    def ended(self, layer: str) -> Item:
        if unclosed := [chain for chain, starts in self._open.items() if starts]:
            message = _("a span of chain {chain} does not end", chain=unclosed[0])
            self.fault = self.fault or (self.line, message)
        if self.fault is not None:
            return Skipped(*self.fault)
        text = "".join(self._pieces).rstrip("\n")
        record = Record(
            Document(self.key, ((TEXT, text),), tokens={TEXT: tuple(self._tokens)}),
            {layer: "submitted"},
            {},
            {layer: tuple(dict.fromkeys(self._spans))},
        )
        try:
            check(record)
        except Fault as fault:
            return Skipped(self.line, str(fault))
        return Row(self.line, record)
