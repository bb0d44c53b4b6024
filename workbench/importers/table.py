"""CSV, TSV and similar formats: one record per row, columns with roles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import jsonl, roles
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
    add_spans,
    check,
    label_name,
    show,
    span_offsets,
    split_name,
    texts_of,
    unique_spans,
)
from workbench.importers.document_values import add_values
from workbench.importers.multiple_choice import MultipleChoiceImporter
from workbench.importers.source import Source
from workbench.importers.squad import SquadImporter
from workbench.importers.table_form import HEADERS, Form, guess_delimiter
from workbench.importers.table_rows import Swallowed
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.formulas import ESCAPED_COLUMN, unescape
from workbench.text.joining import join
from workbench.text.spans import Span


class TableImporter:
    """`delimiter` is used where the file does not show another."""

    delimiter = ","
    ending = ".csv"
    title = "CSV"

    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            return Guess(0.0)
        delimiter, consistency = guess_delimiter(head)
        ending = name.lower().endswith(self.ending)
        mine = (delimiter == "\t") == (self.delimiter == "\t")
        if not mine or consistency == 0.0:
            return Guess(
                0.35 if ending else 0.0, _("the name ends in {ending}").format(ending=self.ending)
            )
        first = head.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r").split(delimiter)
        known = sum(cell.strip().strip('"').lower() in HEADERS for cell in first)
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
            _("every line has the same number of {delimiter}").format(delimiter=_name(delimiter)),
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        if roles.chooses(options.mapping):
            return MultipleChoiceImporter().preview(source, options, limit)
        if roles.asks(options.mapping):
            return SquadImporter().preview(source, options, limit)
        form = Form.of(source, options, self.delimiter)
        rows = [
            TableRow(line, tuple(row))
            for line, row in islice(form.rows(source), limit)
            if not isinstance(row, Fault)
        ]
        why = (
            _("columns between {delimiter}, with a header")
            if form.header
            else _("columns between {delimiter}, without a header")
        )
        return Table(
            form.columns,
            tuple(rows),
            _with_text(form, source.name),
            why.format(delimiter=_name(form.delimiter)),
            form.delimiter,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if roles.chooses(options.mapping):
            yield from MultipleChoiceImporter().read(source, options)
            return
        if roles.asks(options.mapping):
            yield from SquadImporter().read(source, options)
            return
        form = Form.of(source, options, self.delimiter)
        yield from (Remark(message) for message in form.remarks)
        mapped = roles.with_text(roles.parse(form.mapping), _guessed(form), source.name)
        roles.check_columns(mapped, form.columns, source.name)
        place = {name: n for n, name in enumerate(form.columns)}
        places = [(role, place[role.column]) for role in mapped]
        escaped = place.get(ESCAPED_COLUMN)
        used = {ESCAPED_COLUMN, *(role.column for role in mapped)}
        if unused := [name for name in form.columns if name not in used]:
            yield _left_out(source.name, unused)
        swallowed = Swallowed(source.name, form.delimiter, len(form.columns))
        for line, row in form.rows(source):
            try:
                if isinstance(row, Fault):
                    raise row
                swallowed.look_at(line, row)
                if len(row) != len(form.columns):
                    raise _wrong_width(row, form.columns)
                record = _record(_unescaped(row, place, escaped), places)
                check(record)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))
        yield from (Remark(message) for message in swallowed.remarks())


class TsvImporter(TableImporter):
    delimiter = "\t"
    ending = ".tsv"
    title = "TSV"


def _name(delimiter: str) -> str:
    return {"\t": _("tabs"), ",": _("commas"), ";": _("semicolons"), "|": _("bars")}.get(
        delimiter, f"{delimiter!r}"
    )


def _guessed(form: Form) -> Iterable[tuple[str, str]]:
    return roles.guess(form.columns, form.sample, class_layer="", pair_layer="")


def _with_text(form: Form, name: str) -> tuple[tuple[str, str], ...]:
    """The mapping, with the text column that `read` adds if none was specified."""
    try:
        first, *_rest = roles.with_text(roles.parse(form.mapping), _guessed(form), name)
    except ImportFailed:
        return form.mapping
    added = (first.text, first.column)
    return form.mapping if added in form.mapping else (added, *form.mapping)


# ---------------------------------------------------------------- one row


def _left_out(name: str, columns: Sequence[str]) -> Remark:
    template = ngettext(
        "{name}: column {names} was not imported.",
        "{name}: columns {names} were not imported.",
        len(columns),
    )
    names = ", ".join(column[:40] for column in columns[:10])
    return Remark(template.format(name=name, names=names))


def _wrong_width(row: Sequence[str], columns: Sequence[str]) -> Fault:
    template = ngettext(
        "the row has {n} column, expected {wanted}",
        "the row has {n} columns, expected {wanted}",
        len(row),
    )
    return Fault(template.format(n=len(row), wanted=len(columns)))


def _record(row: list[str], places: list[tuple[roles.Role, int]]) -> Record:
    cells = {role.kind: row[place] for role, place in places if role.kind in roles.PLAIN}
    named = [(role, row[place]) for role, place in places if role.kind in roles.NAMED]
    meta = _meta(named)
    states: dict[str, str] = {}
    marks: dict[str, tuple[str, ...]] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    text = cells["text"]
    tokens: tuple[tuple[int, int], ...] = ()
    if tagged := [(role, cell) for role, cell in named if role.is_tag and cell.strip()]:
        text, tokens = _tokens(text)
    for role, cell in tagged:
        add_spans(spans, role.name, _tags(cell, tokens))
        states[role.name] = "submitted"
    for role, cell in named:
        if role.kind == "label" and cell.strip():
            marks[role.name], states[role.name] = (label_name(cell.strip()),), "submitted"
        elif role.kind == "spans" and cell.strip():
            add_spans(spans, role.name, _spans(cell))
            states[role.name] = "submitted"
    numbers, written = add_values(named, states)
    document = Document(
        cells.get("id", "").strip(),
        texts_of(text, cells.get("text_b") or None),
        split_name(cells.get("split")),
        cells.get("group") or None,
        meta,
        {TEXT: tokens} if tokens else {},
    )
    return Record(document, states, marks, spans, numbers=numbers, written=written)


def _unescaped(row: list[str], place: Mapping[str, int], escaped: int | None) -> list[str]:
    """The row without the escapes that the cell `escaped` names."""
    if escaped is None or not row[escaped].strip():
        return row
    try:
        names = json.loads(row[escaped])
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(
        isinstance(name, str) and name in place for name in names
    ):
        raise Fault(
            _("the escaped cells are {cell}, expected a JSON list of columns").format(
                cell=show(row[escaped])
            )
        )
    cells = list(row)
    for name in names:
        cells[place[name]] = unescape(cells[place[name]])
    return cells


def _meta(named: list[tuple[roles.Role, str]]) -> dict[str, Any]:
    """Metadata by name; a column `meta` with a JSON object, as our own export writes it, is
    unpacked.
    """
    found: dict[str, Any] = {}
    for role, cell in named:
        if role.kind != "meta" or not cell:
            continue
        if role.name == "meta" and cell.startswith("{"):
            try:
                found.update(json.loads(cell))
                continue
            except (ValueError, RecursionError):
                pass  # then it is an ordinary text
        found[role.name] = cell
    return found


def _tokens(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A cell of tokens: a JSON list, or words separated by single spaces."""
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            listed = None
        if (
            isinstance(listed, list)
            and listed
            and all(isinstance(item, str) and item for item in listed)
        ):
            return join(listed)
    offsets, position = [], 0
    for word in text.split(" "):
        if word:
            offsets.append((position, position + len(word)))
        position += len(word) + 1
    return text, tuple(offsets)


