"""Class labels, spans and states: the annotations of documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.database import Database
from workbench.storage.listing import Filter, condition
from workbench.storage.suggestions import (
    NewSuggestion,
    SuggestionRow,
    add_suggestions,
    set_suggestion_status,
    suggestions,
)
from workbench.storage.tables import STATES
from workbench.storage.values import ids_in, new_uid, now

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
    "next_unlabelled",
    "set_mark",
    "set_state",
    "set_suggestion_status",
    "spans",
    "state",
    "states",
    "suggestions",
    "update_span",
]

CHUNK = 1000  # documents changed by one statement, after which an operation can be cancelled


@dataclass(frozen=True)
class MarkRow:
    """A class of a document. `source_kind`: person, import, rule, run, prompt or merge."""

    id: int
    document_id: int
    layer_id: int
    label_id: int | None
    source_kind: str
    source_ref: str
    score: float | None
    value: float | None


@dataclass(frozen=True)
class SpanRow:
    """Code points [start, end) of one text of a document."""

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


# ---------------------------------------------------------------- reading gold


def marks(db: Database, document_id: int) -> tuple[MarkRow, ...]:
    """Marks of the gold annotator of each layer."""
    statement = (
        "select m.id, m.document_id, m.layer_id, m.label_id, s.kind, s.ref, m.score, "
        "m.value from mark m"
        " join layer l on l.id = m.layer_id and l.gold = m.annotator_id join source s on "
        "s.id = m.source_id"
        " where m.document_id = ? order by m.layer_id, m.id"
    )
    return tuple(MarkRow(*row) for row in db.reader().execute(statement, (document_id,)).fetchall())


_SPAN = (
    'select p.id, p.document_id, p.start, p."end", p.field, p.label_id, p.layer_id, '
    "s.kind, s.ref, p.score from span p"
    " join layer l on l.id = p.layer_id and l.gold = p.annotator_id join source s on "
    "s.id = p.source_id"
)


def spans(db: Database, document_id: int) -> tuple[SpanRow, ...]:
    """Spans of the gold annotator of each layer, in order of the text, longer ones first."""
    order = 'order by p.field, p.start, p."end" desc, p.id'
    return tuple(
        SpanRow(*row)
        for row in db.reader()
        .execute(f"{_SPAN} where p.document_id = ? {order}", (document_id,))
        .fetchall()
    )


def span(db: Database, id: int) -> SpanRow:
    """Raises KeyError if there is no such span."""
    row = db.reader().execute(f"{_SPAN} where p.id = ?", (id,)).fetchone()
    if row is None:
        raise KeyError(id)
    return SpanRow(*row)


def state(db: Database, document_id: int, layer_id: int, annotator_id: int) -> str:
    statement = (
        "select state from state where document_id = ? and layer_id = ? and annotator_id = ?"
    )
    row = db.reader().execute(statement, (document_id, layer_id, annotator_id)).fetchone()
    return row[0] if row else "pending"


def states(db: Database, document_id: int) -> dict[int, str]:
    """Layer id → state by its gold annotator; pending layers are omitted."""
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
) -> int:
    """Add a span. An identical one (same offsets, label and annotator) is not added again; returns
    its id.
    """
    same = (
        "document_id = ? and layer_id = ? and label_id is ? and field = ? and start = ? and "
        '"end" = ? and annotator_id = ?'
    )
    key = (document_id, layer_id, label_id, field, start, end, annotator_id)
    if row := db.writer.execute(f"select id from span where {same}", key).fetchone():
        return row[0]
    columns = (
        'document_id, layer_id, label_id, field, start, "end", annotator_id, uid, source_id, score'
    )
    return db.writer.execute(
        f"insert into span({columns}) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*key, new_uid(), source_id, score),
    ).lastrowid


def update_span(
    db: Database,
    id: int,
    *,
    source_id: int,
    label_id: int | None = None,
    start: int | None = None,
    end: int | None = None,
) -> None:
    """Change the label or the offsets.

    A span changed by a person has no score; an identical one is deleted.
    """
    statement = (
        'update span set label_id = ifnull(?, label_id), start = ifnull(?, start), "end" = '
        'ifnull(?, "end"), source_id = ?, score = null where id = ?'
    )
    if not db.writer.execute(statement, (label_id, start, end, source_id, id)).rowcount:
        raise KeyError(id)
    place = 'document_id, layer_id, annotator_id, field, start, "end", ifnull(label_id, 0)'
    db.writer.execute(
        f"delete from span where id != ?1 and ({place}) = (select {place} from span where id = ?1)",
        (id,),
    )


def delete_overlapping(
    db: Database, document_id: int, layer_id: int, start: int, end: int, field: str
) -> None:
    """Delete the spans of a layer that share a character with [start, end) of a text."""
    statement = (
        'select id from span where document_id = ? and layer_id = ? and field = ? and "end" > ?'
        " and start < ?"
    )
    found = db.writer.execute(statement, (document_id, layer_id, field, start, end)).fetchall()
    for (id,) in found:
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
    """Set the class of a document, replacing the current one, or, with `many`, add it."""
    mine = "document_id = ? and layer_id = ? and annotator_id = ?"
    key = (document_id, layer_id, annotator_id)
    have = [
        row[0]
        for row in db.writer.execute(f"select label_id from mark where {mine}", key).fetchall()
    ]
    if have == [label_id] or (many and label_id in have):
        return
    if not many:
        db.writer.execute(f"delete from mark where {mine}", key)
    row = (*key, label_id, source_id, score)
    db.writer.execute(
        "insert into mark(document_id, layer_id, annotator_id, label_id, source_id, "
        "score) values(?, ?, ?, ?, ?, ?)",
        row,
    )


def clear_mark(
    db: Database, document_id: int, layer_id: int, annotator_id: int, label_id: int | None = None
) -> None:
    """Remove the class, by default all classes."""
    statement = (
        "delete from mark where document_id = ? and layer_id = ? and annotator_id = ? and "
        "label_id = ifnull(?, label_id)"
    )
    db.writer.execute(statement, (document_id, layer_id, annotator_id, label_id))


def set_state(
    db: Database,
    document_ids: Iterable[int],
    layer_id: int,
    annotator_id: int,
    new: str,
    *,
    watch: Watch = QUIET,
) -> int:
    """Set the state. Documents to which the layer does not apply are skipped. Returns how many have
    that state now.

    Raises ValueError for an unknown state.
    """
    if new not in STATES:
        raise ValueError(f"state {new!r} is none of {STATES}")
    execute, at, pieces = db.writer.execute, now(), watch.over(sorted(document_ids), CHUNK)
    if new == "pending":
        statement = (
            "delete from state where layer_id = ? and annotator_id = ? and document_id in "
            "(select value from json_each(?))"
        )
        return sum(
            execute(statement, (layer_id, annotator_id, ids_in(some))).rowcount for some in pieces
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
        execute(statement, (annotator_id, new, at, layer_id, ids_in(some))).rowcount
        for some in pieces
    )


def reset_untouched(
    db: Database, document_ids: Iterable[int], layer_id: int, annotator_id: int
) -> int:
    """Drafts without any annotation left in the layer become pending. Returns how many."""
    statement = (
        "delete from state where layer_id = ?1 and annotator_id = ?2 and state = 'draft'"
        " and document_id in (select value from json_each(?3))"
        " and not exists (select 1 from mark m where m.document_id = state.document_id"
        " and m.layer_id = ?1 and m.annotator_id = ?2)"
        " and not exists (select 1 from span p where p.document_id = state.document_id"
        " and p.layer_id = ?1 and p.annotator_id = ?2)"
    )
    return db.writer.execute(statement, (layer_id, annotator_id, ids_in(document_ids))).rowcount


# ---------------------------------------------------------------- unfinished documents


def next_unlabelled(
    db: Database,
    after_id: int | None,
    layer_ids: Sequence[int],
    *,
    annotator_id: int,
    wanted: Filter | None = None,
) -> int | None:
    """The first document after `after_id` that passes `wanted`, that one of the layers is for and
    that is neither submitted nor discarded there.

    Begins again at the first document when the end is reached; `after_id` itself comes last.
    None if nothing is left to do.
    """
    more = condition(db, wanted) if wanted is not None else ("1", [])

    def first(after: int, until: int | None) -> int | None:
        found = [_first_open(db, after, until, id, annotator_id, more) for id in layer_ids]
        return min((id for id in found if id), default=None)

    found = first(after_id or 0, None)
    if found is None and after_id is not None:
        found = first(0, after_id)
    return found


def _first_open(
    db: Database,
    after: int,
    until: int | None,
    layer_id: int,
    annotator_id: int,
    more: tuple[str, list],
) -> int | None:
    """In (after, until].

    Ends at the first one found, so going on through a half-done project costs nothing to speak of.
    """
    statement = (
        "select d.id from document d where d.id > ?3 and (?4 is null or d.id <= ?4)"
        " and d.texts = (select ifnull(json_extract(options, '$.texts'), 1) from layer "
        "where id = ?1)"
        " and not exists (select 1 from state s where s.document_id = d.id and "
        "s.layer_id = ?1 and s.annotator_id = ?2"
        f" and s.state in ('submitted', 'discarded')) and {more[0]} order by d.id limit 1"
    )
    values = (layer_id, annotator_id, after, until, *more[1])
    row = db.reader().execute(statement, values).fetchone()
    return row[0] if row else None


def open_count(db: Database, layer_ids: Sequence[int], *, annotator_id: int) -> int:
    """Number of documents that are unfinished in one of the layers."""
    statement = (
        "select count(*) from document d where exists (select 1 from layer l where l.id "
        "in (select value from json_each(?))"
        " and d.texts = ifnull(json_extract(l.options, '$.texts'), 1) and not exists "
        "(select 1 from state s where"
        " s.document_id = d.id and s.layer_id = l.id and s.annotator_id = ? and s.state "
        "in ('submitted', 'discarded')))"
    )
    return db.reader().execute(statement, (ids_in(layer_ids), annotator_id)).fetchone()[0]
