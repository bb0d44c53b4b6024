"""Annotations of documents: marks (class labels), spans and states, per layer and annotator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.relations import hand_over
from workbench.storage.annotation.suggestions import (
    NewSuggestion,
    SuggestionRow,
    add_suggestions,
    set_suggestion_status,
    suggestions,
)
from workbench.storage.connections.database import Database
from workbench.storage.schema.tables import STATES
from workbench.storage.schema.values import Row, ids_in, json_in, new_id, new_uid, now, parts_out
from workbench.text.labels import LABEL_TABLES

__all__ = [
    "MarkRow",
    "NewSuggestion",
    "SpanRow",
    "SuggestionRow",
    "add_span",
    "add_suggestions",
    "clear_mark",
    "delete_span",
    "marks",
    "set_mark",
    "set_state",
    "set_suggestion_status",
    "spans",
    "state",
    "states",
    "suggestions",
    "update_span",
]

CHUNK = 1000  # documents per statement; an operation can be cancelled between two statements


@dataclass(frozen=True)
class MarkRow:
    """A class label of a document.

    `source_kind` is one of `tables.SOURCE_KINDS`; `score` is in [0, 1]; `made_by` (an annotator, or
    None) and `made_at` are those of the source.
    """

    id: int
    document_id: int
    layer_id: int
    label_id: int | None
    source_kind: str
    source_ref: str
    score: float | None
    value: float | None
    made_by: int | None = None
    made_at: str = ""


@dataclass(frozen=True)
class SpanRow:
    """A labelled range [start, end), in code points, of one text field of a document.

    `parts` are the ranges of a discontinuous span, `chain` its number in a layer of chains.
    """

    id: int
    document_id: int
    start: int
    end: int
    field: str
    label_id: int | None
    layer_id: int
    source_kind: str
    source_ref: str
    score: float | None
    made_by: int | None = None
    made_at: str = ""
    parts: tuple[tuple[int, int], ...] = ()
    chain: int | None = None

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranges that the span covers: its parts, or all of it."""
        return self.parts or ((self.start, self.end),)


# ---------------------------------------------------------------- reading gold


def marks(db: Database, document_id: int) -> tuple[MarkRow, ...]:
    """Marks by the gold annotator of each layer, in order of layer."""
    statement = (
        "select m.id, m.document_id, m.layer_id, m.label_id, s.kind, s.ref, m.score, "
        "m.value, s.annotator_id, s.at from mark m"
        " join layer l on l.id = m.layer_id and l.gold = m.annotator_id join source s on "
        "s.id = m.source_id"
        " where m.document_id = ? order by m.layer_id, m.id"
    )
    return tuple(MarkRow(*row) for row in db.reader().execute(statement, (document_id,)).fetchall())


_SPAN = (
    'select p.id, p.document_id, p.start, p."end", p.field, p.label_id, p.layer_id, '
    "s.kind, s.ref, p.score, s.annotator_id, s.at, p.parts, p.group_id from span p"
    " join layer l on l.id = p.layer_id and l.gold = p.annotator_id join source s on "
    "s.id = p.source_id"
)


def spans(db: Database, document_id: int) -> tuple[SpanRow, ...]:
    """Spans by the gold annotator of each layer, in text order; longer spans first."""
    order = 'order by p.field, p.start, p."end" desc, p.id'
    rows = db.reader().execute(f"{_SPAN} where p.document_id = ? {order}", (document_id,))
    return tuple(map(_span_row, rows.fetchall()))


def _span_row(row: Row) -> SpanRow:
    *values, parts, chain = row
    return SpanRow(*(*values, parts_out(parts) if parts else (), chain))


def count_in_parts(db: Database, layer_id: int) -> int:
    """Number of spans of a layer that consist of several parts."""
    statement = "select count(*) from span where layer_id = ? and parts is not null"
    count: int = db.reader().execute(statement, (layer_id,)).fetchone()[0]
    return count


def span(db: Database, id: int) -> SpanRow:
    """Raises KeyError if there is no such span."""
    row = db.reader().execute(f"{_SPAN} where p.id = ?", (id,)).fetchone()
    if row is None:
        raise KeyError(id)
    return _span_row(row)


def state(db: Database, document_id: int, layer_id: int, annotator_id: int) -> str:
    """One of `tables.STATES`; a document without a row is pending."""
    statement = (
        "select state from state where document_id = ? and layer_id = ? and annotator_id = ?"
    )
    row = db.reader().execute(statement, (document_id, layer_id, annotator_id)).fetchone()
    return row[0] if row else "pending"