def _tags(cell: str, tokens: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    try:
        tags = [str(load) for load in json.loads(cell)] if cell.startswith("[") else cell.split()
    except (ValueError, RecursionError):
        raise Fault(_("the tags {cell!r} cannot be read").format(cell=cell[:40])) from None
    if len(tags) != len(tokens):
        raise Fault(
            _("the number of tags ({tags}) differs from the number of tokens ({tokens})").format(
                tags=len(tags), tokens=len(tokens)
            )
        )
    found = schemes.spans(tags, schemes.detect([tags]))
    return tuple(
        Span(tokens[span.first][0], tokens[span.last - 1][1], span.label) for span in found
    )


def _spans(cell: str) -> tuple[Span, ...]:
    """A cell with a JSON list of [start, end, label]."""
    try:
        raw = json.loads(cell)
    except (ValueError, RecursionError):
        raise Fault(
            _("the spans {cell!r} are not a JSON list of [start, end, label]").format(
                cell=cell[:40]
            )
        ) from None
    if not isinstance(raw, list) or not all(
        isinstance(item, list) and len(item) == 3 for item in raw
    ):
        raise Fault(
            _("the spans {cell!r} are not a JSON list of [start, end, label]").format(
                cell=cell[:40]
            )
        )
    return unique_spans(
        [Span(*span_offsets(start, end), label_name(label)) for start, end, label in raw]
    )
