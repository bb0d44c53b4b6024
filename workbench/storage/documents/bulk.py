"""Bulk edits of documents, in chunks of `CHUNK`, so that they can be cancelled in between."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.annotations import reset_untouched
from workbench.storage.connections.database import Database
from workbench.storage.labels.labels import layer as layer_of
from workbench.storage.labels.labels import require_editable
from workbench.storage.schema.values import ids_in, now

CHUNK = 1000  # documents


def with_texts(db: Database, ids: Iterable[int], texts: int) -> list[int]:
    """Ids of the given documents that have exactly `texts` text fields, in ascending order."""
    statement = (
        "select id from document where texts = ? and id in (select value from json_each(?)) "
        "order by id"
    )
    return [id for (id,) in db.reader().execute(statement, (texts, ids_in(ids))).fetchall()]


def set_class(
    db: Database,
    ids: Iterable[int],
    layer_id: int,
    label_id: int | None,
    *,
    annotator_id: int,
    source: Callable[[], int],
    watch: Watch = QUIET,
) -> int:
    """Set the class of documents in one layer; `label_id` None removes it.

    Returns the number of documents changed. `source()` creates the source row of the new marks and
    is called only if there are any.

    States change as in a manual edit: a pending document that gets a class becomes a draft; a
    submitted document that loses its class becomes a draft; a draft without any other annotation
    becomes pending.
    """
    conn = db.writer
    where = "layer_id = ? and annotator_id = ?"
    key = (layer_id, annotator_id)
    only_this_label = (
        f"select document_id from mark where {where} group by document_id having count(*) = 1 "
        f"and max(label_id) = ?"
    )
    if label_id is None:
        changed = [
            id
            for (id,) in conn.execute(
                f"select distinct document_id from mark where {where}"
                " and document_id in (select value from json_each(?))",
                (*key, ids_in(ids)),
            )
        ]
    else:
        unchanged = {id for (id,) in conn.execute(only_this_label, (*key, label_id)).fetchall()}
        changed = [id for id in ids if id not in unchanged]
    changed.sort()
    source_id = source() if changed and label_id is not None else 0
    for chunk in watch.over(changed, CHUNK):
        _set_class(conn, ids_in(chunk), key, label_id, source_id)
        if label_id is None:
            reset_untouched(db, chunk, *key)
            _reopen_submitted(conn, ids_in(chunk), key)
    return len(changed)


def _set_class(
    conn: sqlite3.Connection,
    changed: str,
    key: tuple[int, int],
    label_id: int | None,
    source_id: int,
) -> None:
    """Replace the marks. `changed`: document ids as JSON; `key`: (layer id, annotator id)."""
    where, (layer_id, annotator_id) = "layer_id = ? and annotator_id = ?", key
    conn.execute(
        f"delete from mark where {where} and document_id in (select value from json_each(?))",
        (*key, changed),
    )
    if label_id is not None:
        conn.execute(
            "insert into mark(document_id, layer_id, label_id, annotator_id, source_id)"
            " select d.id, ?, ?, ?, ? from document d where d.id in (select value from "
            "json_each(?)) order by d.id",
            (layer_id, label_id, annotator_id, source_id, changed),
        )
        _start_drafts(conn, changed, key)


def start_drafts(db: Database, ids: Iterable[int], layer_id: int, annotator_id: int) -> None:
    """Documents without a state in the layer become drafts. Raises WorkbenchError if its labels are
    read-only.
    """
    require_editable(db, layer_id)
    _start_drafts(db.writer, ids_in(ids), (layer_id, annotator_id))


def _start_drafts(conn: sqlite3.Connection, changed: str, key: tuple[int, int]) -> None:
    conn.execute(
        "insert into state(document_id, layer_id, annotator_id, state, at) select "
        "d.id, ?, ?, 'draft', ? from document d"
        " where d.id in (select value from json_each(?)) and not exists (select 1 "
        "from state s where s.document_id = d.id"
        " and s.layer_id = ? and s.annotator_id = ?) order by d.id",
        (*key, now(), changed, *key),
    )


def _reopen_submitted(conn: sqlite3.Connection, changed: str, key: tuple[int, int]) -> None:
    conn.execute(
        "update state set state = 'draft', at = ? where layer_id = ? and annotator_id = ?"
        " and state = 'submitted' and document_id in (select value from json_each(?))",
        (now(), *key, changed),
    )


def reopen_submitted(db: Database, ids: Iterable[int], layer_id: int, annotator_id: int) -> None:
    """Submitted documents without a label in the layer become drafts."""
    empty = without_label(db, ids, layer_id, annotator_id)
    _reopen_submitted(db.writer, ids_in(empty), (layer_id, annotator_id))


def without_label(db: Database, ids: Iterable[int], layer_id: int, annotator_id: int) -> list[int]:
    """Ids of the given documents that have no label in the layer, in ascending order.

    So are those with a question that has no answer yet.
    """
    traits = layer_of(db, layer_id).traits
    own = (
        f"exists (select 1 from {traits.table} m where m.document_id = d.id and m.layer_id = ?2"
        " and m.annotator_id = ?3{})"
    )
    empty = f"not {own.format('')}"
    if traits.asks:
        empty += f" or {own.format(' and m.start is null and not m.is_null')}"
    statement = (
        "select id from document d where id in (select value from json_each(?1))"
        f" and ({empty}) order by id"
    )
    return [
        id
        for (id,) in db.reader()
        .execute(statement, (ids_in(ids), layer_id, annotator_id))
        .fetchall()
    ]


@dataclass(frozen=True, slots=True)
class SplitRow:
    """The columns of a document that the split operation reads."""

    id: int
    split: str | None
    group: str | None
    text_hash: str


_SUBMITTED = (
    "state s join layer l on l.id = s.layer_id and l.gold = s.annotator_id"
    " and s.state = 'submitted' and l.name in (select value from json_each(?))"
)


def split_rows(db: Database, layer_names: Sequence[str]) -> list[SplitRow]:
    """Documents that the gold annotator submitted in at least one of the layers, by id."""
    statement = (
        "select id, split, fold_group, text_hash from document"
        f" where id in (select s.document_id from {_SUBMITTED}) order by id"
    )
    rows = db.reader().execute(statement, (json.dumps(list(layer_names)),)).fetchall()
    return [SplitRow(*row) for row in rows]


def split_labels(
    db: Database, layer_names: Sequence[str]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Map document id → (layer name, label name) pairs, for the documents of `split_rows`.

    The label is "" in a layer that was submitted without a label.
    """
    statement = (
        "select distinct s.document_id, l.name, ifnull(b.name, '')"
        f" from {_SUBMITTED} left join {{table}} t on t.document_id = s.document_id"
        " and t.layer_id = l.id and t.annotator_id = l.gold left join label b on b.id = t.label_id"
    )
    pairs: dict[tuple[str, str], tuple[str, str]] = {}  # interned: equal pairs share one object
    by_document: dict[int, dict[tuple[str, str], None]] = {}
    for table in ("mark", "span"):
        rows = db.reader().execute(statement.format(table=table), (json.dumps(list(layer_names)),))
        for id, layer, label in rows.fetchall():
            pair = (layer, label)
            by_document.setdefault(id, {})[pairs.setdefault(pair, pair)] = None
    return {id: _without_blanks(labelled) for id, labelled in by_document.items()}


def _without_blanks(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Remove ("layer", "") where the layer has a label.

    A layer has either marks or spans, so the join with the other table yields an empty label.
    """
    named = {layer for layer, label in pairs if label}
    return tuple(sorted(pair for pair in pairs if pair[1] or pair[0] not in named))


def metadata_values(db: Database, field: str) -> dict[int, str]:
    """Document id → the value of a metadata field as text, for the documents that have it."""
    statement = (
        "select d.id, cast(j.atom as text) from document d, json_each(d.meta) j"
        " where j.key = ? and j.atom is not null"
    )
    return dict(db.reader().execute(statement, (field,)).fetchall())


def split_keys(db: Database) -> list[tuple[int, str | None, str | None, str]]:
    """(id, split, group, text hash) of every document."""
    return db.reader().execute("select id, split, fold_group, text_hash from document").fetchall()
