"""Moving labels with their annotations from one layer to another. Undoable.

`check_move` of `operations.schema.label_moves` says what cannot be moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.annotations import reset_untouched
from workbench.storage.connections.database import Database
from workbench.storage.documents.bulk import reopen_submitted, start_drafts
from workbench.storage.labels.label_changes import CHUNK, COUNTED, TABLES, rows_of
from workbench.storage.labels.labels import label as label_of
from workbench.storage.labels.labels import layer as layer_of
from workbench.storage.labels.labels import rename_in_rules, update_layer
from workbench.storage.schema.values import ids_in
from workbench.text.relations import follow_spans, moved_rules

_IN = "(select value from json_each(?))"


@dataclass(frozen=True, slots=True)
class Connections:
    """Relations of a layer with spans of some labels: `inside` connect two such spans, `others` are
    all other relations of that layer.
    """

    layer_id: int
    inside: int
    others: int


def connections(db: Database, label_ids: Iterable[int]) -> list[Connections]:
    """Connections for each relation layer that connects spans with these labels, of all people,
    also where a window shows the labels of one.
    """
    ids = ids_in(label_ids)
    ours = f"select id from main.span where label_id in {_IN}"
    both = f"ifnull(f.label_id in {_IN} and t.label_id in {_IN}, 0)"
    rows = db.reader().execute(
        f"select r.layer_id, sum({both}), sum(not {both}) from main.relation r"
        " join main.span f on f.id = r.from_span join main.span t on t.id = r.to_span"
        " where r.layer_id in"
        f" (select layer_id from main.relation where from_span in ({ours}) or to_span in ({ours}))"
        " group by r.layer_id order by r.layer_id",
        (ids, ids, ids, ids, ids, ids),
    )
    return [Connections(*row) for row in rows.fetchall()]


def divided_chains(db: Database, label_ids: Iterable[int]) -> int:
    """Number of chains, of all people, with spans of these labels and of others."""
    statement = (
        "select count(*) from (select 1 from main.span where group_id is not null and layer_id in"
        f" (select layer_id from label where id in {_IN})"
        " group by document_id, layer_id, annotator_id, group_id"
        f" having sum(label_id in {_IN}) not in (0, count(*)))"
    )
    ids = ids_in(label_ids)
    count: int = db.reader().execute(statement, (ids, ids)).fetchone()[0]
    return count


def prepare(db: Database, label_ids: Sequence[int], layer_id: int) -> None:
    """What concerns all labels that are about to move together: numbers of chains that the new
    layer does not use yet, the rules of relation layers, and states.

    If no document has a state in the new layer yet, documents without the labels get that of the
    old layer, too, where the new one allows documents without labels.
    """
    db.writer.execute(
        "update span set group_id = group_id + (select max(o.group_id) from span o"
        " where o.document_id = span.document_id and o.layer_id = ?1) where group_id is not null"
        " and label_id in (select value from json_each(?2)) and exists (select 1 from span o where"
        " o.document_id = span.document_id and o.layer_id = ?1 and o.group_id is not null)",
        (layer_id, ids_in(label_ids)),
    )
    source_id, _label = label_of(db, label_ids[0])
    names = [label_of(db, id)[1].name for id in label_ids]
    source, target = layer_of(db, source_id), layer_of(db, layer_id)
    (has_states,) = db.writer.execute(
        "select exists (select 1 from state where layer_id = ?)", (layer_id,)
    ).fetchone()
    if target.traits.empty_is_answer and not has_states:
        _copy_states(db, source_id, layer_id, "1", ())
    for link in connections(db, label_ids):
        rules = follow_spans(layer_of(db, link.layer_id), target.name, {*names, *target.names})
        update_layer(db, link.layer_id, options=rules)
    for id in label_ids:
        rename_in_rules(db, id, None)
    if target.traits.between_spans:
        update_layer(db, layer_id, options=moved_rules(source, target, names))


def taken(db: Database, label_ids: Sequence[int], layer_id: int) -> int:
    """Number of documents with one of the labels in which the same person has a label in the layer
    already.
    """
    statement = (
        "select count(distinct a.document_id) from main.{table} a join main.{table} b"
        " on b.document_id = a.document_id and b.annotator_id is a.annotator_id"
        f" and b.layer_id = ? where a.label_id in {_IN}"
    )
    values = (layer_id, ids_in(label_ids))
    return sum(
        db.reader().execute(statement.format(table=table), values).fetchone()[0]
        for table in COUNTED
    )


def change_layer(db: Database, label_id: int, layer_id: int, *, watch: Watch = QUIET) -> int:
    """Move a label with its annotations to the end of another layer; returns their number.

    Documents without a state in that layer get the one they have in the old layer. Documents left
    without a label in the old layer become drafts or pending, as when the label is deleted.
    """
    old_id, _label = label_of(db, label_id)
    touched = _touched(db, label_id)
    for annotator_id, documents in touched.items():
        theirs = f"s.annotator_id = ? and s.document_id in {_IN}"
        _copy_states(db, old_id, layer_id, theirs, (annotator_id, ids_in(documents)))
    rows = [(table, id) for table, id in rows_of(db, label_id, None, None)]
    for chunk in watch.over(rows, CHUNK):
        for table in TABLES:
            ids = ids_in(id for owner, id in chunk if owner == table)
            db.writer.execute(f"update {table} set layer_id = ? where id in {_IN}", (layer_id, ids))
    (position,) = db.writer.execute(
        "select ifnull(max(position) + 1, 0) from label where layer_id = ?", (layer_id,)
    ).fetchone()
    db.writer.execute(
        "update label set layer_id = ?, position = ?, parent_id = null where id = ?",
        (layer_id, position, label_id),
    )
    db.writer.execute("update label set parent_id = null where parent_id = ?", (label_id,))
    required = not layer_of(db, old_id).traits.empty_is_answer
    for annotator_id, documents in touched.items():
        start_drafts(db, documents, layer_id, annotator_id)
        if required:
            reopen_submitted(db, documents, old_id, annotator_id)
        reset_untouched(db, documents, old_id, annotator_id)
    return len(rows)


def _touched(db: Database, label_id: int) -> dict[int, list[int]]:
    """Annotator id → documents with the label."""
    documents: dict[int, list[int]] = {}
    for table in COUNTED:
        statement = f"select distinct annotator_id, document_id from {table} where label_id = ?"
        for annotator_id, document in db.writer.execute(statement, (label_id,)).fetchall():
            documents.setdefault(annotator_id, []).append(document)
    return documents


def _copy_states(
    db: Database, old_id: int, layer_id: int, condition: str, values: tuple[object, ...]
) -> None:
    """Give documents without a state in a layer the one of the old layer; `condition` is on it."""
    db.writer.execute(
        "insert into state(document_id, layer_id, annotator_id, state, at)"
        " select s.document_id, ?, s.annotator_id, s.state, s.at from state s"
        f" where s.layer_id = ? and {condition} and not exists (select 1"
        " from state t where t.document_id = s.document_id and t.layer_id = ?"
        " and t.annotator_id = s.annotator_id) order by s.document_id",
        (layer_id, old_id, *values, layer_id),
    )
