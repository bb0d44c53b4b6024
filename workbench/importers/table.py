"""CSV, TSV and their like: a record a row, columns with roles."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import roles
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    check,
    label_name,
    show,
    span_borders,
    split_name,
    texts_of,
    unique_spans,
)
from workbench.importers.source import Source
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.joining import join
from workbench.text.spans import Span

DELIMITERS = (",", ";", "\t", "|")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "bar": "|"}
_HEADERS = (
    frozenset(name for names in roles._NAMES.values() for name in names)
    | set(roles._LABEL)
    | {"nr", "no", "text", "number", "index"}
)
_SAMPLE = 50
_LONG = 1_000_000  # characters of a line that is looked at before it is cut into columns


class TableImporter:
    """`delimiter` is the one to prefer where the file does not tell."""

    delimiter = ","
    ending = ".csv"
    title = "CSV"

    def sniff(self, head: str, name: str) -> Guess:
        if head.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            return Guess(0.0)
        delimiter, consistency = _guess_delimiter(head)
        ending = name.lower().endswith(self.ending)
        mine = (delimiter == "\t") == (self.delimiter == "\t")
        if not mine or consistency == 0.0:
            return Guess(
                0.35 if ending else 0.0, _("the name ends in {ending}").format(ending=self.ending)
            )
        first = head.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r").split(delimiter)
        known = sum(cell.strip().strip('"').lower() in _HEADERS for cell in first)
        if known or ending:
            why = (
                _("columns between {delimiter}, with a header")
                if known
                else _("columns between {delimiter}")
            )
            return Guess(
                min(0.95, 0.6 + 0.1 * known + 0.2 * ending), why.format(delimiter=_name(delimiter))
            )
        return Guess(
            (0.2 if delimiter == "," else 0.4) * consistency,
            _("every line has as many {delimiter}").format(delimiter=_name(delimiter)),
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        form = _Form.of(source, options, self.delimiter)
        rows = (
            tuple(row)
            for _, row in islice(
                ((n, row) for n, row in form.rows(source) if not isinstance(row, Fault)), limit
            )
        )
        why = (
            _("columns between {delimiter}, with a header")
            if form.header
            else _("columns between {delimiter}, without a header")
        )
        return Table(
            form.columns,
            tuple(rows),
            form.mapping,
            why.format(delimiter=_name(form.delimiter)),
            form.delimiter,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        form = _Form.of(source, options, self.delimiter)
        yield from (Remark(message) for message in form.remarks)
        mapped = roles.parse(form.mapping)
        mapped = roles.with_text(
            mapped,
            roles.guess(form.columns, form.sample, class_layer="", pair_layer=""),
            source.name,
        )
        roles.check_columns(mapped, form.columns, source.name)
        place = {name: n for n, name in enumerate(form.columns)}
        places = [(one, place[one.column]) for one in mapped]
        used = {one.column for one in mapped}
        if unused := [name for name in form.columns if name not in used]:
            one, many = (
                _("{name}: not taken in: column {names}."),
                _("{name}: not taken in: columns {names}."),
            )
            told = many if len(unused) > 1 else one
            yield Remark(
                told.format(name=source.name, names=", ".join(name[:40] for name in unused[:10]))
            )
        for line, row in form.rows(source):
            try:
                if isinstance(row, Fault):
                    raise row
                if len(row) != len(form.columns):
                    one, many = (
                        _("the row has 1 column, expected {wanted}"),
                        _("the row has {n} columns, expected {wanted}"),
                    )
                    raise Fault(
                        (one if len(row) == 1 else many).format(
                            n=len(row), wanted=len(form.columns)
                        )
                    )
                record = _record(row, places)
                check(record)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))


class TsvImporter(TableImporter):
    delimiter = "\t"
    ending = ".tsv"
    title = "TSV"


def _name(delimiter: str) -> str:
    return {"\t": _("tabs"), ",": _("commas"), ";": _("semicolons"), "|": _("bars")}.get(
        delimiter, f"{delimiter!r}"
    )


# ---------------------------------------------------------------- the shape of a file


@dataclass(frozen=True)
class _Form:
    delimiter: str
    quoted: bool
    header: bool
    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    mapping: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, options: Options, preferred: str) -> _Form:
        lift_limit()
        head = source.head()
        delimiter = _NAMES.get(options.delimiter, options.delimiter) or (
            "\t" if preferred == "\t" else _guess_delimiter(head)[0] or preferred
        )
        if len(delimiter) != 1:
            raise ImportFailed(
                _("The delimiter is {delimiter!r}, expected one character.").format(
                    delimiter=delimiter
                )
            )
        quoted = delimiter != "\t" or _is_quoted(head)
        rows = [
            row
            for _, row in islice(_rows(source, delimiter, quoted), _SAMPLE)
            if not isinstance(row, Fault)
        ]
        if not rows:
            raise ImportFailed(
                _("No row of {name} can be read.").format(name=source.name),
                hint=_("Is the delimiter right?"),
            )
        if len(rows[0]) > roles.MOST_COLUMNS:
            raise _too_wide(source.name)
        header = _has_header(rows) if options.header is None else options.header
        columns, remarks = _columns(rows[0], header)
        sample = tuple(map(tuple, rows[header:]))
        guessed = roles.guess(
            columns, sample, class_layer=options.class_layer, pair_layer=options.pair_layer
        )
        if not header:
            guessed = tuple(pair for pair in guessed if pair[0] == "text")
        return cls(
            delimiter,
            quoted,
            header,
            columns,
            sample,
            options.mapping or guessed,
            tuple(f"{source.name}: {one}" for one in remarks),
        )

    def rows(self, source: Source) -> Iterator[tuple[int, list[str] | Fault]]:
        """(line, cells) without the header; what cannot be read arrives as a Fault."""
        found = _rows(source, self.delimiter, self.quoted)
        if self.header:
            next(found, None)
        return found


def lift_limit() -> None:
    """The csv module stops at 131,072 characters a cell otherwise; a C long is the most it takes."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def _too_wide(file: str) -> ImportFailed:
    return ImportFailed(
        _("The first row of {file} has more than {most_columns:,} columns.").format(
            file=file, most_columns=roles.MOST_COLUMNS
        ),
        hint=_(
            "Is it a table, and is the delimiter right? Plain text comes in with the format “text”."
        ),
    )


