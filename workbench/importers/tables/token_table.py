"""CSV and TSV with one token per row, as in many data sets of Kaggle: Sentence #, Word, POS, Tag.

The number of a sentence may be only on its first row; without such a column, blank rows separate
sentences. Without known names, the columns are found by their contents: tags with prefixes, and
single words. The rows are read as lines of CoNLL.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.base import Fault, Guess, Item, Options, Table
from workbench.importers.columns import conll, conll_columns
from workbench.importers.columns.conll_columns import (
    POS_NAMES,
    TEXT_NAMES,
    WORD_NAMES,
    plain_name,
    unique_names,
)
from workbench.importers.converted import Converted
from workbench.importers.fields.table_cells import list_of
from workbench.importers.json import jsonl
from workbench.importers.source import HEAD, Source
from workbench.importers.tables.table_form import NAMED_DELIMITERS, guess_delimiter, is_quoted
from workbench.importers.tables.table_rows import lift_limit, read_rows
from workbench.text import schemes

_SENTENCE = frozenset("sentence sentences sent sentence_id sentence_no sentence_nr sentence_number "
                      "sentence_idx sent_id sent_no sentenceid sid".split())  # fmt: skip
_TAG = frozenset("tag tags ner ner_tag ner_tags iob bio entity label labels pos upos".split())
_NUMBER = re.compile(r"\D{0,12}\d+(?:\.0)?\D{0,2}")  # of a sentence: "Sentence: 12", "12.0"
_SAMPLE = 200  # rows
_MAX_WORDS_PER_TOKEN = 3  # of a token


@dataclass(frozen=True)
class _Columns:
    """Names of the columns; the place of the tokens, and of the numbers of the sentences."""

    delimiter: str
    quoted: bool
    header: bool
    names: tuple[str, ...]
    word: int
    sentence: int | None

    @classmethod
    def of(cls, head: str, options: Options) -> _Columns | None:
        """None if the head is not that of a table of tokens."""
        lift_limit()
        delimiter = NAMED_DELIMITERS.get(options.delimiter, options.delimiter)
        delimiter = delimiter or guess_delimiter(head)[0]
        if len(delimiter) != 1:
            return None
        quoted = delimiter != "\t" or is_quoted(head)
        rows = _sample(head, delimiter, quoted)
        if not rows or len(rows[0]) < 2:
            return None
        first = [name.strip() for name in rows[0]]
        mapped = {role: column for role, column in options.mapping if role in ("text", "id")}
        header = options.header
        if header is None:
            header = not {*first}.isdisjoint(mapped.values()) or _has_header(rows)
        names = unique_names(first if header else [""] * len(first))
        rows = [row for row in rows[header:] if len(row) == len(names)]
        word = _place(mapped["text"], names) if "text" in mapped else _word_column(rows, names)
        if word is None or any(len(row[word].split()) > _MAX_WORDS_PER_TOKEN for row in rows):
            return None
        sentence = _place(mapped["id"], names) if "id" in mapped else _sentences(rows, names, word)
        numbers = [row[sentence].strip() for row in rows if sentence is not None]
        if "id" not in mapped and not all(not cell or _NUMBER.fullmatch(cell) for cell in numbers):
            return None  # texts
        if rows and all(list_of(row[word]) is not None for row in rows):
            return None  # a row has all tokens of a text
        return cls(delimiter, quoted, header, names, word, sentence)

    def number(self, column: str) -> str:
        """The number of a column from 1 of which the name is given."""
        return str(self.names.index(column) + 1) if column in self.names else column

    def name(self, column: str) -> str:
        known = column.isdecimal() and 0 < int(column) <= len(self.names)
        return self.names[int(column) - 1] if known else column


def _has_header(rows: list[list[str]]) -> bool:
    names = [plain_name(name) for name in rows[0]]
    known = not _TAG.isdisjoint(names) and not TEXT_NAMES.isdisjoint(names)
    return known or conll_columns.has_header(rows)


def _word_column(rows: list[list[str]], names: Sequence[str]) -> int | None:
    """The column of the tokens, by its name beside a column that is named like tags, else the first
    of words beside a column that holds tags.
    """
    plain = [plain_name(name) for name in names]
    named = not _TAG.isdisjoint(plain)
    if named and (words := [n for n, name in enumerate(plain) if name in WORD_NAMES]):
        return words[0]
    tagged = [n for n in conll_columns.tag_columns(rows) if _has_labels(rows, n, named=named)]
    free = [n for n in range(len(names)) if n not in tagged and _holds_words(rows, n)]
    free.sort(key=lambda n: plain[n] not in TEXT_NAMES)
    return free[0] if tagged and free else None


def _has_labels(rows: list[list[str]], column: int, *, named: bool) -> bool:
    """Whether a column of tags has labels; without prefixes and a known name, mostly O."""
    cells = [row[column] for row in rows]
    if {*cells} <= {"O", *schemes.MISSING}:
        return False
    return named or schemes.are_tags(cells) or cells.count("O") * 2 >= len(cells)


def _sentences(rows: list[list[str]], names: Sequence[str], word: int) -> int | None:
    """The column with the numbers of the sentences: by its name, or because its numbers rise by one
    and are on several rows each.
    """
    for n, name in enumerate(names):
        if plain_name(name) in _SENTENCE:
            return n
    counting = [n for n in range(len(names)) if n != word and _counts_sentences(rows, n)]
    return max(counting, key=lambda n: len({row[n] for row in rows}), default=None)


def _counts_sentences(rows: list[list[str]], column: int) -> bool:
    cells = [row[column].strip() for row in rows if any(row)]
    if not cells or not all(cell.isdecimal() for cell in cells):
        return False
    steps = [int(after) - int(cell) for cell, after in zip(cells, cells[1:], strict=False)]
    return {*steps} == {0, 1} and steps.count(0) >= steps.count(1)


def _place(column: str, names: Sequence[str]) -> int | None:
    """The place of a column of which the name or the number from 1 is given."""
    if column in names:
        return names.index(column)
    return int(column) - 1 if column.isdecimal() and 0 < int(column) <= len(names) else None


def _holds_words(rows: list[list[str]], column: int) -> bool:
    """Whether a column has a word in each row, and not only numbers."""
    cells = [row[column].strip() for row in rows if any(row)]
    return sum(map(bool, cells)) > 0.9 * len(cells) and not all(
        _NUMBER.fullmatch(cell) for cell in cells
    )


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
        self.used_columns = () if columns.sentence is None else (columns.sentence,)

    def column_name(self, number: str) -> str:
        return self._columns.name(number)

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        yield from super().lines(ends=ends)
        self.cut = self.cut or self._source.cut

    def numbered(self) -> Iterator[tuple[int, str]]:
        """(line of the file, line)"""
        columns, number, last = self._columns, "", 0
        header = columns.header
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
        if jsonl.opens(head):
            return Guess(0.0)
        columns = _Columns.of(head, Options())
        if columns is None:
            return Guess(0.0)
        if columns.delimiter == "\t" and not columns.quoted and columns.sentence is None:
            return Guess(0.3, _("a table with one token per row"))  # CoNLL with a header
        return Guess(0.97, _("a table with one token per row"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        mapping = options.mapping
        columns, lines, options = _opened(source, options)
        table = lines.table(conll.ConllImporter().preview(lines, options, limit))
        return replace(
            table,
            columns=tuple(map(columns.name, table.columns[: len(columns.names)])),
            rows=tuple(replace(row, cells=row.cells[: len(columns.names)]) for row in table.rows),
            mapping=(
                *((role, columns.name(column)) for role, column in table.mapping),
                *(pair for pair in mapping if pair[0] == "id"),
            ),
            why=_("one token per row; {schemes}", schemes=table.why.partition("; ")[2]),
            delimiter=columns.delimiter,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        _columns, lines, options = _opened(source, options)
        yield from lines.placed(conll.ConllImporter().read(lines, options))


def _opened(source: Source, options: Options) -> tuple[_Columns, _TokenLines, Options]:
    """The file as CoNLL, and the options with columns by number."""
    columns = _Columns.of(source.head(), options)
    if columns is None:
        raise ImportFailed(
            _("{name} has no columns “Word” and “Tag” with one token per row.", name=source.name),
            hint=_(
                "Specify them with text=COLUMN and tag:LAYER=COLUMN, or import it as a CSV table."
            ),
        )
    lines = _TokenLines(source, columns)
    mapping = [pair for pair in options.mapping if pair[0] != "id"] or _guessed(
        lines, columns, options
    )
    numbered = tuple((role, columns.number(column)) for role, column in mapping)
    return columns, lines, replace(options, mapping=numbered, delimiter="\t", header=False)


def _guessed(lines: Source, columns: _Columns, options: Options) -> Iterable[tuple[str, str]]:
    """The roles of the columns by their contents and names."""
    _by, rows = conll_columns.sample(lines.head(), "\t")
    rows = [row for row in rows if len(row) == len(columns.names)]
    plain = [plain_name(name) for name in columns.names]
    named = [n for n, name in enumerate(plain) if name in _TAG - POS_NAMES]
    tagged = [n for n in conll_columns.tag_columns(rows) if n != columns.word] or named[-1:]
    names = columns.names if columns.header else ()
    return conll.guessed_mapping(rows, str(columns.word + 1), tagged, options, names)
