"""The rows of a table as read by the csv module, with every lost line reported."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence

from workbench.base.i18n import _, ngettext
from workbench.importers import roles
from workbench.importers.base import Fault
from workbench.importers.source import Source

_ANNOUNCED = re.compile(r"\ufeff?\"?sep=([,;|\t])\"?\r?(?:\n|$)", re.IGNORECASE)
_MANY = 1_000  # lines of a cell after which a preview treats its quotation mark as an error
_LONG = 1_000_000  # characters of a line that is examined before it is split into columns


def announced(head: str) -> str:
    """The delimiter in a first line `sep=;`, as Excel writes it; "" without such a line."""
    found = _ANNOUNCED.match(head)
    return found[1] if found is not None else ""


def lift_limit() -> None:
    """Raise the csv module's limit of 131,072 characters per cell to its maximum, a C long."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def read_rows(
    source: Source, delimiter: str, quoted: bool
) -> Iterator[tuple[int, list[str] | Fault]]:
    first_row = 2 if announced(source.head()) else 1
    if not quoted:
        for number, line in enumerate(source.lines(), 1):
            if number < first_row:
                continue
            if len(line) > _LONG and line.count(delimiter) > roles.MOST_COLUMNS:
                yield number, _endless_row()
            elif line.strip(" \r"):
                yield number, line.split(delimiter)
        return
    lines = _Lines(source, delimiter)
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
            if source.cut and len(lines.further) < _MANY:  # a preview ends within a cell
                return
            yield from _lost_rows(error, first, lines)
            continue
        except Fault as fault:
            yield first, fault
            continue
        if row and row != [""] and first >= first_row:
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
            "a quotation mark within a cell is written twice"
        ).format(last=lines.number)
    else:
        message = _("the row cannot be read: {error}").format(error=error)
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

    def __init__(self, source: Source, delimiter: str):
        self._lines, self._delimiter = source.lines(ends=True), delimiter
        self.number = 0
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
        self.number += 1
        if not self._row_begins and line.strip():
            self.further.append(self.number)
        if self._row_begins and len(line) > _LONG:  # nothing before the first quote is quoted
            quote = line.find('"')
            if (
                line.count(self._delimiter, 0, quote if quote >= 0 else len(line))
                > roles.MOST_COLUMNS
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
        self._found: list[tuple[int, int]] = []  # first and last lines

    def look_at(self, line: int, row: Sequence[str]) -> None:
        if self._further < 1 or not any("\n" in cell for cell in row):
            return
        inner = [part for cell in row for part in cell.split("\n")[1:-1] if part.strip()]
        rows = sum(part.count(self._delimiter) == self._further for part in inner)
        if inner and rows * 3 >= len(inner) * 2:
            self._found.append((line, line + sum(cell.count("\n") for cell in row)))

    def remarks(self) -> Iterator[str]:
        message = _(
            "{file}: lines {first:,} to {last:,} were read as one row, but contain "
            "several: a quotation mark is missing in one of them."
        )
        for first, last in self._found[:5]:
            yield message.format(file=self._file, first=first, last=last)
        if (more := len(self._found) - 5) > 0:
            yield ngettext(
                "{file}: {n:,} more row holds several lines that look like rows.",
                "{file}: {n:,} more rows hold several lines that look like rows.",
                more,
            ).format(file=self._file, n=more)


def _endless_row() -> Fault:
    return Fault(
        _("the row has more than {most_columns:,} columns").format(most_columns=roles.MOST_COLUMNS)
    )