def _rows(source: Source, delimiter: str, quoted: bool) -> Iterator[tuple[int, list[str] | Fault]]:
    if not quoted:
        for number, line in enumerate(source.lines(), 1):
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
        first, lines.row_begins = lines.number + 1, True
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield first, _csv_fault(error, lines.number - first)
            continue
        except Fault as fault:
            yield first, fault
            continue
        if row and row != [""]:
            yield first, row


class _Lines:
    """The lines for csv.reader, counted. Raises Fault for a line of endless columns, before the reader makes a list of them."""

    def __init__(self, source: Source, delimiter: str):
        self._lines, self._delimiter = source.lines(ends=True), delimiter
        self.number = 0
        self.row_begins = True  # this line begins a row, so what stands before the first quotation mark is in no quotes

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        if self.row_begins and len(line) > _LONG:
            quote = line.find('"')
            if (
                line.count(self._delimiter, 0, quote if quote >= 0 else len(line))
                > roles.MOST_COLUMNS
            ):
                raise _endless_row()
        self.row_begins = False
        return line


def _endless_row() -> Fault:
    return Fault(
        _("the row has more than {most_columns:,} columns").format(most_columns=roles.MOST_COLUMNS)
    )


def _csv_fault(error: csv.Error, further: int) -> Fault:
    if "unexpected end of data" in str(error):
        return Fault(
            _(
                "a quotation mark that opens on this line is never closed; the {further} lines after it went with it"
            ).format(further=further)
        )
    return Fault(_("the row cannot be read: {error}").format(error=error))


def _guess_delimiter(head: str) -> tuple[str, float]:
    """The delimiter that splits the first lines most evenly, and the share of lines that it splits so. ("", 0) if none does."""
    lift_limit()
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


