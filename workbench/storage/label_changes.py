"""Moving annotations from one label to another: what merging, splitting and moving labels are made
of. Undoable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotations import reset_untouched
from workbench.storage.bulk import reopen_submitted, start_drafts
from workbench.storage.database import Database
from workbench.storage.labels import label as label_of
from workbench.storage.labels import layer as layer_of
from workbench.storage.values import ids_in

CHUNK = 1000  # rows per statement; an operation can be cancelled between two statements
_TABLES = ("span", "mark", "suggestion")
_IN = "(select value from json_each(?))"
_COLUMNS = {  # whose values make two rows of a table the same but for their label
    "span": ("field", "start", '"end"', "parts", "annotator_id", "group_id"),
    "mark": ("annotator_id",),
    "suggestion": ("kind", "field", "start", '"end"', "status", "source_id"),
}
_SAME = {
    table: " and ".join(f"a.{column} is b.{column}" for column in columns)
    for table, columns in _COLUMNS.items()
}


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a label, or several equal ones: `text` is the text of the spans or the beginning of
    the document, `count` their number, `ids` the span ids or the document id.
    """

    text: str
    count: int
    ids: tuple[int, ...]


def uses(db: Database, label_id: int, limit: int) -> list[Use]:
    """Where a label is used, at most `limit` lines.

    A label of spans: its texts, the most frequent first. A label of documents: the documents by id.
    """
    layer_id, _label = label_of(db, label_id)
    read = db.reader().execute
    if layer_of(db, layer_id).traits.in_text:
        statement = (
            'select substr(b.content, s.start + 1, s."end" - s.start) as words, count(*),'
            " json_group_array(s.id) from span s join body b on b.document_id = s.document_id"
            " and b.field = s.field where s.label_id = ? group by words"
            " order by count(*) desc, words limit ?"
        )
        rows = read(statement, (label_id, limit)).fetchall()
        return [Use(words, count, _numbers(ids)) for words, count, ids in rows]
    statement = (
        "select distinct m.document_id, (select substr(b.content, 1, 200) from body b"
        " where b.document_id = m.document_id order by b.id limit 1)"
        " from mark m where m.label_id = ? order by 1 limit ?"
    )
    rows = read(statement, (label_id, limit)).fetchall()
    return [Use(text or "", 1, (document,)) for document, text in rows]


def _numbers(array: str) -> tuple[int, ...]:
    return tuple(map(int, array.strip("[]").split(",")))


def twice(db: Database, label_ids: Sequence[int], into: int) -> int:
    """Number of annotations that merging would make equal to another one: they are dropped."""
    all_ids = ids_in({*label_ids, into})
    total = 0
    for table in ("span", "mark"):
        key = ", ".join(("document_id", *_COLUMNS[table]))
        statement = (
            f"select ifnull(sum(n - 1), 0) from (select count(*) as n from {table}"
            f" where label_id in {_IN} group by {key}) where n > 1"
        )
        total += db.reader().execute(statement, (all_ids,)).fetchone()[0]
    return total


def taken(db: Database, label_ids: Sequence[int], layer_id: int) -> int:
    """Number of documents with one of the labels that have a label in the layer already."""
    statement = (
        "select count(distinct a.document_id) from {table} a join {table} b"
        " on b.document_id = a.document_id and b.annotator_id is a.annotator_id"
        f" and b.layer_id = ? where a.label_id in {_IN}"
    )
    values = (layer_id, ids_in(label_ids))
    return sum(
        db.reader().execute(statement.format(table=table), values).fetchone()[0]
        for table in ("span", "mark")
    )


def relabel(
    db: Database,
    label_id: int,
    to: int,
    *,
    span_ids: Iterable[int] | None = None,
    document_ids: Iterable[int] | None = None,
    watch: Watch = QUIET,
) -> int:
    """Give annotations of a label another label of the same layer; returns their number.

    `span_ids`, `document_ids`: only these spans, or only in these documents; suggestions stay then.
    An annotation that would be equal to one that is there already is deleted; its relations go on
    with the other one.
    """
    rows = _rows(db, label_id, span_ids, document_ids)
    changed = 0
    for chunk in watch.over(rows, CHUNK):
        for table in _TABLES:
            ids = [id for owner, id in chunk if owner == table]
            if ids:
                _drop_twins(db, table, ids, to)
                changed += db.writer.execute(
                    f"update {table} set label_id = ? where id in {_IN}", (to, ids_in(ids))
                ).rowcount
    return changed


