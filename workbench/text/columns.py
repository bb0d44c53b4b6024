"""Columns of a table, described once for the window, the terminal, CSV, Markdown and JSON.

A column reads a value of a row object, and its `kind` says how the value is written: a fraction is
0.886 in a terminal, 88.6 in Markdown and in the window, and 0.8861 in CSV and JSON. The renderers
here make texts of files; `cli.output.table` and `ui.widgets.tables.table` make those of a terminal
and of the window.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from operator import itemgetter
from pathlib import Path
from typing import Any

from workbench.base import sizes
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.text import formulas

UNKNOWN = "–"  # None, as text
Writer = Callable[[Any, int], str]  # a value that is not None, decimal places → text


class ValueKind(Enum):
    """What the values of a column are."""

    TEXT = "text"  # also whole numbers without separators
    TERM = "term"  # a stored value, such as a split or state, shown by its display name
    NAMES = "names"  # a sequence of texts
    FLAG = "flag"  # yes or no
    COUNT = "count"  # a whole number
    NUMBER = "number"
    SHARE = "share"  # a fraction of one: a score
    PERCENT = "percent"  # a fraction of one, written with a percent sign
    P = "p"  # a p-value
    BYTES = "bytes"
    SECONDS = "seconds"  # a duration
    TIME = "time"  # ISO 8601

    @property
    def is_number(self) -> bool:
        """Numbers are aligned right, and sorted by their values."""
        return self in NUMBERS


NUMBERS = frozenset(ValueKind) - {
    ValueKind.TEXT,
    ValueKind.TERM,
    ValueKind.NAMES,
    ValueKind.FLAG,
    ValueKind.TIME,
}


@dataclass(frozen=True)
class Medium:
    """How values of each kind are written; `units`: of numbers that are written without theirs."""

    writers: Mapping[ValueKind, Writer]
    units: Mapping[ValueKind, str] = field(default_factory=dict)

    def heading(self, column: Column) -> str:
        """The title of a column, with the unit."""
        unit = self.units.get(column.kind)
        return _("{title}, {unit}", title=column.title, unit=unit) if unit else column.title

    def cell(self, column: Column, row: Any) -> str:
        """The text of a cell; "–" for an unknown value."""
        if column.display is not None:
            text = column.display(row)
            return UNKNOWN if text is None else text
        value = column.value(row)
        return UNKNOWN if value is None else self.writers[column.kind](value, column.digits)


@dataclass(frozen=True)
class Column:
    """How a column shows a row object.

    `value(row)` is a value of the kind, None if it is unknown. `key`: the column's name in JSON and
    CSV, "" leaves it out there; a column with a key and without a title is only for these.
    `display(row)`: the text for people where the value alone does not make it. `digits`: decimal
    places of a number. `hint`: definition.
    """

    title: str
    value: Callable[[Any], Any] = lambda row: ""
    _: KW_ONLY
    kind: ValueKind = ValueKind.TEXT
    key: str = ""
    display: Callable[[Any], str | None] | None = None
    digits: int = 3
    hint: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether people see it."""
        return bool(self.title) or not self.key


def of_records(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns for people of rows that `record` made, with the values as they are."""

    def of(key: str, title: str) -> Column:
        return Column(title, lambda row: row.get(key), key=key)

    return tuple(of(column.key, column.title) for column in titled(columns) if column.key)


def numbered(titles: Iterable[str]) -> tuple[Column, ...]:
    """Columns of rows that are sequences, in their order."""
    return tuple(Column(title, itemgetter(number)) for number, title in enumerate(titles))


def by_key(columns: Iterable[Column]) -> dict[str, Column]:
    """The columns that programs see, for a table that shows some of them."""
    return {column.key: column for column in columns if column.key}


def titled(columns: Iterable[Column]) -> list[Column]:
    """The columns for people."""
    return [column for column in columns if column.is_shown]


def _text(value: Any, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


_PLAIN: Mapping[ValueKind, Writer] = {
    ValueKind.TEXT: _text,
    ValueKind.TERM: lambda value, _digits: term(value),
    ValueKind.NAMES: lambda value, _digits: ", ".join(value),
    ValueKind.FLAG: lambda value, _digits: _("yes") if value else _("no"),
    ValueKind.COUNT: lambda value, _digits: f"{value:,}",
    ValueKind.NUMBER: lambda value, digits: f"{value:,.{digits}f}",
    ValueKind.SHARE: lambda value, _digits: f"{value:.3f}",
    ValueKind.PERCENT: lambda value, _digits: f"{value:.1%}",
    ValueKind.P: lambda value, _digits: "< 0.001" if value < 0.001 else f"{value:.3f}",
    ValueKind.BYTES: lambda value, _digits: sizes.size(value),
    ValueKind.SECONDS: lambda value, _digits: f"{value:.1f}",
    ValueKind.TIME: _text,
}
TERMINAL = Medium(_PLAIN, {ValueKind.SECONDS: "s"})
_POINTS = {
    kind: lambda value, _digits: f"{100 * value:.1f}"
    for kind in (ValueKind.SHARE, ValueKind.PERCENT)
}
MARKDOWN = Medium({**_PLAIN, **_POINTS}, {ValueKind.SECONDS: "s", ValueKind.PERCENT: "%"})


# ---------------------------------------------------------------- JSON


def record(columns: Iterable[Column], row: Any) -> dict[str, Any]:
    """A row for programs: the values by key."""
    return {
        column.key: list(value) if isinstance(value := column.value(row), tuple) else value
        for column in columns
        if column.key
    }


# ---------------------------------------------------------------- Markdown


def markdown(columns: Iterable[Column], rows: Iterable[Any]) -> str:
    """A table in Markdown, without a line break at its end; numbers are aligned right."""
    columns = titled(columns)
    lines = [
        [_markdown_cell(MARKDOWN.heading(column)) for column in columns],
        ["---:" if column.kind.is_number else "---" for column in columns],
        *([_markdown_cell(MARKDOWN.cell(column, row)) for column in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# ---------------------------------------------------------------- CSV and TSV


def cells(columns: Iterable[Column], rows: Iterable[Any]) -> Iterator[list[Any]]:
    """The keys, then the values of each row."""
    keyed = [column for column in columns if column.key]
    yield [column.key for column in keyed]
    for row in rows:
        yield [column.value(row) for column in keyed]


def delimited(rows: Iterable[Sequence[Any]], *, delimiter: str = ",", end: str = "\n") -> str:
    """Rows of cells as CSV, None as an empty cell.

    Texts that a spreadsheet program would run as formulas are escaped.
    """
    out = io.StringIO()
    _write(out, rows, delimiter, end)
    return out.getvalue()


def write_delimited(path: Path, rows: Iterable[Sequence[Any]], *, delimiter: str = ",") -> None:
    """Save rows of cells as CSV, as `delimited` does, with the line ends of RFC 4180.

    Raises OSError.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        _write(file, rows, delimiter, "\r\n")


def _write(file: Any, rows: Iterable[Sequence[Any]], delimiter: str, end: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
    writer.writerows([_safe(cell) for cell in row] for row in rows)


def _safe(cell: Any) -> Any:
    return formulas.escape_name(cell) if isinstance(cell, str) else cell
