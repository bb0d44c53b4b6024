"""CSV and TSV with one token per row, as in many data sets of Kaggle: Sentence #, Word, POS, Tag.

The number of a sentence may be only on its first row; without such a column, blank rows separate
sentences. The rows are read as lines of CoNLL.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import conll, conll_columns
from workbench.importers.base import Fault, Guess, Item, Options, Table
from workbench.importers.converted import Converted
from workbench.importers.source import HEAD, Source
from workbench.importers.table_cells import list_of
from workbench.importers.table_form import guess_delimiter, is_quoted
from workbench.importers.table_rows import lift_limit, read_rows

_SENTENCE = frozenset("sentence sentences sent sentence_id sentence_no sentence_nr sentence_number "
                      "sentence_idx sent_id sent_no sentenceid sid".split())  # fmt: skip
_WORD = frozenset("word words token tokens form".split())
_TAG = frozenset("tag tags ner ner_tag ner_tags iob bio entity label labels pos upos".split())
_POS = frozenset("pos upos xpos pos_tag pos_tags".split())
_NUMBER = re.compile(r"\D{0,12}\d+(?:\.0)?\D{0,2}")  # of a sentence: "Sentence: 12", "12.0"
_SAMPLE = 200  # rows
POS_LAYER = "pos"


@dataclass(frozen=True)
class _Columns:
    """Names of the columns; the place of the tokens, and of the numbers of the sentences."""

    delimiter: str
    quoted: bool
    names: tuple[str, ...]
    word: int
    sentence: int | None

    @classmethod
    def of(cls, head: str) -> _Columns | None:
        """None if the head is not that of a table of tokens."""
        lift_limit()
        delimiter = guess_delimiter(head)[0]
        if not delimiter:
            return None
        quoted = delimiter != "\t" or is_quoted(head)
        rows = _sample(head, delimiter, quoted)
        names = tuple(name.strip() for name in rows[0]) if rows else ()
        plain = [re.sub(r"[\s#:.]+", "_", name.lower()).strip("_") for name in names]
        word = next((n for n, name in enumerate(plain) if name in _WORD), None)
        if word is None or len(set(names)) < len(names) or not _TAG.intersection(plain):
            return None
        rows = [row for row in rows[1:] if len(row) == len(names)]
        sentence = next((n for n, name in enumerate(plain) if name in _SENTENCE), None)
        numbers = [row[sentence].strip() for row in rows if sentence is not None]
        if not all(not cell or _NUMBER.fullmatch(cell) for cell in numbers):
            return None  # texts
        if any(len(row[word].split()) > 3 for row in rows):
            return None
        if rows and all(list_of(row[word]) is not None for row in rows):
            return None  # a row has all tokens of a text
        return cls(delimiter, quoted, names, word, sentence)

    def number(self, column: str) -> str:
        """The number of a column from 1 of which the name is given."""
        return str(self.names.index(column) + 1) if column in self.names else column

    def name(self, column: str) -> str:
        known = column.isdecimal() and 0 < int(column) <= len(self.names)
        return self.names[int(column) - 1] if known else column


def _sample(head: str, delimiter: str, quoted: bool) -> list[list[str]]:
    """The first rows, without one at which the head ends."""
    lines = head.lstrip("\ufeff").splitlines(keepends=True)
    is_cut = len(head) >= HEAD // 4  # bytes of a character
    lines = (lines[: -1 if is_cut else None] or lines)[:_SAMPLE]
    if not quoted:
        return [line.rstrip("\r\n").split(delimiter) for line in lines if line.strip()]
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []


class _TokenLines(Converted):
    """The rows as lines of CoNLL between tabs, with a blank line between two sentences."""

    def __init__(self, source: Source, columns: _Columns) -> None:
        super().__init__(source)
        self._source, self._columns = source, columns

    def column_name(self, number: str) -> str:
        return self._columns.name(number)

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        yield from super().lines(ends=ends)
        self.cut = self.cut or self._source.cut

    def numbered(self) -> Iterator[tuple[int, str]]:
        """(line of the file, line)"""
        columns, number, last, header = self._columns, "", 0, True
        for line, row in read_rows(self._source, columns.delimiter, columns.quoted):
            if header:
                header, last = False, line
                continue
            cells = [] if isinstance(row, Fault) else [" ".join(cell.split()) for cell in row]
            here = self._sentence(cells)
            if self._begins(here, number, after=line - last, blank=not any(cells)):
                yield line, ""
            number, last = here or number, line
            if isinstance(row, Fault):
                yield line, "\t"  # a row of another width: the sentence is skipped
            elif any(cells):
                yield line, "\t".join(cells)

    def _sentence(self, cells: Sequence[str]) -> str:
        """The number of the sentence on a row; "" without one."""
        at = self._columns.sentence
        return cells[at] if at is not None and at < len(cells) else ""

    def _begins(self, here: str, number: str, *, after: int, blank: bool) -> bool:
        """Whether a sentence begins with a row. `after`: lines after the row before it."""
        if self._columns.sentence is None:
            return blank or after > 1
        return here not in ("", number)


class TokenTableImporter:
    def sniff(self, head: str, name: str) -> Guess:
        found = _Columns.of(head)
        if found is None:
            return Guess(0.0)
        if found.delimiter == "\t" and not found.quoted and found.sentence is None:
            return Guess(0.3, _("a table with one token per row"))  # CoNLL with a header
        return Guess(0.97, _("a table with one token per row"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        columns, lines, options = _opened(source, options)
        table = lines.table(conll.ConllImporter().preview(lines, options, limit))
        return replace(
            table,
            columns=tuple(map(columns.name, table.columns[: len(columns.names)])),
            rows=tuple(replace(row, cells=row.cells[: len(columns.names)]) for row in table.rows),
            mapping=tuple((role, columns.name(column)) for role, column in table.mapping),
            why=_("one token per row; {schemes}").format(schemes=table.why.partition("; ")[2]),
            delimiter=columns.delimiter,
            spans={columns.name(column): n for column, n in table.spans.items()},
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        _columns, lines, options = _opened(source, options)
        yield from lines.placed(conll.ConllImporter().read(lines, options))


def _opened(source: Source, options: Options) -> tuple[_Columns, _TokenLines, Options]:
    """The file as CoNLL, and the options with columns by number."""
    columns = _Columns.of(source.head())
    if columns is None:
        raise ImportFailed(
            _("{name} has no columns “Word” and “Tag” with one token per row.").format(
                name=source.name
            ),
            hint=_("Import it as a CSV table."),
        )
    lines = _TokenLines(source, columns)
    mapping: Iterable[tuple[str, str]] = options.mapping or _guessed(lines, columns, options)
    numbered = tuple((role, columns.number(column)) for role, column in mapping)
    return columns, lines, replace(options, mapping=numbered, delimiter="")


def _guessed(lines: Source, columns: _Columns, options: Options) -> Iterator[tuple[str, str]]:
    """The roles of the columns by their contents and names."""
    _by, rows = conll_columns.sample(lines.head())
    width, text = len(columns.names), str(columns.word + 1)
    rows = [row for row in rows if len(row) == width]
    named = [n for n, name in enumerate(columns.names) if name.lower() in _TAG - _POS]
    words = [n for n in range(width) if columns.names[n].lower() in _POS]
    tagged = [n for n in conll_columns.tag_columns(rows) if n not in (columns.word, *words)]
    if tagged or named:
        yield from conll.guessed_mapping(rows, text, tagged or named[-1:], options)
    else:
        yield "text", text
    for n in words[:1]:
        if rows and all(row[n] for row in rows):
            yield f"tag:{POS_LAYER}", str(n + 1)