def _rows(
    db: Database,
    label_id: int,
    span_ids: Iterable[int] | None,
    document_ids: Iterable[int] | None,
) -> list[tuple[str, int]]:
    """(table, id) of the annotations that `relabel` changes."""
    where, values = "label_id = ?", [label_id]
    tables: Sequence[str] = _TABLES
    only: list[object] = []
    if span_ids is not None:
        tables, where, only = ("span",), f"{where} and id in {_IN}", [ids_in(span_ids)]
    elif document_ids is not None:
        tables, where = ("span", "mark"), f"{where} and document_id in {_IN}"
        only = [ids_in(document_ids)]
    read = db.writer.execute
    return [
        (table, id)
        for table in tables
        for (id,) in read(f"select id from {table} where {where} order by id", [*values, *only])
    ]


def _drop_twins(db: Database, table: str, ids: Sequence[int], to: int) -> None:
    """Delete the rows among `ids` that equal a row with the label `to`."""
    statement = (
        f"select a.id, min(b.id) from {table} a join {table} b on b.document_id = a.document_id"
        f" and b.layer_id = a.layer_id and b.label_id = ? and b.id != a.id and {_SAME[table]}"
        f" where a.id in {_IN} group by a.id"
    )
    twins = db.writer.execute(statement, (to, ids_in(ids))).fetchall()
    if table == "span":
        for end in ("from_span", "to_span"):
            db.writer.executemany(
                f"update relation set {end} = ? where {end} = ?",
                [(kept, dropped) for dropped, kept in twins],
            )
    db.writer.execute(
        f"delete from {table} where id in {_IN}", (ids_in(dropped for dropped, _kept in twins),)
    )


def hand_on(db: Database, label_id: int, to: int) -> None:
    """Give the patterns, relations and sublabels of a label to another label of the layer.

    A sublabel that stays in place of its parent becomes the parent; sublabels have no sublabels, so
    a sublabel of another label hands them on to its own parent.
    """
    for table in ("pattern", "relation"):
        db.writer.execute(f"update {table} set label_id = ? where label_id = ?", (to, label_id))
    db.writer.execute(
        "update label set parent_id = null where id = ? and parent_id = ?", (to, label_id)
    )
    db.writer.execute(
        "update label set parent_id = (select ifnull(t.parent_id, t.id) from label t"
        " where t.id = ?) where parent_id = ?",
        (to, label_id),
    )


def change_layer(db: Database, label_id: int, layer_id: int, *, watch: Watch = QUIET) -> int:
    """Move a label with its annotations to the end of another layer; returns their number.

    Documents without a state in that layer get the one they have in the old layer. If no document
    has a state there yet, those that the label is absent from get it, too, where the layer allows
    documents without labels. Documents left without a label in the old layer become drafts or
    pending, as when the label is deleted.
    """
    old_id, _label = label_of(db, label_id)
    touched = _touched(db, label_id)
    _copy_states(db, old_id, layer_id, touched)
    rows = [(table, id) for table, id in _rows(db, label_id, None, None)]
    for chunk in watch.over(rows, CHUNK):
        for table in _TABLES:
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
    found: dict[int, list[int]] = {}
    for table in ("span", "mark"):
        statement = f"select distinct annotator_id, document_id from {table} where label_id = ?"
        for annotator_id, document in db.writer.execute(statement, (label_id,)).fetchall():
            found.setdefault(annotator_id, []).append(document)
    return found


def _copy_states(db: Database, old_id: int, layer_id: int, touched: dict[int, list[int]]) -> None:
    new = not db.writer.execute(
        "select exists (select 1 from state where layer_id = ?)", (layer_id,)
    ).fetchone()[0]
    whole = new and layer_of(db, layer_id).traits.empty_is_answer
    condition = "" if whole else f" and s.document_id in {_IN}"
    for annotator_id, documents in touched.items():
        db.writer.execute(
            "insert into state(document_id, layer_id, annotator_id, state, at)"
            " select s.document_id, ?, s.annotator_id, s.state, s.at from state s"
            f" where s.layer_id = ? and s.annotator_id = ?{condition} and not exists (select 1"
            " from state t where t.document_id = s.document_id and t.layer_id = ?"
            " and t.annotator_id = s.annotator_id) order by s.document_id",
            (layer_id, old_id, annotator_id, *([] if whole else [ids_in(documents)]), layer_id),
        )
