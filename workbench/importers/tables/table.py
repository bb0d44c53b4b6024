"""CSV, TSV and similar formats: one record per row, columns with roles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    add_spans,
    check,
    person_name,
    show,
    split_name,
    texts_of,
)
from workbench.importers.converted import Converted
from workbench.importers.fields import list_fields, roles, table_cells
from workbench.importers.fields.document_values import add_values, metadata, of_single_text
from workbench.importers.json import jsonl
from workbench.importers.json.multiple_choice import MultipleChoiceImporter
from workbench.importers.json.squad import SquadImporter
from workbench.importers.offsets import Offsets
from workbench.importers.source import Source
from workbench.importers.tables.table_form import TableForm, guess_delimiter
from workbench.importers.tables.table_rows import Swallowed, announced, lines_above
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, TEXT, Document, choice_names, with_choices
from workbench.text.formulas import ESCAPED_COLUMN, unescape
from workbench.text.labels import ONE_OF, PREFERENCE, Label, Layer
from workbench.text.labels import TAG as TAG_KIND
from workbench.text.spans import Span


class TableImporter:
    """`delimiter` is used where the file does not show another."""

    delimiter = ","
    ending = ".csv"
    title = "CSV"
    options = (list_fields.NAMES,)

    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            return Guess(0.0)
        delimiter, consistency = guess_delimiter(head)
        ending = name.lower().endswith(self.ending)
        mine = (delimiter == "\t") == (self.delimiter == "\t")
        if not mine or consistency == 0.0:
            return Guess(
                0.35 if ending else 0.0, _("the name ends in {ending}", ending=self.ending)
            )
        lines = head.lstrip("\ufeff").split("\n")
        above = 1 if announced(head) and len(lines) > 1 else len(lines_above(head, delimiter))
        first = lines[above].rstrip("\r").split(delimiter)
        known = sum(cell.strip().strip('"').lower() in roles.HEADERS for cell in first)
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
            _("every line has the same number of {delimiter}", delimiter=_name(delimiter)),
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        if roles.chooses(options.mapping):
            return MultipleChoiceImporter().preview(source, options, limit)
        if roles.asks(options.mapping):
            return SquadImporter().preview(source, options, limit)
        form = TableForm.of(source, options, self.delimiter)
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
            warnings=form.remarks,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if roles.chooses(options.mapping):
            yield from MultipleChoiceImporter().read(source, options)
            return
        if roles.asks(options.mapping):
            yield from SquadImporter().read(source, options)
            return
        form = TableForm.of(source, options, self.delimiter)
        yield from (Remark(message) for message in form.remarks)
        mapped = roles.with_text(roles.parse(form.mapping), _guessed(form), source.name)
        roles.check_columns(mapped, form.columns, source.name)
        place = {name: n for n, name in enumerate(form.columns)}
        places = [(role, place[role.column]) for role in mapped]
        escaped = place.get(ESCAPED_COLUMN)
        lists = _Lists.of(mapped, form, options, source.name)
        lists.feed(row for _line, row in (form.rows(source) if lists.tags.columns else ()))
        yield from (Hint(*pair) for pair in roles.hinted(mapped))
        yield from lists.layers()
        yield from _choice_layer(mapped)
        person = next((at for role, at in places if role.kind == roles.PERSON), None)
        used = {ESCAPED_COLUMN, *(role.column for role in mapped)}
        if unused := [name for name in form.columns if name not in used]:
            yield _left_out(source.name, unused)
        swallowed = Swallowed(source.name, form.delimiter, len(form.columns))
        for line, row in form.rows(source):
            try:
                if isinstance(row, Fault):
                    raise row
                if not isinstance(source, Converted):
                    swallowed.look_at(line, row)
                if len(row) != len(form.columns):
                    raise _wrong_width(row, form.columns)
                record = _record(_unescaped(row, place, escaped), places, lists)
                if not options.mapping:
                    record = of_single_text(record, options)
                check(record)
                yield Row(line, record, "" if person is None else person_name(row[person].strip()))
            except Fault as fault:
                yield Skipped(line, str(fault))
        yield from (Remark(message) for message in (*swallowed.remarks(), *lists.remarks()))


class TsvImporter(TableImporter):
    delimiter = "\t"
    ending = ".tsv"
    title = "TSV"


def _name(delimiter: str) -> str:
    return {"\t": _("tabs"), ",": _("commas"), ";": _("semicolons"), "|": _("bars")}.get(
        delimiter, f"{delimiter!r}"
    )


def _guessed(form: TableForm) -> Iterable[tuple[str, str]]:
    return roles.guess(form.columns, form.sample, class_layer="", pair_layer="")


def _with_text(form: TableForm, name: str) -> tuple[tuple[str, str], ...]:
    """The mapping, with the text column that `read` adds if none was specified."""
    try:
        first, *_rest = roles.with_text(roles.parse(form.mapping), _guessed(form), name)
    except ImportFailed:
        return form.mapping
    added = (first.text, first.column)
    return form.mapping if added in form.mapping else (added, *form.mapping)


# ---------------------------------------------------------------- lists in cells


@dataclass
class _Lists:
    """The columns of tags and of indicators of classes, see `list_fields`.

    vectors: columns with a list of indicators → its length. indicators: columns with one class
    each. blank: columns → values for no class. replaced: how many texts were replaced by their
    tokens.
    """

    file: str
    columns: Sequence[str]
    mapped: Sequence[roles.Role]
    tags: list_fields.Tags
    names: tuple[str, ...]
    vectors: dict[str, int]
    indicators: frozenset[str]
    blank: Mapping[str, frozenset[str]]
    text_is_list: bool = False
    replaced: int = 0
    offsets: Offsets = field(default_factory=Offsets)

    @classmethod
    def of(
        cls, mapped: Sequence[roles.Role], form: TableForm, options: Options, file: str
    ) -> _Lists:
        names = list_fields.names_in(options.settings)
        tags = [(role.column, role.name) for role in mapped if role.is_tag]
        place = {name: n for n, name in enumerate(form.columns)}
        cells = {
            role.column: [row[place[role.column]] for row in form.sample if len(row) == len(place)]
            for role in mapped
            if role.kind in (*roles.CLASSES, "text")
        }
        lists = {name: list(map(table_cells.list_of, its)) for name, its in cells.items()}
        lengths = {
            name: list_fields.vector_length(values)
            for name, values in lists.items()
            if all(
                value or not cell.strip() for cell, value in zip(cells[name], values, strict=True)
            )
        }
        text = next(role.column for role in mapped if role.kind == "text")
        texts = 1 + any(role.kind == "text_b" for role in mapped)
        return cls(
            file,
            form.columns,
            mapped,
            list_fields.Tags(tags, names),
            names,
            {name: length for name, length in lengths.items() if length and name != text},
            list_fields.shared_indicators(roles.several(mapped), cells),
            {
                role.column: list_fields.unlabelled(cells[role.column], texts)
                for role in mapped
                if role.kind == "label"
            },
            bool(list_fields.tokens_alone({"tokens": lists[text]})),
        )

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of numbered classes; with tags, the names are those of tags."""
        return () if self.tags.columns else self.names

    def feed(self, rows: Iterable[Sequence[str] | Fault]) -> None:
        """Read the tags of all rows: they decide on the scheme."""
        places = [(column, self.columns.index(column)) for column in self.tags.columns]
        for row in rows:
            if isinstance(row, Fault) or len(row) != len(self.columns):
                continue
            for column, place in places:
                with suppress(Fault):
                    self.tags.feed(column, table_cells.tags(row[place]))

    def layers(self) -> Iterator[Hint | Layer]:
        yield from (Hint(name, TAG_KIND) for name in self.tags.tag_layers())
        texts = 1 + any(role.kind == "text_b" for role in self.mapped)
        several = [(role.name, role.column) for role in self.mapped if role.kind in roles.CLASSES]
        yield from list_fields.indicated_layers(
            several, self.vectors, self.indicators, self.names, texts
        )

    def classes(self, column: str, cell: str) -> tuple[str, ...] | None:
        """The classes of a cell of indicators; None if it is blank. Raises Fault."""
        if column in self.vectors:
            value = table_cells.list_of(cell)
            return list_fields.classes_of_vector(value, self.vectors[column], self.names)
        is_on = list_fields.is_on(cell, column)
        return None if is_on is None else (column,) * is_on

    def remarks(self) -> Iterator[str]:
        yield from self.tags.remarks(self.file)
        yield from self.offsets.remarks(self.file)
        for column, length in self.vectors.items() if not self.names else ():
            yield list_fields.vector_remark(self.file, column, length)
        if self.replaced:
            yield list_fields.replaced_remark(self.file, self.replaced)


