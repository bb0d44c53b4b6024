"""Spans that become one when their labels are merged, with everything that refers to them.

Relations, notes and flags pass to the span that stays; two chains that share a mention
then are one chain. Undoable.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.storage.annotation.relations import drop_equal_relations
from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in

Twins = Sequence[tuple[int, int]]  # the span that is deleted, the equal one that stays
_IN = "(select value from json_each(?))"


def hand_over(db: Database, twins: Twins) -> None:
    """Give the relations, notes, flags and chains of spans to the spans that stay."""
    for end in ("from_span", "to_span"):
        _follow(db, "relation", end, twins)
    drop_equal_relations(db, [remaining for _dropped, remaining in twins])
    for dropped, remaining in twins:
        db.writer.execute(
            "delete from flag where span_id = ? and name in"
            " (select name from flag where span_id = ?)",
            (dropped, remaining),
        )
    for table in ("note", "flag"):
        _follow(db, table, "span_id", twins)
    _join_chains(db, twins)


def _follow(db: Database, table: str, column: str, twins: Twins) -> None:
    statement = f"update {table} set {column} = ? where {column} = ?"
    db.writer.executemany(statement, [(remaining, dropped) for dropped, remaining in twins])


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


def joined_chains(db: Database, label_ids: Sequence[int], place: Sequence[str]) -> int:
    """Number of chains that become part of another one when these labels are merged.

    place: the columns that make two spans of a document the same but for their label.
    """
    key = ", ".join(("document_id", "layer_id", *place))
    groups = (
        f"select distinct document_id, layer_id, annotator_id, group_id, {key} from span"
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
