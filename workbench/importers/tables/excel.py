"""Spreadsheets of Excel and LibreOffice (.xlsx, .xlsm, .xlsb, .xls, .ods): one sheet as a table.

A sheet is read as CSV, so its columns have the roles that those of a CSV file have. Whole numbers
have no decimal point, dates are in the form of ISO 8601, and a value that is merged over several
rows counts for each of them.
"""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.importers import signatures
from workbench.importers.base import Guess, Importer, Item, Options, Remark, Table
from workbench.importers.converted import Converted
from workbench.importers.fields import list_fields, roles
from workbench.importers.json.multiple_choice import MultipleChoiceImporter
from workbench.importers.json.squad import SquadImporter
from workbench.importers.signatures import OLE
from workbench.importers.source import HEAD, Source
from workbench.importers.tables.table import TableImporter
from workbench.importers.tables.token_table import TokenTableImporter

SHEET = "sheet"  # the option
_NEW, _OLD = signatures.ZIP.decode("latin-1"), signatures.OLE.decode("latin-1")
_MAX_EXACT_INTEGER = 2**53  # whole numbers of a spreadsheet are exact up to here

# The container of .xls. Source: [MS-CFB] Compound File Binary File Format, 2.2 to 2.4.
_HEADER_BYTES = 512
_HEADER_SECTORS = 109  # sectors of the table of sectors that the header lists
_MAX_SECTOR = 0xFFFFFFFA  # numbers above have a meaning of their own, such as the end of a chain


