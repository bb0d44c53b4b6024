"""The staging file of an import: a child process writes a small database, which the parent attaches
and copies.

Parsing therefore never blocks the window, and the copy is one transaction: imports are
all-or-nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from workbench.base.errors import ImportFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.storage.annotation.answers import rows_of
from workbench.storage.schema.tables import STATES
from workbench.storage.schema.values import Row, json_in, json_out, name_in, offsets_in, text_in
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, TEXT, Document, choice_names
from workbench.text.labels import (
    ANSWER,
    CLASS,
    CURATED,
    MULTI,
    ONE_OF,
    RELATION,
    SCORE,
    SPAN,
    WRITTEN_TEXT,
    Label,
    Layer,
    LayerKind,
)
from workbench.text.relations import SPANS, layer_of_ends, span_layer
from workbench.text.scale import Scale, decimals_of
from workbench.text.spans import Place, Span

TABLES = """
create table doc(seq integer primary key, file integer, line integer, key text, split text,
fold_group text, meta text,
  text_hash text, length integer, texts integer);
create table version(seq integer primary key, doc integer, person integer, file integer,
line integer, rank integer);
create table person(n integer primary key, name text);
create table body(seq integer, content, field text default 'text');
create table tokens(seq integer, field text, borders blob);
create table state(seq integer, layer integer, state integer);
create table mark(seq integer, layer integer, label integer);
create table span(seq integer, layer integer, label integer, start integer, "end" integer,
field text default 'text', parts text, chain integer);
create table relation(seq integer, layer integer, label integer, from_row integer, to_row integer);
create table answer(seq integer, layer integer, question text, field text, start integer,
"end" integer, is_null integer, attrs text);
create table number(seq integer, layer integer, value real);
create table written(seq integer, layer integer, content);
create table note(seq integer, text text, span_row integer);
create table flag(seq integer, text text, span_row integer);
create table layer(n integer primary key, name text, kind text, texts integer, guideline text,
options text, declared integer);
create table label(n integer primary key, layer integer, name text, colour text, key text,
description text, parent text);
create table skipped(file integer, line integer, reason text);
create table warning(message text);
create table complete(documents integer);
"""
INSERTS = {
    "doc": "insert into doc values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "version": "insert into version values(?, ?, ?, ?, ?, ?)",
    "body": "insert into body(seq, content, field) values(?, ?, ?)",
    "tokens": "insert into tokens values(?, ?, ?)",
    "state": "insert into state values(?, ?, ?)",
    "mark": "insert into mark values(?, ?, ?)",
    "span": "insert into span values(?, ?, ?, ?, ?, ?, ?, ?)",
    "relation": "insert into relation values(?, ?, ?, ?, ?)",
    "answer": "insert into answer values(?, ?, ?, ?, ?, ?, ?, ?)",
    "number": "insert into number values(?, ?, ?)",
    "written": "insert into written values(?, ?, ?)",
    "note": "insert into note values(?, ?, ?)",
    "flag": "insert into flag values(?, ?, ?)",
    "skipped": "insert into skipped values(?, ?, ?)",
    "warning": "insert into warning values(?)",
}
# By number of columns: those that have the same text in most rows are left out, as binding a text
# takes long.
SHORT_INSERTS = {
    ("body", 2): "insert into body(seq, content) values(?, ?)",
    ("span", 5): 'insert into span(seq, layer, label, start, "end") values(?, ?, ?, ?, ?)',
}
STATE_NUMBERS = {name: number for number, name in enumerate(STATES)}
STATE_NAME = "case s.state {} end".format(
    " ".join(f"when {number} then '{name}'" for name, number in STATE_NUMBERS.items())
)
"""SQL of the name of a staged state `s.state`."""


def span_rows(record: Record, first: int) -> dict[tuple[str, Place], int]:
    """(layer, place) of each span → its row; `first`: that of the first span of the record."""
    spans = ((of, span.place) for of, some in record.spans.items() for span in some)
    return {span: number for number, span in enumerate(spans, first)}


def remark_rows(record: Record, seq: int, first: int) -> Iterator[tuple[str, Row]]:
    """(table, row) of notes and flags; those of spans that the record does not have are left out.

    `first`: the row of the first span of the record.
    """
    if not record.remarks:
        return
    numbers = span_rows(record, first)
    for remark in record.remarks:
        row = None if remark.place is None else numbers.get((remark.layer, remark.place))
        if remark.place is None or row is not None:
            yield remark.kind, (seq, name_in(remark.text), row)


_BATCH = 2000
LISTED = 100_000  # skipped records that are kept; a file of the wrong format may have millions


@dataclass(frozen=True)
class StagedLayer:
    """A layer of an import.

    `n` is its number in the staging file. `declared`: the imported file defines the layer;
    otherwise it is inferred from the records.
    """

    n: int
    layer: Layer
    labels: tuple[tuple[int, Label], ...]  # (number, label)
    declared: bool


class StagingWriter:
    """Writes a staging file in the child process that parses. `close` makes the file valid."""

    def __init__(self, path: Path):
        self.documents = self.skipped = self._seq = 0
        self._people: dict[str, int] = {}
        self._layers: dict[tuple[str, int], int] = {}
        self._declared: dict[str, int] = {}
        self._info: dict[int, Layer] = {}
        self._kinds: dict[str, LayerKind] = {}  # of layers with spans or classes: `hint`
        self._several: set[int] = set()  # layers with more than one class on a document
        self._ranges: dict[int, tuple[float, float, int]] = {}  # of inferred layers: see `Scale`
        self._labels: dict[tuple[int, str], int] = {}
        self._span_rows = 0  # the last row of the table of spans
        self._connected: dict[int, str] = {}  # relation layer → the layer of its spans
        self._rows: dict[str, list[Row]] = {table: [] for table in INSERTS}
        self._buffered = 0  # documents not yet written
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self._path = path
        self._conn = sqlite3.connect(path, isolation_level=None)
        self._conn.executescript("pragma journal_mode = off; pragma synchronous = off;" + TABLES)
        self._conn.execute("begin")

    def declare(self, layer: Layer) -> None:
        """Add a layer that the imported file defines, with its labels in order.

        If two files define the same layer, the first definition is used; new labels are added.
        """
        if layer.name in self._declared:
            for label in layer.labels:
                self._label(self._declared[layer.name], label)
            return
        number = self._new_layer(layer, declared=True)
        self._declared[layer.name] = number
        for label in layer.labels:
            self._label(number, label)

    def hint(self, layer: str, kind: LayerKind) -> None:
        """Set the kind of an inferred layer, instead of SPAN or of that of a single class."""
        self._kinds.setdefault(layer, kind)

    def add(
        self,
        record: Record,
        key: str,
        file: int,
        line: int,
        text_hash: str = "",
        *,
        person: str = "",
        of: int = 0,
    ) -> int:
        """Add a record. `file` is the 0-based number of its file, `line` its 1-based line.

        `text_hash`: that of the document, if it is known. person: whose labels they are. of: the
        number of the document, if only labels of another person are added. Returns its own number.
        """
        self._seq += 1
        seq, texts = self._seq, record.document.form
        if not of:
            self.documents += 1
            self._document(seq, record.document, texts, (key, file, line, text_hash))
        if person:
            self._version(seq, of or seq, person, record, (file, line))
        self._annotations(seq, record, texts)
        self._values(seq, record, texts)
        self._states(seq, record, texts)
        self._buffered += 1
        if self._buffered >= _BATCH:
            self.flush()
        return seq

    def _version(
        self, seq: int, document: int, person: str, record: Record, place: tuple[int, int]
    ) -> None:
        """The labels of a person. Of several versions the one of the lowest rank comes first."""
        if person not in self._people:
            number = self._people[person] = len(self._people) + 1
            with _writing():
                self._conn.execute("insert into person values(?, ?)", (number, name_in(person)))
        is_discarded = set(record.states.values()) == {"discarded"}
        rank = 0 if person == CURATED else 2 if is_discarded else 1
        self._rows["version"].append((seq, document, self._people[person], *place, rank))

    def _document(
        self, seq: int, document: Document, texts: int, known: tuple[str, int, int, str]
    ) -> None:
        """`known`: key, file, line and hash of the text, as of `add`."""
        rows, (key, file, line, text_hash) = self._rows, known
        group = None if document.group is None else name_in(document.group)
        length = 0
        bodies = rows["body"]
        for field, content in document.texts:
            length += len(content)
            body = seq, text_in(content)
            bodies.append(body if field == TEXT else (*body, field))
        rows["doc"].append(
            (
                seq,
                file,
                line,
                name_in(key),
                document.split,
                group,
                json_in(document.meta),
                text_hash or document.text_hash,
                length,
                texts,
            )
        )
        for field, offsets in document.tokens.items():
            rows["tokens"].append((seq, field, offsets_in(offsets)))

    def _annotations(self, seq: int, record: Record, texts: int) -> None:
        """Classes, spans, relations, and the notes and flags on them."""
        whole = _whole(texts)
        for name, labels in record.marks.items():
            layer = self._layer(name, self._of_marks(name, whole), texts)
            if whole.in_choices:
                self._number(layer, len(record.document.choices))
            self._marks(seq, layer, labels)
        for name, spans in record.spans.items():
            self._spans(seq, self._layer(name, self._kinds.get(name, SPAN), texts), spans)
        if record.relations:
            self._relations(seq, record, self._span_rows + 1, texts)
        if record.remarks:
            for table, row in remark_rows(record, seq, self._span_rows + 1):
                self._rows[table].append(row)
        if record.spans:
            self._span_rows += record.span_count

    def _values(self, seq: int, record: Record, texts: int) -> None:
        """Questions with their answers, numbers, and texts of layers."""
        rows = self._rows
        for name, questions in record.questions.items():
            layer = self._layer(name, ANSWER, texts)
            for question in questions:
                for row in rows_of(question, seq, layer, 0, 0):
                    rows["answer"].append(row[:8])
        for name, number in record.numbers.items():
            layer = self._layer(name, SCORE, texts)
            rows["number"].append((seq, layer, number))
            self._widen(layer, number)
        for name, content in record.written.items():
            layer = self._layer(name, WRITTEN_TEXT, texts)
            rows["written"].append((seq, layer, name_in(content)))

    def _states(self, seq: int, record: Record, texts: int) -> None:
        states = self._rows["state"]
        for name, state in record.states.items():
            if state != "pending":
                layer = self._declared.get(name) or self._layer(
                    name, self._kind_of(name, record, texts), texts
                )
                states.append((seq, layer, STATE_NUMBERS.get(state)))

    def submit_all(self, files: Iterable[int]) -> None:
        """Submit every layer of these files in each of their versions: all people saw them all."""
        self.flush()
        of = f"v.file in ({', '.join(map(str, map(int, files)))})"
        with _writing():
            self._conn.execute("create index seen on state(seq, layer)")
            self._conn.execute(
                f"insert into state select v.seq, y.layer, {STATE_NUMBERS['submitted']}"
                " from version v cross join (select distinct s.layer from version v"
                f" join state s on s.seq = v.seq where {of}) y where {of} and not exists"
                " (select 1 from state s where s.seq = v.seq and s.layer = y.layer)"
            )
            self._conn.execute("drop index seen")

    def skip(self, file: int, line: int, reason: str) -> None:
        self.skipped += 1
        if self.skipped <= LISTED:
            self._rows["skipped"].append((file, line, name_in(reason)))

    def warn(self, message: str) -> None:
        self._rows["warning"].append((name_in(message),))

    def _kind_of(self, name: str, record: Record, texts: int) -> LayerKind:
        """The kind of a layer that has a state in this record."""
        if name in record.relations:
            return RELATION
        if name in record.questions:
            return ANSWER
        if name in record.numbers or name in record.written:
            return SCORE if name in record.numbers else WRITTEN_TEXT
        if name in record.marks:
            return self._of_marks(name, _whole(texts))
        return self._kinds.get(name, SPAN)

    def _of_marks(self, name: str, whole: LayerKind) -> LayerKind:
        """The kind of a layer of classes; `whole` is the usual one."""
        hinted = self._kinds.get(name, whole)
        fits = hinted.on_document and hinted.in_choices == whole.in_choices
        return hinted if fits else whole

    def _spans(self, seq: int, layer: int, spans: Iterable[Span]) -> None:
        known, add = self._labels, self._rows["span"].append
        for span in spans:
            label = known.get((layer, span.label)) or self._label(layer, Label(span.label))
            place = seq, layer, label, span.start, span.end
            if span.field == TEXT and not span.parts and span.chain is None:
                add(place)
            else:
                add((*place, span.field, json_in(span.parts), span.chain))

    def _relations(self, seq: int, record: Record, first: int, texts: int) -> None:
        """`first`: the row of the first span of the record."""
        numbers = span_rows(record, first)
        for name, relations in record.relations.items():
            for relation in relations:
                layer, of = self._connecting(name, texts, layer_of_ends(record.spans, relation))
                row = numbers[of, relation.from_span.place], numbers[of, relation.to_span.place]
                label = self._label(layer, Label(relation.label))
                self._rows["relation"].append((seq, layer, label, *row))

    def _connecting(self, name: str, texts: int, of: str) -> tuple[int, str]:
        """The layer of relations between spans of the layer `of`; another one gets its name."""
        layer = self._layer(name, RELATION, texts)
        chosen = span_layer(self._info[layer]) or self._connected.setdefault(layer, of)
        if chosen == of or name in self._declared:
            return layer, chosen
        return self._connecting(f"{name} {of}", texts, of)

    def _widen(self, layer: int, number: float) -> None:
        if self._info[layer].name in self._declared:
            return
        low, high, decimals = self._ranges.get(layer, (number, number, 0))
        self._ranges[layer] = (
            min(low, number),
            max(high, number),
            max(decimals, decimals_of(number)),
        )

    def _number(self, layer: int, count: int) -> None:
        """A label for each of so many choices."""
        for name in choice_names(count):
            if (layer, name) not in self._labels:
                self._label(layer, Label(name))

    def _marks(self, seq: int, layer: int, labels: tuple[str, ...]) -> None:
        if len(labels) > 1:
            self._several.add(layer)
        for name in labels:
            self._rows["mark"].append(
                (seq, layer, self._labels.get((layer, name)) or self._label(layer, Label(name)))
            )

    def _layer(self, name: str, kind: LayerKind, texts: int) -> int:
        if name in self._declared:
            return self._declared[name]
        number = self._layers.get((name, texts))
        if number is None or self._info[number].kind != kind.id:
            taken = number is not None
            free_name = f"{name} {_kind_name(kind)}" if taken else name
            number = self._layers.get((free_name, texts)) if taken else None
            if number is None:
                number = self._layers[free_name, texts] = self._new_layer(
                    Layer(free_name, kind.id, texts=texts), declared=False
                )
        return number

    def _new_layer(self, layer: Layer, *, declared: bool) -> int:
        number = len(self._info) + 1
        self._info[number] = layer
        row = (
            number,
            name_in(layer.name),
            layer.kind,
            layer.texts,
            name_in(layer.guideline),
            json_in(dict(layer.options)),
            int(declared),
        )
        with _writing():
            self._conn.execute("insert into layer values(?, ?, ?, ?, ?, ?, ?)", row)
        return number

    def _label(self, layer: int, label: Label) -> int:
        if (layer, label.name) not in self._labels:
            number = self._labels[layer, label.name] = len(self._labels) + 1
            texts = (label.name, label.colour, label.key, label.description, label.parent)
            row = (number, layer, *map(name_in, texts))
            with _writing():
                self._conn.execute("insert into label values(?, ?, ?, ?, ?, ?, ?)", row)
        return self._labels[layer, label.name]

    def flush(self) -> None:
        """Write the buffered rows. Raises ImportFailed, for example on a full disk."""
        with _writing():
            for table, rows in self._rows.items():
                for width, some in groupby(rows, len):  # in order: rows are found by number
                    statement = SHORT_INSERTS.get((table, width), INSERTS[table])
                    self._conn.executemany(statement, some)
                rows.clear()
        self._buffered = 0

    def close(self) -> None:
        """Write the remaining rows and mark the file complete. Raises ImportFailed."""
        self.flush()
        with _writing():
            for number in self._several:
                if not self._info[number].traits.several:
                    self._conn.execute("update layer set kind = ? where n = ?", (MULTI.id, number))
            for number, of in self._connected.items():
                options = json_in({**self._info[number].options, SPANS: of})
                self._conn.execute("update layer set options = ? where n = ?", (options, number))
            for number, bounds in self._ranges.items():
                options = json_in({**self._info[number].options, **Scale.covering(*bounds).options})
                self._conn.execute("update layer set options = ? where n = ?", (options, number))
            self._conn.execute("insert into complete values(?)", (self.documents,))
            self._conn.execute("commit")
            self._conn.close()

    def abandon(self) -> None:
        """Close the file and delete it."""
        self._conn.close()
        self._path.unlink(missing_ok=True)


def _kind_name(kind: LayerKind) -> str:
    """Distinguishes layers of different kinds with the same name in a file."""
    if kind.asks:
        return "questions"
    if not kind.has_labels:
        return kind.id
    return "relations" if kind.between_spans else "spans" if kind.in_text else "class"


@contextmanager
def _writing() -> Iterator[None]:
    """Convert errors of SQLite to ImportFailed."""
    try:
        yield
    except sqlite3.Error as error:
        raise ImportFailed(
            _("The import could not be prepared: {error}.", error=error),
            hint=_("Free up disk space, then try again."),
        ) from error


# ---------------------------------------------------------------- reading


class ConnectedLabels(NamedTuple):
    """How many `relations` of a layer, by number, connect spans with these labels; the first place.

    `file` is the 0-based number of the file, `line` the line in it.
    """

    layer: int
    label: str
    from_label: str
    to_label: str
    relations: int
    file: int
    line: int


class StagedPerson(NamedTuple):
    """n: number in the staging file. documents: how many documents have a version of the person."""

    n: int
    name: str
    documents: int


_CONNECTED = (
    "select r.layer, l.name, f.name, t.name, count(*), d.file, min(d.line) from relation r"
    " join label l on l.n = r.label join span a on a.rowid = r.from_row"
    " join span b on b.rowid = r.to_row join label f on f.n = a.label"
    " join label t on t.n = b.label join doc d on d.seq = r.seq group by 1, 2, 3, 4 order by 1, 2"
)


_PEOPLE = (
    "select p.n, p.name, count(distinct v.doc) from person p join version v on v.person = p.n"
    " group by p.n order by p.n"
)
_SHARED = "select count(*) from (select doc from version group by doc having count(*) > 1)"


@dataclass(frozen=True)
class Staged:
    """The contents of a complete staging file, except its documents.

    shared: number of documents with versions of several people.
    """

    path: Path
    documents: int
    layers: tuple[StagedLayer, ...]
    skipped: tuple[tuple[int, int, str], ...]  # (file, line, reason)
    warnings: tuple[str, ...]
    relations: tuple[ConnectedLabels, ...] = ()
    people: tuple[StagedPerson, ...] = ()
    shared: int = 0


def examine(path: Path) -> Staged:
    """Read a staging file. Raises WorkbenchError if it cannot be read or is not complete."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as conn:
            layers = _staged_layers(conn)
            connected = tuple(ConnectedLabels(*row) for row in conn.execute(_CONNECTED).fetchall())
            people = tuple(
                StagedPerson(n, name, documents)
                for n, name, documents in conn.execute(_PEOPLE).fetchall()
            )
            (shared,) = conn.execute(_SHARED).fetchone()
            complete = conn.execute("select documents from complete").fetchone()
            skipped = tuple(
                conn.execute(
                    "select file, line, reason from skipped order by file, line"
                ).fetchall()
            )
            warnings = tuple(
                message for (message,) in conn.execute("select message from warning").fetchall()
            )
    except sqlite3.Error as error:
        raise WorkbenchError(
            _("The prepared import {path} cannot be read: {error}.", path=path, error=error),
            hint=_("Import the file again."),
        ) from error
    if complete is None:
        raise WorkbenchError(
            _("The prepared import {path} is not complete.", path=path),
            hint=_("Import the file again."),
        )
    return Staged(path, complete[0], layers, skipped, warnings, connected, people, shared)


def _whole(texts: int) -> LayerKind:
    """The kind of undeclared layers of whole documents of this form."""
    return ONE_OF if texts == CHOICES else CLASS


def _staged_layers(conn: sqlite3.Connection) -> tuple[StagedLayer, ...]:
    labels: dict[int, list[tuple[int, Label]]] = {}
    for n, layer, name, colour, key, description, parent in conn.execute(
        "select * from label order by n"
    ).fetchall():
        label = Label(name, colour, key, description, parent=parent)
        labels.setdefault(layer, []).append((n, label))
    return tuple(
        StagedLayer(
            n,
            Layer(name, kind, (), texts, guideline, json_out(options)),
            tuple(labels.get(n, ())),
            bool(declared),
        )
        for n, name, kind, texts, guideline, options, declared in conn.execute(
            "select * from layer order by n"
        ).fetchall()
    )
