"""The format of a table: its delimiter, quotation marks, header and columns."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers.base import Fault, Options, show
from workbench.importers.fields import roles
from workbench.importers.source import Source
from workbench.importers.tables.table_rows import announced, lift_limit, lines_above, read_rows
from workbench.text.formulas import ESCAPED_COLUMN, unescape_name

DELIMITERS = (",", ";", "\t", "|")
NAMED_DELIMITERS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "bar": "|",
}
_SAMPLE = 50


@dataclass(frozen=True)
class TableForm:
    delimiter: str
    quoted: bool
    header: bool
    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    mapping: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, options: Options, preferred: str) -> TableForm:
        """The form that the options name, the rest found in the first rows of the file.

        preferred: the delimiter if none is found. Raises ImportFailed if no row can be read, or the
        options do not fit the file.
        """
        lift_limit()
        head = source.head()
        delimiter = NAMED_DELIMITERS.get(options.delimiter, options.delimiter) or (
            "\t" if preferred == "\t" else guess_delimiter(head)[0] or preferred
        )
        if len(delimiter) != 1:
            raise ImportFailed(
                _("The delimiter is {delimiter!r}, expected one character.", delimiter=delimiter)
            )
        quoted = delimiter != "\t" or is_quoted(head)
        rows = [
            row
            for _, row in islice(read_rows(source, delimiter, quoted), _SAMPLE)
            if not isinstance(row, Fault)
        ]
        if not rows:
            raise ImportFailed(
                _("No row of {name} can be read.", name=source.name),
                hint=_("Check the delimiter."),
            )
        if len(rows[0]) > roles.MAX_COLUMNS:
            raise _too_wide(source.name)
        header = _has_header(rows) if options.header is None else options.header
        first = rows[0]
        if header and ESCAPED_COLUMN in first:
            first = [unescape_name(name) for name in first]
        columns, remarks = _columns(first, header)
        remarks = [*_above(lines_above(head, delimiter)), *remarks]
        sample = tuple(map(tuple, rows[header:]))
        guessed = roles.guess(
            columns,
            sample,
            class_layer=options.class_layer,
            pair_layer=options.pair_layer,
            span_layer=options.span_layer,
        )
        if not header:
            guessed = tuple(pair for pair in guessed if pair[0] == "text")
        return cls(
            delimiter,
            quoted,
            header,
            columns,
            sample,
            roles.resolved(options.mapping, columns) or guessed,
            tuple(f"{source.name}: {remark}" for remark in remarks),
        )

    def rows(self, source: Source) -> Iterator[tuple[int, list[str] | Fault]]:
        """(line, cells) without the header; a Fault replaces a row that cannot be read."""
        header = self.header
        for line, row in read_rows(source, self.delimiter, self.quoted):
            if header and not isinstance(row, Fault):
                header = False
                continue
            yield line, row


def _too_wide(file: str) -> ImportFailed:
    return ImportFailed(
        _(
            "The first row of {file} has more than {most_columns:,} columns.",
            file=file,
            most_columns=roles.MAX_COLUMNS,
        ),
        hint=_(
            "Check that it is a table and that the delimiter is correct. Import plain "
            "text with the format “text”."
        ),
    )


def guess_delimiter(head: str) -> tuple[str, float]:
    """The delimiter that splits the first lines most evenly, and the fraction of lines it splits
    evenly. ("", 0) if there is none.
    """
    lift_limit()
    if declared := announced(head):
        return declared, 1.0
    lines = head.lstrip("\ufeff").split("\n")
    lines = [line + "\n" for line in (lines[:-1] or lines)[:_SAMPLE]]
    best, choice = (0.0, 0), ""
    for delimiter in DELIMITERS:
        counts: Counter[int] = Counter()
        try:
            rows = (
                [line.rstrip("\r\n").split("\t") for line in lines]
                if delimiter == "\t"
                else csv.reader(lines, delimiter=delimiter)
            )
            counts.update(len(row) for row in rows if row)
        except csv.Error:
            continue
        if not counts:
            continue
        width, times = counts.most_common(1)[0]
        score = (times / counts.total(), width) if width > 1 else (0.0, 0)
        if score > best:
            best, choice = score, delimiter
    return (choice, best[0]) if best[0] >= 0.5 else ("", 0.0)


def is_quoted(head: str) -> bool:
    """Whether quotation marks in a tab-separated file are used for quoting: parsed as quotes all
    rows have the same width, otherwise not.
    """
    lines = head.split("\n")
    lines = lines[:-1] or lines
    if not any(cell.startswith('"') for line in lines for cell in line.split("\t")):
        return False
    plain = Counter(line.count("\t") for line in lines if line.strip())
    try:
        # The head may end within a quoted cell, so its last row does not count.
        rows = list(csv.reader((line + "\n" for line in lines), delimiter="\t"))[:-1]
    except csv.Error:
        return False
    widths = Counter(len(row) - 1 for row in rows if row)
    if len(plain) == 1:
        cells = [
            cell for line in lines for cell in line.rstrip("\r").split("\t") if cell.startswith('"')
        ]
        return len(widths) == 1 and all(
            len(cell) > 1 and cell.endswith('"') and '"' not in cell[1:-1].replace('""', "")
            for cell in cells
        )
    return len(widths) == 1


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    first = [cell.strip().lower() for cell in rows[0]]
    if any(cell in roles.HEADERS for cell in first):
        return True
    if (
        not all(first)
        or len(set(first)) < len(first)
        or any(len(cell) > 40 or cell.replace(".", "").isdigit() for cell in first)
    ):
        return False
    rest = [row for row in rows[1:] if len(row) == len(first)]
    # Names are short and occur in no other row.
    return (
        bool(rest)
        and all(
            cell not in {row[n].strip().lower() for row in rest} for n, cell in enumerate(first)
        )
        and len(first) > 1
    )


def _above(lines: Sequence[str]) -> list[str]:
    """What to say of the lines above the table."""
    if not (filled := [line for line in lines if line.strip()]):
        return []
    message = ngettext(
        "{n} line above the table was not imported: {line}",
        "{n} lines above the table were not imported: {line} …",
        len(filled),
        line=show(filled[0].strip()),
    )
    return [message]


def _columns(first: Sequence[str], header: bool) -> tuple[tuple[str, ...], list[str]]:
    if not header:
        return tuple(f"column {n + 1}" for n in range(len(first))), []
    names: dict[str, None] = {}
    remarks = []
    for n, cell in enumerate(first):
        name = cell.strip() or f"column {n + 1}"
        if name in names:
            remarks.append(
                _(
                    "there are two columns {name}; the second was renamed to {name2} ({n}).",
                    name=show(name),
                    name2=name[:40],
                    n=n + 1,
                )
            )
            name = f"{name} ({n + 1})"
        names[name] = None
    if len(remarks) > 5:
        remarks[5:] = [
            ngettext(
                "{count:,} more column had a duplicate name and was numbered.",
                "{count:,} more columns had duplicate names and were numbered.",
                len(remarks) - 5,
                count=len(remarks) - 5,
            )
        ]
    return tuple(names), remarks