def states(db: Database, document_id: int) -> dict[int, str]:
    """Map layer id → state set by the gold annotator. Pending layers are omitted."""
    statement = (
        "select s.layer_id, s.state from state s join layer l on l.id = s.layer_id and "
        "l.gold = s.annotator_id"
        " where s.document_id = ? and s.state != 'pending'"
    )
    return dict(db.reader().execute(statement, (document_id,)).fetchall())


# ---------------------------------------------------------------- writing


def add_span(
    db: Database,
    document_id: int,
    layer_id: int,
    label_id: int | None,
    start: int,
    end: int,
    *,
    field: str = "text",
    annotator_id: int,
    source_id: int,
    score: float | None = None,
    chain: int | None = None,
) -> int:
    """Add a span and return its id. `chain`: its number in a layer of chains.

    If an identical span exists (same field, offsets, label and annotator), returns that span's id.
    """
    identical = (  # the plus keeps SQLite to the index of labels, which finds fewer rows
        "document_id = ? and +layer_id = ? and label_id is ? and field = ? and start = ? and "
        '"end" = ? and annotator_id = ? and parts is null'
    )
    key = (document_id, layer_id, label_id, field, start, end, annotator_id)
    if row := db.writer.execute(f"select id from span where {identical}", key).fetchone():
        span_id: int = row[0]
        return span_id
    columns = (
        'document_id, layer_id, label_id, field, start, "end", annotator_id, uid, source_id, score,'
        " group_id"
    )
    inserted = db.writer.execute(
        f"insert into span({columns}) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*key, new_uid(), source_id, score, chain),
    )
    return new_id(inserted)


def update_span(
    db: Database,
    id: int,
    *,
    source_id: int,
    label_id: int | None = None,
    start: int | None = None,
    end: int | None = None,
    parts: tuple[tuple[int, int], ...] | None = None,
) -> None:
    """Change the label or the offsets and clear the score.

    `parts`: the ranges of a discontinuous span, () for a span in one piece. Deletes any other span
    that is now identical; its relations, notes and flags go to this one. Raises KeyError if there
    is no such span.
    """
    statement = (
        'update span set label_id = ifnull(?, label_id), start = ifnull(?, start), "end" = '
        'ifnull(?, "end"), source_id = ?, score = null where id = ?'
    )
    if not db.writer.execute(statement, (label_id, start, end, source_id, id)).rowcount:
        raise KeyError(id)
    if parts is not None:
        db.writer.execute("update span set parts = ? where id = ?", (json_in(parts), id))
    columns = "+layer_id, annotator_id, field, start, \"end\", ifnull(parts, '')"
    twins = (  # over the index of labels, which finds fewer rows than that of layers
        "label_id is (select label_id from span where id = :id) and "
        "document_id = (select document_id from span where id = :id) and "
        f"({columns}) = (select {columns} from span where id = :id)"
    )
    rows = db.writer.execute(
        f"select id from span where {twins} and id != :id", {"id": id}
    ).fetchall()
    if rows:
        hand_over(db, [(twin, id) for (twin,) in rows])
    for (twin,) in rows:
        delete_span(db, twin)


def delete_overlapping(
    db: Database,
    document_id: int,
    layer_id: int,
    start: int,
    end: int,
    field: str,
    *,
    annotator_id: int,
) -> None:
    """Delete the spans of a person in a layer that overlap [start, end) of a text field."""
    statement = (
        'select id from span where document_id = ? and layer_id = ? and field = ? and "end" > ?'
        " and start < ? and annotator_id = ?"
    )
    values = (document_id, layer_id, field, start, end, annotator_id)
    rows = db.writer.execute(statement, values).fetchall()
    for (id,) in rows:
        delete_span(db, id)


def delete_span(db: Database, id: int) -> None:
    db.writer.execute("delete from span where id = ?", (id,))


def set_mark(
    db: Database,
    document_id: int,
    layer_id: int,
    label_id: int,
    *,
    annotator_id: int,
    source_id: int,
    score: float | None = None,
    many: bool = False,
) -> None:
    """Set the class of a document.

    Replaces the current classes; with `many` (multi-label layers), adds to them.
    """
    where = "document_id = ? and layer_id = ? and annotator_id = ?"
    key = (document_id, layer_id, annotator_id)
    current = [
        row[0]
        for row in db.writer.execute(f"select label_id from mark where {where}", key).fetchall()
    ]
    if current == [label_id] or (many and label_id in current):
        return
    if not many:
        db.writer.execute(f"delete from mark where {where}", key)
    row = (*key, label_id, source_id, score)
    db.writer.execute(
        "insert into mark(document_id, layer_id, annotator_id, label_id, source_id, "
        "score) values(?, ?, ?, ?, ?, ?)",
        row,
    )


