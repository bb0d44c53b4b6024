"""Layers and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotations import reset_untouched
from workbench.storage.database import Database
from workbench.storage.values import ids_in, json_in, json_out, name_in, new_uid
from workbench.text.labels import Label, Layer

CHUNK = 1000  # rows deleted by one statement, after which an operation can be cancelled
_LABEL = "id, uid, layer_id, name, colour, key, description, position"


def layers(db: Database) -> tuple[Layer, ...]:
    """All layers with their labels in order of position."""
    found: dict[int, list[Label]] = {}
    for row in (
        db.reader()
        .execute(f"select {_LABEL} from label order by layer_id, position, id")
        .fetchall()
    ):
        found.setdefault(row[2], []).append(_label(row))
    rows = (
        db.reader()
        .execute("select id, uid, name, kind, options, guideline from layer order by id")
        .fetchall()
    )
    return tuple(_layer(row, tuple(found.get(row[0], ()))) for row in rows)


def layer(db: Database, id: int) -> Layer:
    """Raises KeyError if there is no such layer."""
    for one in layers(db):
        if one.id == id:
            return one
    raise KeyError(id)


def layer_by_name(db: Database, name: str) -> Layer | None:
    return next((one for one in layers(db) if one.name == name), None)


def label(db: Database, id: int) -> tuple[int, Label]:
    """(layer id, label). Raises KeyError if there is no such label."""
    row = db.reader().execute(f"select {_LABEL} from label where id = ?", (id,)).fetchone()
    if row is None:
        raise KeyError(id)
    return row[2], _label(row)


def _label(row: tuple) -> Label:
    id, uid, _, name, colour, key, description, position = row
    return Label(name, colour, key, description, position, id, uid)


def _layer(row: tuple, found: tuple[Label, ...]) -> Layer:
    id, uid, name, kind, options, guideline = row
    rest = dict(json_out(options))
    return Layer(name, kind, found, int(rest.pop("texts", 1)), guideline, rest, id, uid)


def gold(db: Database) -> dict[int, int]:
    """Layer id → the annotator whose marks are gold there."""
    return dict(db.reader().execute("select id, gold from layer").fetchall())


# ---------------------------------------------------------------- layers


def add_layer(
    db: Database,
    name: str,
    kind: str,
    *,
    texts: int = 1,
    guideline: str = "",
    options: dict | None = None,
) -> int:
    """Gold is at first what the project's own annotator says.

    The new id is higher than that of any layer a run was trained on: else a run of a deleted layer
    would pass for one of this layer.
    """
    stored = json_in({**(options or {}), "texts": texts})
    (last,) = db.writer.execute(
        "select max(ifnull((select max(id) from layer), 0),"
        " ifnull((select max(layer_id) from run), 0))"
    ).fetchone()
    row = (last + 1, new_uid(), name_in(name), kind, stored, guideline, db.meta_number("annotator"))
    return db.writer.execute(
        "insert into layer(id, uid, name, kind, options, guideline, gold)"
        " values(?, ?, ?, ?, ?, ?, ?)",
        row,
    ).lastrowid


def update_layer(db: Database, id: int, **values: Any) -> None:
    """`name`, `guideline`, `gold`, `options` (all but `texts`, which is kept)."""
    if "options" in values:
        values["options"] = json_in({**values["options"], "texts": layer(db, id).texts})
    _update(db, "layer", {"name", "guideline", "gold", "options"}, id, values)


def delete_layer(db: Database, id: int, *, watch: Watch = QUIET) -> None:
    """With its labels, marks, spans, states and suggestions."""
    _clear(db, ("mark", "span", "suggestion", "state"), "layer_id", id, watch)
    db.writer.execute("delete from layer where id = ?", (id,))


# ---------------------------------------------------------------- labels


def add_label(
    db: Database,
    layer_id: int,
    name: str,
    *,
    colour: str = "",
    key: str = "",
    description: str = "",
) -> int:
    """At the end of the layer."""
    after = "select ifnull(max(position) + 1, 0) from label where layer_id = ?"
    (position,) = db.writer.execute(after, (layer_id,)).fetchone()
    row = (new_uid(), layer_id, name_in(name), colour, key, description, position)
    statement = (
        "insert into label(uid, layer_id, name, colour, key, description, position) "
        "values(?, ?, ?, ?, ?, ?, ?)"
    )
    return db.writer.execute(statement, row).lastrowid


def update_label(db: Database, id: int, **values: Any) -> None:
    """`name`, `colour`, `key`, `description`."""
    _update(db, "label", {"name", "colour", "key", "description"}, id, values)


def move_label(db: Database, id: int, position: int) -> None:
    """To place `position` (0-based, among the labels of its layer); the others make room."""
    layer_id, _ = label(db, id)
    order = [one.id for one in layer(db, layer_id).labels if one.id != id]
    order.insert(max(0, position), id)
    db.writer.executemany(
        "update label set position = ? where id = ?",
        [(place, one) for place, one in enumerate(order)],
    )


def delete_label(db: Database, id: int, *, watch: Watch = QUIET) -> None:
    """With its marks, spans and suggestions.

    Submitted documents without a label become drafts where the layer wants one; drafts on which
    nothing is set in the layer any more become pending.
    """
    layer_id, _ = label(db, id)
    drafts = _drafts_with(db, layer_id, id)
    traits = layer(db, layer_id).traits
    table = "span" if traits.in_text else "mark"
    if not traits.empty_is_answer:
        mine = (
            f"select 1 from {table} t where t.layer_id = state.layer_id"
            " and t.document_id = state.document_id and t.annotator_id = state.annotator_id"
        )
        db.writer.execute(
            "update state set state = 'draft' where layer_id = ? and state = 'submitted'"
            f" and exists ({mine} and t.label_id = ?) and not exists ({mine} and t.label_id != ?)",
            (layer_id, id, id),
        )
    _clear(db, ("mark", "span", "suggestion"), "label_id", id, watch)
    for annotator_id, documents in drafts.items():
        reset_untouched(db, documents, layer_id, annotator_id)
    db.writer.execute("delete from label where id = ?", (id,))


def _drafts_with(db: Database, layer_id: int, label_id: int) -> dict[int, list[int]]:
    """Annotator → documents that are drafts in the layer and have the label."""
    found: dict[int, list[int]] = {}
    for table in ("mark", "span"):
        statement = (
            f"select distinct s.annotator_id, s.document_id from {table} t join state s"
            " on s.document_id = t.document_id and s.annotator_id = t.annotator_id"
            " where t.label_id = ? and s.layer_id = ? and s.state = 'draft'"
        )
        for annotator_id, document in db.writer.execute(statement, (label_id, layer_id)):
            found.setdefault(annotator_id, []).append(document)
    return found


def _clear(db: Database, tables: Sequence[str], column: str, id: int, watch: Watch) -> None:
    """Delete what belongs to a layer or label in chunks before it: a single cascading statement
    cannot be cancelled.
    """
    found = [
        (table, row[0])
        for table in tables
        for row in db.writer.execute(
            f"select id from {table} where {column} = ? order by id", (id,)
        )
    ]
    for some in watch.over(found, CHUNK):
        for table in tables:
            these = ids_in(row for of, row in some if of == table)
            db.writer.execute(
                f"delete from {table} where id in (select value from json_each(?))", (these,)
            )


def _update(db: Database, table: str, allowed: set[str], id: int, values: dict[str, Any]) -> None:
    if unknown := set(values) - allowed:
        raise TypeError(f"a {table} has no {', '.join(sorted(unknown))}")
    changes = ", ".join(f"{name} = ?" for name in values)
    done = db.writer.execute(f"update {table} set {changes} where id = ?", (*values.values(), id))
    if not done.rowcount:
        raise KeyError(id)


# ---------------------------------------------------------------- counts


def counts(db: Database) -> dict[int, int]:
    """Label id → marks and spans with that label; labels without any stand there with 0."""
    found = {id: 0 for (id,) in db.reader().execute("select id from label").fetchall()}
    for table in ("mark", "span"):
        rows = (
            f"select label_id, count(*) from {table} where label_id is not null group by label_id"
        )
        for id, count in db.reader().execute(rows).fetchall():
            found[id] = found.get(id, 0) + count
    return found


def usage(db: Database, label_ids: Iterable[int]) -> dict[str, int]:
    """What deleting these labels takes along:

    `marks`, `spans`, `suggestions` (open), `documents` (with a mark or span of them).
    """
    ids = ids_in(label_ids)
    wanted = "label_id in (select value from json_each(?))"
    one = {
        "marks": f"select count(*) from mark where {wanted}",
        "spans": f"select count(*) from span where {wanted}",
        "suggestions": f"select count(*) from suggestion where {wanted} and status = 'open'",
    }
    found = {
        name: db.reader().execute(statement, (ids,)).fetchone()[0]
        for name, statement in one.items()
    }
    both = (
        f"select document_id from mark where {wanted} union select document_id from span "
        f"where {wanted}"
    )
    found["documents"] = (
        db.reader().execute(f"select count(*) from ({both})", (ids, ids)).fetchone()[0]
    )
    return found


def submitted_counts(db: Database) -> dict[int, int]:
    """Layer id → documents that are training data for it: submitted by its gold annotator."""
    statement = (
        "select s.layer_id, count(*) from state s join layer l on l.id = s.layer_id and "
        "l.gold = s.annotator_id"
        " where s.state = 'submitted' group by s.layer_id"
    )
    found = {id: 0 for (id,) in db.reader().execute("select id from layer").fetchall()}
    found.update(db.reader().execute(statement).fetchall())
    return found
