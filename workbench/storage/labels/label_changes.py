"""Moving annotations from one label to another: what merging and splitting labels are made of.
Undoable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.relations import (
    Twins,
    drop_equal_undirected,
    ends_in_order,
    hand_over,
)
from workbench.storage.connections.database import Database
from workbench.storage.labels.labels import label as label_of
from workbench.storage.labels.labels import layer as layer_of
from workbench.storage.labels.labels import rename_in_rules
from workbench.storage.schema.values import ids_in

CHUNK = 1000  # rows per statement; an operation can be cancelled between two statements
TABLES = ("span", "mark", "relation", "suggestion")
COUNTED = ("span", "mark", "relation")  # the annotations among them
_IN = "(select value from json_each(?))"
_COLUMNS = {  # whose values make two rows of a table the same but for their label
    "span": ("field", "start", '"end"', "parts", "annotator_id"),
    "mark": ("annotator_id",),
    "relation": ("from_span", "to_span", "annotator_id"),
    "suggestion": ("kind", "field", "start", '"end"', "status", "source_id"),
}
_SAME = {
    table: " and ".join(f"a.{column} is b.{column}" for column in columns)
    for table, columns in _COLUMNS.items()
}


@dataclass(frozen=True, slots=True)
class LabelUse:
    """A use of a label, or several equal ones: `text` is the text of the spans, of the connected
    spans or the beginning of the document, `count` their number, `ids` the ids of the spans or
    relations, or the document id.
    """

    text: str
    count: int
    ids: tuple[int, ...]


def _text_of(span: str) -> str:
    return (
        f'(select substr(b.content, {span}.start + 1, {span}."end" - {span}.start) from body b'
        f" where b.document_id = {span}.document_id and b.field = {span}.field)"
    )


_CONNECTED_TEXTS = (
    f"select {_text_of('f')} || ' → ' || {_text_of('t')} as words, count(*),"
    " json_group_array(r.id) from relation r join span f on f.id = r.from_span"
    " join span t on t.id = r.to_span where r.label_id = ? group by words"
    " order by count(*) desc, words limit ?"
)


def uses(db: Database, label_id: int, limit: int) -> list[LabelUse]:
    """Where a label is used, at most `limit` lines.

    A label of spans: its texts, the most frequent first; so for relations, as "Ada → Rome". A label
    of documents: the documents by id.
    """
    layer_id, _label = label_of(db, label_id)
    read = db.reader().execute
    traits = layer_of(db, layer_id).traits
    if traits.between_spans:
        rows = read(_CONNECTED_TEXTS, (label_id, limit)).fetchall()
        return [LabelUse(words, count, _numbers(ids)) for words, count, ids in rows]
    if traits.in_text:
        statement = (
            'select substr(b.content, s.start + 1, s."end" - s.start) as words, count(*),'
            " json_group_array(s.id) from span s join body b on b.document_id = s.document_id"
            " and b.field = s.field where s.label_id = ? group by words"
            " order by count(*) desc, words limit ?"
        )
        rows = read(statement, (label_id, limit)).fetchall()
        return [LabelUse(words, count, _numbers(ids)) for words, count, ids in rows]
    statement = (
        "select distinct m.document_id, (select substr(b.content, 1, 200) from body b"
        " where b.document_id = m.document_id order by b.id limit 1)"
        " from mark m where m.label_id = ? order by 1 limit ?"
    )
    rows = read(statement, (label_id, limit)).fetchall()
    return [LabelUse(text or "", 1, (document,)) for document, text in rows]


def _numbers(array: str) -> tuple[int, ...]:
    return tuple(map(int, array.strip("[]").split(",")))


def twice(db: Database, label_ids: Sequence[int], into: int) -> int:
    """Number of annotations that merging would make equal to another one: they are dropped."""
    all_ids = ids_in({*label_ids, into})
    total = 0
    for table in COUNTED:
        columns: Iterable[str] = _COLUMNS[table]
        if table == "relation":
            columns = "annotator_id", ends_in_order(label="?2")
        key = ", ".join(("document_id", *columns))
        statement = (
            f"select ifnull(sum(n - 1), 0) from (select count(*) as n from main.{table}"
            " where label_id in (select value from json_each(?1)) and ?2 > 0"
            f" group by {key}) where n > 1"
        )
        total += db.reader().execute(statement, (all_ids, into)).fetchone()[0]
    return total


def joined_chains(db: Database, label_ids: Sequence[int]) -> int:
    """Number of chains that merging labels would make part of another one: two mentions at the same
    place become one.
    """
    key = ", ".join(("document_id", "layer_id", *_COLUMNS["span"]))
    groups = (
        f"select distinct document_id, layer_id, annotator_id, group_id, {key} from main.span"
        f" where group_id is not null and label_id in {_IN}"
    )
    owner: dict[tuple[object, ...], tuple[object, ...]] = {}

    def root(chain: tuple[object, ...]) -> tuple[object, ...]:
        while chain in owner:
            chain = owner[chain]
        return chain

    first: dict[tuple[object, ...], tuple[object, ...]] = {}  # place → a chain that is there
    for row in db.reader().execute(groups, (ids_in(label_ids),)).fetchall():
        chain, there = root(row[:4]), row[4:]
        other = root(first.setdefault(there, chain))
        if other != chain:
            owner[chain] = other
    return len(owner)


def equal_relations(db: Database, label_ids: Sequence[int]) -> int:
    """Number of relations that merging labels of spans would make equal to another one, or connect
    a span with itself.
    """
    all_ids, key = ids_in(label_ids), ", ".join(("document_id", *_COLUMNS["span"]))
    statement = (
        f"with kept as (select id, min(id) over (partition by {key}) as kept from main.span"
        f" where label_id in {_IN}),"
        " ends as (select r.document_id, r.layer_id, r.annotator_id, r.label_id,"
        " ifnull(f.kept, r.from_span) as a, ifnull(t.kept, r.to_span) as b from main.relation r"
        " left join kept f on f.id = r.from_span left join kept t on t.id = r.to_span"
        " where f.id is not null or t.id is not null)"
        " select (select count(*) from ends)"
        " - (select count(*) from (select distinct * from ends where a != b))"
    )
    count: int = db.reader().execute(statement, (all_ids,)).fetchone()[0]
    return count


def relabel(
    db: Database,
    label_id: int,
    to: int,
    *,
    ids: Iterable[int] | None = None,
    document_ids: Iterable[int] | None = None,
    watch: Watch = QUIET,
) -> int:
    """Give annotations of a label another label of the same layer; returns their number.

    `ids`: only these spans or relations; `document_ids`: only in these documents; suggestions stay
    then. An annotation that would be equal to one that is there already is deleted; its relations,
    notes and flags pass to the other one, and their chains are joined.
    """
    rows = rows_of(db, label_id, ids, document_ids)
    changed = 0
    for chunk in watch.over(rows, CHUNK):
        for table in TABLES:
            own = [id for owner, id in chunk if owner == table]
            if own:
                _drop_twins(db, table, own, to)
                changed += db.writer.execute(
                    f"update {table} set label_id = ? where id in {_IN}", (to, ids_in(own))
                ).rowcount
        if any(owner == "relation" for owner, _id in chunk):
            drop_equal_undirected(db, [label_of(db, to)[0]])
    return changed


def rows_of(
    db: Database,
    label_id: int,
    only_ids: Iterable[int] | None,
    document_ids: Iterable[int] | None,
) -> list[tuple[str, int]]:
    """(table, id) of the annotations that `relabel` changes."""
    where, values = "label_id = ?", [label_id]
    tables: Sequence[str] = TABLES
    only: list[object] = []
    if only_ids is not None:
        layer_id, _label = label_of(db, label_id)
        tables = (layer_of(db, layer_id).traits.table,)
        where, only = f"{where} and id in {_IN}", [ids_in(only_ids)]
    elif document_ids is not None:
        tables, where = COUNTED, f"{where} and document_id in {_IN}"
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
        hand_over(db, twins)
        _join_chains(db, twins)
    db.writer.execute(
        f"delete from {table} where id in {_IN}", (ids_in(dropped for dropped, _kept in twins),)
    )


def hand_on(db: Database, label_id: int, to: int) -> None:
    """Give the patterns, rules and sublabels of a label to another label of the layer.

    A sublabel that stays in place of its parent becomes the parent; sublabels have no sublabels, so
    a sublabel of another label hands them on to its own parent.
    """
    db.writer.execute("update pattern set label_id = ? where label_id = ?", (to, label_id))
    rename_in_rules(db, label_id, label_of(db, to)[1].name)
    db.writer.execute(
        "update label set parent_id = null where id = ? and parent_id = ?", (to, label_id)
    )
    db.writer.execute(
        "update label set parent_id = (select ifnull(t.parent_id, t.id) from label t"
        " where t.id = ?) where parent_id = ?",
        (to, label_id),
    )


def _join_chains(db: Database, twins: Twins) -> None:
    """Join chains; of two, the one with the lower number is kept."""
    mentions = f"select count(*) from span where group_id is not null and id in {_IN}"
    if not db.writer.execute(mentions, (ids_in(dropped for dropped, _kept in twins),)).fetchone()[
        0
    ]:
        return
    for dropped, remaining in twins:
        first, second = (
            db.writer.execute("select group_id from span where id = ?", (id,)).fetchone()[0]
            for id in (dropped, remaining)
        )
        if first is None or first == second:
            continue
        if second is None:
            db.writer.execute("update span set group_id = ? where id = ?", (first, remaining))
            continue
        db.writer.execute(
            "update span set group_id = ? where group_id = ? and (document_id, layer_id,"
            " annotator_id) = (select document_id, layer_id, annotator_id from span where id = ?)",
            (min(first, second), max(first, second), remaining),
        )