# ---------------------------------------------------------------- one row


def _choice_layer(mapped: Sequence[roles.Role]) -> Iterator[Layer]:
    """The layer of the right choices, with the numbers of all columns of choices as labels."""
    most = sum(role.kind == roles.CHOICE for role in mapped)
    for role in mapped:
        if role.kind in roles.OF_CHOICES:
            kind = PREFERENCE if role.kind == roles.PREFERRED else ONE_OF
            yield Layer(role.name, kind.id, tuple(map(Label, choice_names(most))), CHOICES)


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
        wanted=len(columns),
    )
    return Fault(template)


def _record(row: list[str], places: list[tuple[roles.Role, int]], lists: _Lists) -> Record:
    """Raises Fault."""
    cells = {role.kind: row[place] for role, place in places if role.kind in roles.PLAIN}
    named = [(role, row[place]) for role, place in places if role.kind in roles.NAMED]
    choices = [row[place] for role, place in places if role.kind == roles.CHOICE and row[place]]
    tagged = any(role.is_tag and cell for role, cell in named)
    document = _document(cells, choices, lists, tagged=tagged)
    meta = metadata((role.name, cell) for role, cell in named if role.kind == "meta")
    document = replace(document, meta=meta)
    states: dict[str, str] = {}
    marks: dict[str, tuple[str, ...]] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    for role, cell in named:
        if not cell.strip():
            continue
        if role.is_tag:
            tags = table_cells.tags(cell)
            tokens = document.tokens.get(TEXT, ())
            add_spans(spans, role.name, lists.tags.spans(role.column, tags, tokens))
        elif role.kind in (roles.SPANS, roles.CHAINS):
            add_spans(spans, role.name, table_cells.spans(cell, document.text, lists.offsets))
        elif role.column in lists.vectors or role.column in lists.indicators:
            if (names := lists.classes(role.column, cell)) is None:
                continue
            marks[role.name] = tuple(dict.fromkeys((*marks.get(role.name, ()), *names)))
        elif role.kind == "label":
            if list_fields.is_unlabelled(cell, lists.blank[role.column]):
                continue
            marks[role.name] = (list_fields.class_name(cell.strip(), lists.class_names),)
        elif role.kind == roles.LABELS:
            class_names = (
                list_fields.class_name(name, lists.class_names) for name in table_cells.labels(cell)
            )
            marks[role.name] = tuple(dict.fromkeys((*marks.get(role.name, ()), *class_names)))
        elif role.kind in roles.OF_CHOICES:
            ties = role.kind == roles.PREFERRED
            marks[role.name] = table_cells.choice(cell, choices, ties=ties)
        else:
            continue
        states[role.name] = "submitted"
    numbers, written = add_values(named, states)
    return Record(document, states, marks, spans, numbers=numbers, written=written)


