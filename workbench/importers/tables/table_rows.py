"""The rows of a table as read by the csv module, with every lost line reported."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from workbench.base.i18n import _, ngettext
from workbench.importers.base import Fault
from workbench.importers.fields import roles
from workbench.importers.source import Source

_ANNOUNCED = re.compile(r"\ufeff?\"?sep=([,;|\t])\"?\r?(?:\n|$)", re.IGNORECASE)
_ESCAPED = re.compile(r'(?<!\\)((?:\\\\)*)\\"')
_SEARCHED_LINES, _MAX_LINES_ABOVE = (
    200,
    20,
)  # lines in which the table is looked for; most lines above it
_MAX_PREVIEW_CELL_LINES = (
    1_000  # lines of a cell after which a preview treats its quotation mark as an error
)
_LONG = 1_000_000  # characters of a line that is examined before it is split into columns


def announced(head: str) -> str:
    """The delimiter in a first line `sep=;`, as Excel writes it; "" without such a line."""
    match = _ANNOUNCED.match(head)
    return match[1] if match is not None else ""


def lift_limit() -> None:
    """Raise the csv module's limit of 131,072 characters per cell to its maximum, a C long."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def lines_above(head: str, delimiter: str) -> list[str]:
    """The titles and comments above the table: lines of one cell, or with `#`, before rows that
    have more and nearly all the same number.
    """
    lines = head.lstrip("\ufeff").splitlines()
    lines = (lines[:-1] or lines)[:_SEARCHED_LINES]
    rows = [_cells(line, delimiter) for line in lines]
    usual = Counter(len(row) for row in rows if len(row) > 1).most_common(1)
    if not usual:
        return []
    width = usual[0][0]
    above = next((n for n, row in enumerate(rows) if not _is_above(row, width)), len(rows))
    below = [row for row in rows[above:] if row]
    even = sum(len(row) == width for row in below) >= 0.9 * len(below)
    if above > _MAX_LINES_ABOVE or len(below) < 2 or len(below[0]) != width or not even:
        return []
    return lines[:above] if any(line.strip() for line in lines[:above]) else []


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none of a blank one, and of one in the middle of a cell."""
    if not line.strip() or (line.count('"') % 2 and not line.startswith("#")):
        return []
    return next(csv.reader([line], delimiter=delimiter), [])


def _is_above(row: Sequence[str], width: int) -> bool:
    filled = [cell for cell in row if cell.strip()]
    if not row or (row[0].startswith("#") and len(row) != width):
        return True
    alone = len(row) == 1 or (len(filled) == 1 and width > 2 and bool(row[0].strip()))
    return alone and filled[0].strip().lower() not in roles.HEADERS


def escapes(head: str, delimiter: str) -> bool:
    """Whether quotation marks in cells are written with a backslash instead of twice: only so read,
    the rows have the same number of cells.
    """
    if '\\"' not in head:
        return False
    lines = head.lstrip("\ufeff").splitlines(keepends=True)
    lines = (lines[:-1] or lines)[len(lines_above(head, delimiter)) :]
    so = _evenness((_doubled(line) for line in lines), delimiter)
    return so > 0.9 and so > _evenness(lines, delimiter)


def _evenness(lines: Iterable[str], delimiter: str) -> float:
    """Share of the rows with the most frequent number of cells; 0 if quotation marks are wrong."""
    widths: Counter[int] = Counter()
    try:
        for row in csv.reader(lines, delimiter=delimiter, strict=True):
            widths[len(row)] += bool(row)
    except csv.Error as error:
        if "unexpected end of data" not in str(error):  # the head may end within a cell
            return 0.0
    return widths.most_common(1)[0][1] / widths.total() if widths else 0.0


def _doubled(line: str) -> str:
    """The line with quotation marks written twice, as the csv module reads them."""
    return _ESCAPED.sub(r'\1""', line)


def read_rows(
    source: Source, delimiter: str, quoted: bool
) -> Iterator[tuple[int, list[str] | Fault]]:
    """(line, cells) of the table; a Fault replaces a row that cannot be read."""
    head = source.head()
    first_row = 2 if announced(head) else 1 + len(lines_above(head, delimiter))
    if not quoted:
        for number, line in enumerate(source.lines(), 1):
            if number < first_row:
                continue
            if len(line) > _LONG and line.count(delimiter) > roles.MAX_COLUMNS:
                yield number, _endless_row()
            elif line.strip(" \r"):
                yield number, line.split(delimiter)
        return
    lines = _Lines(source, delimiter, skipped=first_row - 1, escaped=escapes(head, delimiter))
    reader = csv.reader(
        lines, delimiter=delimiter, strict=True
    )  # a line end within quotes belongs to the text
    while True:
        first = lines.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if (
                source.cut and len(lines.further) < _MAX_PREVIEW_CELL_LINES
            ):  # a preview ends within a cell
                return
            yield from _lost_rows(error, first, lines)
            continue
        except Fault as fault:
            yield first, fault
            continue
        if row and row != [""]:
            yield first, row


def _lost_rows(
    error: csv.Error, first: int, lines: _Lines
) -> Iterator[tuple[int, list[str] | Fault]]:
    """A fault for each line that a quotation mark has turned into a part of its cell."""
    if "unexpected end of data" in str(error):
        message = _("a quotation mark in this row is not closed")
    elif "expected after" in str(error):
        message = _(
            "text follows a closing quotation mark in line {last:,}; "
            "a quotation mark within a cell is written twice",
            last=lines.number,
        )
    else:
        message = _("the row cannot be read: {error}", error=error)
    yield first, Fault(message)
    lost = _(
        "it was read as part of the row in line {first:,}, whose quotation marks are not valid"
    )
    for number in lines.further:
        yield number, Fault(lost.format(first=first))


class _Lines:
    """The lines for csv.reader, counted.

    Raises Fault for a line of endless columns before the reader makes a list of them.
    """

    def __init__(self, source: Source, delimiter: str, *, skipped: int, escaped: bool):
        """skipped: lines above the table. escaped: quotation marks are, with a backslash."""
        self._lines, self._delimiter = source.lines(ends=True), delimiter
        self._escaped = escaped
        self.number = sum(1 for _line in islice(self._lines, skipped))
        self.further: list[
            int
        ] = []  # numbers of the lines after the first of a row, blank ones excluded
        self._row_begins = True

    def begin_row(self) -> int:
        """The number of the line on which the next row begins."""
        self._row_begins = True
        self.further = []
        return self.number + 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if self._escaped:
            line = _doubled(line)
        self.number += 1
        if not self._row_begins and line.strip():
            self.further.append(self.number)
        if self._row_begins and len(line) > _LONG:  # nothing before the first quote is quoted
            quote = line.find('"')
            if (
                line.count(self._delimiter, 0, quote if quote >= 0 else len(line))
                > roles.MAX_COLUMNS
            ):
                raise _endless_row()
        self._row_begins = False
        return line


class Swallowed:
    """Finds cells that contain whole rows: their quotation marks probably belong to two different
    cells.
    """

    def __init__(self, file: str, delimiter: str, columns: int):
        self._file, self._delimiter = file, delimiter
        self._further = columns - 1  # delimiters of a row
        self._multiline_cells: list[tuple[int, int]] = []  # first and last lines

    def look_at(self, line: int, row: Sequence[str]) -> None:
        if self._further < 1 or not any("\n" in cell for cell in row):
            return
        inner = [part for cell in row for part in cell.split("\n")[1:-1] if part.strip()]
        rows = sum(part.count(self._delimiter) == self._further for part in inner)
        if inner and rows * 3 >= len(inner) * 2:
            self._multiline_cells.append((line, line + sum(cell.count("\n") for cell in row)))

    def remarks(self) -> Iterator[str]:
        message = _(
            "{file}: lines {first:,} to {last:,} were read as one row, but contain "
            "several: a quotation mark is missing in one of them."
        )
        for first, last in self._multiline_cells[:5]:
            yield message.format(file=self._file, first=first, last=last)
        if (more := len(self._multiline_cells) - 5) > 0:
            yield ngettext(
                "{file}: {n:,} more row holds several lines that look like rows.",
                "{file}: {n:,} more rows hold several lines that look like rows.",
                more,
                file=self._file,
            )


def _endless_row() -> Fault:
    return Fault(
        _("the row has more than {most_columns:,} columns", most_columns=roles.MAX_COLUMNS)
    )