def _is_quoted(head: str) -> bool:
    """Whether quotation marks in a tab-separated file are those of its writer: read so, all rows have one width, read plainly not."""
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
    if any(cell in _HEADERS for cell in first):
        return True
    if (
        not all(first)
        or len(set(first)) < len(first)
        or any(len(cell) > 40 or cell.replace(".", "").isdigit() for cell in first)
    ):
        return False
    rest = [row for row in rows[1:] if len(row) == len(first)]
    # Names are short and stand in no other row.
    return (
        bool(rest)
        and all(
            cell not in {row[n].strip().lower() for row in rest} for n, cell in enumerate(first)
        )
        and len(first) > 1
    )


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
                    "the column {name} stands there twice; the second is called {name2} ({n})."
                ).format(name=show(name), name2=name[:40], n=n + 1)
            )
            name = f"{name} ({n + 1})"
        names[name] = None
    if len(remarks) > 5:
        remarks[5:] = [
            _(
                "{count:,} more columns have a name that stands there already, and got a number."
            ).format(count=len(remarks) - 5)
        ]
    return tuple(names), remarks


# ---------------------------------------------------------------- one row


def _record(row: list[str], places: list[tuple[roles.Role, int]]) -> Record:
    cells = {one.kind: row[place] for one, place in places if one.kind in roles.PLAIN}
    named = [(one, row[place]) for one, place in places if one.kind in roles.NAMED]
    meta = _meta(named)
    states: dict[str, str] = {}
    marks: dict[str, tuple[str, ...]] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    text = cells["text"]
    tokens: tuple[tuple[int, int], ...] = ()
    if tagged := [(one, cell) for one, cell in named if one.kind == "tag" and cell.strip()]:
        text, tokens = _tokens(text)
    for one, cell in tagged:
        spans[one.name], states[one.name] = _tags(cell, tokens), "submitted"
    for one, cell in named:
        if one.kind == "label" and cell.strip():
            marks[one.name], states[one.name] = (label_name(cell.strip()),), "submitted"
        elif one.kind == "spans" and cell.strip():
            spans[one.name], states[one.name] = _spans(cell), "submitted"
    document = Document(
        cells.get("id", "").strip(),
        texts_of(text, cells.get("text_b") or None),
        split_name(cells.get("split")),
        cells.get("group") or None,
        meta,
        {TEXT: tokens} if tokens else {},
    )
    return Record(document, states, marks, spans)


def _meta(named: list[tuple[roles.Role, str]]) -> dict:
    """Metadata by name; a column `meta` with a JSON object, as our own export writes it, is taken apart."""
    found: dict = {}
    for one, cell in named:
        if one.kind != "meta" or not cell:
            continue
        if one.name == "meta" and cell.startswith("{"):
            try:
                found.update(json.loads(cell))
                continue
            except (ValueError, RecursionError):
                pass  # then it is a text like any other
        found[one.name] = cell
    return found


def _tokens(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A cell of tokens: a JSON list, or words with one space between."""
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            listed = None
        if (
            isinstance(listed, list)
            and listed
            and all(isinstance(one, str) and one for one in listed)
        ):
            return join(listed)
    borders, position = [], 0
    for word in text.split(" "):
        if word:
            borders.append((position, position + len(word)))
        position += len(word) + 1
    return text, tuple(borders)


def _tags(cell: str, tokens: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    try:
        tags = [str(one) for one in json.loads(cell)] if cell.startswith("[") else cell.split()
    except (ValueError, RecursionError):
        raise Fault(_("the tags {cell!r} cannot be read").format(cell=cell[:40])) from None
    if len(tags) != len(tokens):
        raise Fault(
            _("there are {count} tags for {count2} tokens").format(
                count=len(tags), count2=len(tokens)
            )
        )
    found = schemes.spans(tags, schemes.detect([tags]))
    return tuple(Span(tokens[one.first][0], tokens[one.last - 1][1], one.label) for one in found)


def _spans(cell: str) -> tuple[Span, ...]:
    """A cell with a JSON list of [start, end, label]."""
    try:
        raw = json.loads(cell)
    except (ValueError, RecursionError):
        raise Fault(
            _("the spans {cell!r} are no JSON list of [start, end, label]").format(cell=cell[:40])
        ) from None
    if not isinstance(raw, list) or not all(isinstance(one, list) and len(one) == 3 for one in raw):
        raise Fault(
            _("the spans {cell!r} are no JSON list of [start, end, label]").format(cell=cell[:40])
        )
    return unique_spans(
        [Span(*span_borders(start, end), label_name(label)) for start, end, label in raw]
    )