def _document(
    cells: Mapping[str, str], choices: Sequence[str], lists: _Lists, *, tagged: bool
) -> Document:
    """The document of a row: with choices, two texts, or tokens if it is tagged; no metadata."""
    text, tokens = _text_and_tokens(cells, lists, tagged=tagged)
    key, question = cells.get("id", "").strip(), cells.get(roles.QUESTION, "")
    if choices:
        texts = with_choices(key, text, choices, question).texts
    else:
        texts = texts_of(text, cells.get("text_b") or None)
    split, group = split_name(cells.get("split")), cells.get("group") or None
    return Document(key, texts, split, group, {}, {TEXT: tokens} if tokens else {})


def _text_and_tokens(
    cells: Mapping[str, str], lists: _Lists, *, tagged: bool
) -> tuple[str, list_fields.Offsets]:
    """The text and its tokens: those of a list, or the words of a tagged text. Raises Fault."""
    text = cells["text"]
    if (words := cells.get(roles.TOKENS, "")).strip():
        listed = list_fields.tokens_of(table_cells.list_of(words), roles.TOKENS)
        tokens = list_fields.place_tokens(listed, text)
        if tokens is not None:
            return text, tokens
        lists.replaced += 1
        return list_fields.joined(listed, roles.TOKENS)
    return table_cells.tokens(text) if tagged or lists.text_is_list else (text, ())


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
            _(
                "the escaped cells are {cell}, expected a JSON list of columns",
                cell=show(row[escaped]),
            )
        )
    cells = list(row)
    for name in names:
        cells[place[name]] = unescape(cells[place[name]])
    return cells