def clear_mark(
    db: Database, document_id: int, layer_id: int, annotator_id: int, label_id: int | None = None
) -> None:
    """Remove one class of a document, or all classes if `label_id` is None."""
    statement = (
        "delete from mark where document_id = ? and layer_id = ? and annotator_id = ? and "
        "label_id = ifnull(?, label_id)"
    )
    key = (document_id, layer_id, annotator_id)
    if db.writer.execute(statement, (*key, label_id)).rowcount:
        renew(db, *key)


_HAS_CHANGED = (  # whether this edit has changed a label of the document
    "exists (select 1 from journal_row j where j.step_id = (select max(id) from journal_step)"
    " and j.doc = excluded.document_id and j.tbl in ({}))".format(
        ", ".join(f"'{table}'" for table in LABEL_TABLES)
    )
)


def renew(db: Database, document_id: int, layer_id: int, annotator_id: int) -> None:
    """Labels of a document were removed in a layer, now; its state stays."""
    db.writer.execute(
        "update state set at = ? where document_id = ? and layer_id = ? and annotator_id = ?",
        (now(), document_id, layer_id, annotator_id),
    )


def set_state(
    db: Database,
    document_ids: Iterable[int],
    layer_id: int,
    annotator_id: int,
    new: str,
    *,
    watch: Watch = QUIET,
) -> int:
    """Set the state of documents in a layer and return the number of documents changed.

    Documents to which the layer does not apply are skipped. Raises ValueError for an unknown state.
    """
    if new not in STATES:
        raise ValueError(f"state {new!r} is none of {STATES}")
    execute, at, chunks = db.writer.execute, now(), watch.over(sorted(document_ids), CHUNK)
    if new == "pending":
        statement = (
            "delete from state where layer_id = ? and annotator_id = ? and document_id in "
            "(select value from json_each(?))"
        )
        return sum(
            execute(statement, (layer_id, annotator_id, ids_in(chunk))).rowcount for chunk in chunks
        )
    statement = (
        "insert into state(document_id, layer_id, annotator_id, state, at) select d.id, "
        "l.id, ?, ?, ? from document d, layer l"
        " where l.id = ? and d.texts = ifnull(json_extract(l.options, '$.texts'), 1) and "
        "d.id in (select value from json_each(?))"
        " on conflict (document_id, layer_id, annotator_id) do update set state = "
        "excluded.state, at = excluded.at where state != excluded.state"
    )
    return sum(
        execute(statement, (annotator_id, new, at, layer_id, ids_in(chunk))).rowcount
        for chunk in chunks
    )


def start_draft(db: Database, document_id: int, layer_id: int, annotator_id: int) -> None:
    """Labels of a document were changed in a layer: pending and discarded become draft.

    Call it after each change: a merge compares the times of the states, so the others are renewed,
    unless the edit has changed no label of the document. A layer that does not apply to the
    document is skipped.
    """
    db.writer.execute(
        "insert into state(document_id, layer_id, annotator_id, state, at) select d.id, l.id, ?,"
        " 'draft', ? from document d, layer l where l.id = ? and d.id = ?"
        " and d.texts = ifnull(json_extract(l.options, '$.texts'), 1)"
        " on conflict (document_id, layer_id, annotator_id) do update set at = excluded.at,"
        " state = case state when 'submitted' then state else 'draft' end"
        f" where state not in ('draft', 'submitted') or {_HAS_CHANGED}",
        (annotator_id, now(), layer_id, document_id),
    )


def reset_untouched(
    db: Database, document_ids: Iterable[int], layer_id: int, annotator_id: int
) -> int:
    """Reset drafts that have no annotation in the layer to pending. Returns their number."""
    statement = (
        "delete from state where layer_id = ?1 and annotator_id = ?2 and state = 'draft'"
        " and document_id in (select value from json_each(?3))"
    )
    for table in LABEL_TABLES:
        statement += (
            f" and not exists (select 1 from {table} t where t.document_id = state.document_id"
            " and t.layer_id = ?1 and t.annotator_id = ?2)"
        )
    return db.writer.execute(statement, (layer_id, annotator_id, ids_in(document_ids))).rowcount