class ExcelImporter:
    options = (
        Option(
            SHEET,
            "text",
            "",
            N_("Name of the sheet of a spreadsheet; the first with data by default."),
            title=N_("Sheet"),
        ),
        list_fields.NAMES,
    )

    def sniff(self, head: str, name: str) -> Guess:
        if head.startswith((_NEW, _OLD)):
            return Guess(0.99, _("a spreadsheet of Excel or LibreOffice"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        sheet = _Sheet(source, options)
        table = sheet.table(_reader(sheet).preview(sheet, _as_csv(options), limit))
        why = _("the sheet {sheet}", sheet=sheet.title)
        others = (sheet.message,) if sheet.message else ()
        return replace(table, why=why, delimiter="", warnings=(*table.warnings, *others))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        sheet = _Sheet(source, options)
        yield from sheet.placed(_reader(sheet).read(sheet, _as_csv(options)))
        if sheet.message:
            yield Remark(sheet.message)


def _as_csv(options: Options) -> Options:
    return replace(options, delimiter=",")


def _reader(sheet: Source) -> Importer:
    """The importer of tables that fits the columns best; that of CSV for equal ones."""
    head = sheet.head()
    importers: tuple[Importer, ...] = (
        TableImporter(),
        TokenTableImporter(),
        MultipleChoiceImporter(),
        SquadImporter(),
    )
    return max(importers, key=lambda importer: importer.sniff(head, "table.csv").confidence)


class _Sheet(Converted):
    """The rows of a sheet as lines of CSV.

    title: of the sheet. others: titles of the other sheets that have data.
    """

    def __init__(self, source: Source, options: Options) -> None:
        super().__init__(source)
        self._sheet_name = str(options.settings.get(SHEET) or "").strip()
        self.title, self.others = "", tuple[str, ...]()
        self._rows: Sequence[tuple[int, list[str]]] = self._opened()

    def numbered(self) -> Iterator[tuple[int, str]]:
        for place, cells in self._rows:
            for line in _csv(cells).split("\n"):
                yield place, line

    def head(self, size: int = HEAD) -> str:
        """Rows without the line breaks in their cells, so that each is a line."""
        return self._head[:size]

    @cached_property
    def _head(self) -> str:
        parts, length = list[str](), 0
        for _place, cells in self._rows:
            parts.append(_csv([" ".join(cell.split("\n")) for cell in cells]))
            length += len(parts[-1]) + 1
            if length > HEAD:
                break
        return "\n".join(parts) + "\n"

    @property
    def message(self) -> str:
        """A sentence on the other sheets, unless one was chosen."""
        if not self.others or self._sheet_name:
            return ""
        message = _("{file}: only the sheet {sheet} was imported. Others with data: {others}.")
        others = ", ".join(self.others)
        return message.format(file=self.name, sheet=self.title, others=others)

    def _opened(self) -> list[tuple[int, list[str]]]:
        """(number from 1, cells) of each row. Raises ImportFailed."""
        with _reading(self.name):
            book = _book(self)
            filled = [
                name for name in book.sheet_names if self._sheet_name or _has_data(book, name)
            ]
            self.title = self._chosen(book.sheet_names, filled)
            self.others = tuple(name for name in filled if name != self.title)
            sheet = book.get_sheet_by_name(self.title)
            top = sheet.start[0] if sheet.start else 0
            rows = [list(map(_text, row)) for row in sheet.to_python()]
            _fill(rows, sheet)
            ranges = sheet.merged_cell_ranges or ()
        merged = {row + 1 for (row, left), (_end, right) in ranges if left != right}
        return list(_with_titles(list(enumerate(rows, top + 1)), merged))

    def _chosen(self, names: Sequence[str], filled: Sequence[str]) -> str:
        if not self._sheet_name:
            if filled:
                return filled[0]
            raise ImportFailed(
                _("{name} has no sheet with data.", name=self.name),
                hint=_("Check that it was saved completely."),
            )
        if self._sheet_name in names:
            return self._sheet_name
        raise ImportFailed(
            _("{name} has no sheet {sheet!r}.", name=self.name, sheet=self._sheet_name),
            hint=_("Its sheets: {names}.", names=", ".join(names)),
        )


def _book(source: Source) -> Any:
    """The workbook. Raises ImportFailed."""
    try:
        from python_calamine import CalamineWorkbook, PasswordError
    except ModuleNotFoundError:
        raise ImportFailed(
            _(
                "{name} cannot be read: spreadsheets need the Python package {package}.",
                name=source.name,
                package="python-calamine",
            ),
            hint=_("Update the installation (make setup), or save the sheet as CSV (UTF-8)."),
        ) from None
    if not has_sound_sectors(source.path):
        raise ValueError(_("its sectors are damaged"))
    try:
        return CalamineWorkbook.from_path(str(source.path))
    except PasswordError:
        raise ImportFailed(
            _("{name} is protected with a password.", name=source.name),
            hint=_("Save it without a password."),
        ) from None


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Raises ImportFailed where the library fails on a damaged file, in one of many ways."""
    try:
        yield
    except (ImportFailed, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the panics of Rust are no Exception
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ImportFailed(
            _("{name} cannot be read as a spreadsheet: {error}.", name=name, error=reason),
            hint=_("Open it in Excel or LibreOffice, and save it again as .xlsx or CSV."),
        ) from error


def _has_data(book: Any, name: str) -> bool:
    sheet = book.get_sheet_by_name(name)
    return sheet.start is not None and any(_text(cell) for row in sheet.to_python() for cell in row)


def _text(value: object) -> str:
    """A cell as text; a whole number without a decimal point, a date without a time at midnight."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT_INTEGER:
        return str(int(value))
    if isinstance(value, datetime):
        day = value.time() == time()
        return value.date().isoformat() if day else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return "" if value is None else str(value).replace("\r\n", "\n")


def _fill(rows: list[list[str]], sheet: Any) -> None:
    """Repeat values that are merged over several rows of a column."""
    top, left = sheet.start or (0, 0)
    for (first, column), (last, end) in sheet.merged_cell_ranges or ():
        if column != end or first < top or column < left:
            continue
        for row in rows[first - top + 1 : last - top + 1]:
            if column - left < len(row):
                row[column - left] = rows[first - top][column - left]


def _with_titles(
    rows: Sequence[tuple[int, list[str]]], merged: Container[int]
) -> Iterator[tuple[int, list[str]]]:
    """The rows; titles above the table without the empty cells after them, as in CSV.

    A title is alone in its row, and merged over several columns or above a header. merged: rows
    with such cells.
    """
    filled = [[cell for cell in cells if cell.strip()] for _place, cells in rows]
    table = next((n for n, cells in enumerate(filled) if len(cells) > 1), 0)
    names = {cell.strip().lower() for cell in filled[table]} if rows else set()
    headed = bool(names & roles.HEADERS)
    for n, (place, cells) in enumerate(rows):
        if n < table and filled[n] and (headed or place in merged):
            yield place, [" ".join(filled[n][0].split())]
        else:
            yield place, cells if filled[n] else []


def _csv(cells: Sequence[str]) -> str:
    if not cells:
        return ""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def has_sound_sectors(path: Path) -> bool:
    """Whether the header of a compound file has possible values, and no chain of sectors runs in a
    circle or ends outside of the file; True for other files.

    calamine 0.37 follows chains of sectors without an end and reserves the memory that a header
    asks for; either ends the process. Drop this when it checks them itself.
    """
    with open(path, "rb") as file:
        if file.read(len(OLE)) != OLE:
            return True
    content = path.read_bytes()
    if len(content) < _HEADER_BYTES:
        return False
    version, order, shift, mini_shift = struct.unpack_from("<4H", content, 26)
    if (version, shift) not in ((3, 9), (4, 12)) or order != 0xFFFE or mini_shift != 6:
        return False
    size = 1 << shift
    fats, directory = struct.unpack_from("<2I", content, 44)
    mini, minis, more, mores = struct.unpack_from("<4I", content, 60)
    if max(fats, minis, mores) > len(content) // size or directory > _MAX_SECTOR:
        return False
    places = list(struct.unpack_from(f"<{_HEADER_SECTORS}I", content, 76))
    visited = set[int]()
    while more < _MAX_SECTOR:
        listed = _sector(content, more, size)
        if more in visited or not listed:
            return False
        visited.add(more)
        places += listed[:-1]
        more = listed[-1]
    listed_in = [_sector(content, place, size) for place in places if place < _MAX_SECTOR]
    table = [number for numbers in listed_in for number in numbers]
    if not all(listed_in) or _circular(table):
        return False
    small = list[int]()
    while mini < len(table):
        if not (numbers := _sector(content, mini, size)):
            return False
        small += numbers
        mini = table[mini]
    return not _circular(small)


def _sector(content: bytes, number: int, size: int) -> tuple[int, ...]:
    """The numbers in a sector; () beyond the end of the file."""
    start = size + number * size
    if start + size > len(content):
        return ()
    return struct.unpack_from(f"<{size // 4}I", content, start)


def _circular(following: Sequence[int]) -> bool:
    """Whether a chain comes back to one of its sectors. following: sector → the next one."""
    chain = [0] * len(following)  # the number of the walk that came by
    for walk, start in enumerate(range(len(following)), 1):
        at = start
        while at < len(following) and not chain[at]:
            chain[at] = walk
            at = following[at]
        if at < len(following) and chain[at] == walk:
            return True
    return False
