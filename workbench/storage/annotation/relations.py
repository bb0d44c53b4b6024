"""Relations between spans, and chains of spans, of the gold annotator. Undoable.

A relation is deleted with either of its spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in, new_id, new_uid

_UNDIRECTED = (  # SQL of the labels without a direction
    "select k.id from main.layer l cross join json_each(l.options, '$.undirected') u"
    " join main.label k on k.layer_id = l.id and k.name = u.value"
)


@dataclass(frozen=True)
class RelationRow:
    """A labelled relation between two spans of a document; `from_span` and `to_span` are ids.

    The other columns are those of `annotations.SpanRow`.
    """

    id: int
    document_id: int
    layer_id: int
    label_id: int | None
    from_span: int
    to_span: int
    source_kind: str
    source_ref: str
    score: float | None
    made_by: int | None = None
    made_at: str = ""
    first: int = 0  # where the spans started in their text when this was read, in order
    second: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """Sort key: by the place of the spans in the text."""
        return self.first, self.second, self.id


_RELATION = (
    "select r.id, r.document_id, r.layer_id, r.label_id, r.from_span, r.to_span, s.kind, s.ref,"
    " r.score, s.annotator_id, s.at, min(f.start, t.start) as a, max(f.start, t.start) as b"
    " from relation r join layer l on l.id = r.layer_id and l.gold = r.annotator_id"
    " join source s on s.id = r.source_id"
    " join span f on f.id = r.from_span join span t on t.id = r.to_span"
)


def relations(db: Database, document_id: int) -> tuple[RelationRow, ...]:
    """Relations of a document in the order of their first span in the text."""
    rows = db.reader().execute(
        f"{_RELATION} where r.document_id = ? order by a, b, r.id", (document_id,)
    )
    return tuple(RelationRow(*row) for row in rows.fetchall())


def relation(db: Database, id: int) -> RelationRow:
    """Raises KeyError if there is no such relation."""
    row = db.reader().execute(f"{_RELATION} where r.id = ?", (id,)).fetchone()
    if row is None:
        raise KeyError(id)
    return RelationRow(*row)


def add_relation(
    db: Database,
    document_id: int,
    layer_id: int,
    label_id: int,
    from_span: int,
    to_span: int,
    *,
    annotator_id: int,
    source_id: int,
    score: float | None = None,
) -> int:
    """Add a relation and return its id. If an identical one exists, returns that one's id; without
    a direction, one between the same spans is.
    """
    key = (document_id, layer_id, label_id, from_span, to_span, annotator_id)
    identical = (
        "select id from relation where document_id = ?1 and layer_id = ?2 and label_id = ?3"
        " and annotator_id = ?6 and (from_span = ?4 and to_span = ?5"
        f" or from_span = ?5 and to_span = ?4 and label_id in ({_UNDIRECTED}))"
    )
    if row := db.writer.execute(identical, key).fetchone():
        relation_id: int = row[0]
        return relation_id
    columns = (
        "document_id, layer_id, label_id, from_span, to_span, annotator_id, uid, source_id, score"
    )
    inserted = db.writer.execute(
        f"insert into relation({columns}) values(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*key, new_uid(), source_id, score),
    )
    return new_id(inserted)


def update_relation(
    db: Database,
    id: int,
    *,
    source_id: int,
    label_id: int | None = None,
    reverse: bool = False,
) -> None:
    """Change the label or the direction and clear the score.

    Deletes any other relation that is now identical. Raises KeyError if there is no such relation.
    """
    ends = "to_span, from_span" if reverse else "from_span, to_span"
    statement = (
        "update relation set label_id = ifnull(?, label_id), source_id = ?, score = null,"
        f" (from_span, to_span) = ({ends}) where id = ?"
    )
    if not db.writer.execute(statement, (label_id, source_id, id)).rowcount:
        raise KeyError(id)
    key = f"document_id, layer_id, annotator_id, label_id, {ends_in_order()}"
    db.writer.execute(
        "delete from relation where id != ?1"
        " and document_id = (select document_id from relation where id = ?1)"
        f" and ({key}) = (select {key} from relation where id = ?1)",
        (id,),
    )


def delete_relation(db: Database, id: int) -> None:
    db.writer.execute("delete from relation where id = ?", (id,))


def drop_equal_relations(db: Database, span_ids: Iterable[int]) -> None:
    """Delete the relations of these spans that connect a span with itself or equal an earlier one:
    what two spans that became one leave.
    """
    mine = (
        "(from_span in (select value from json_each(?1))"
        " or to_span in (select value from json_each(?1)))"
    )
    key = f"document_id, layer_id, annotator_id, label_id, {ends_in_order()}"
    db.writer.execute(
        f"delete from relation where {mine} and (from_span = to_span or id not in"
        f" (select min(id) from relation where {mine} group by {key}))",
        (ids_in(span_ids),),
    )


def drop_equal_undirected(db: Database, layer_ids: Iterable[int]) -> int:
    """Delete the relations of layers that equal an earlier one, as their label has no direction.

    Returns their number.
    """
    key = "document_id, annotator_id, label_id, min(from_span, to_span), max(from_span, to_span)"
    without_direction = (
        f"layer_id in (select value from json_each(?)) and label_id in ({_UNDIRECTED})"
    )
    statement = (
        "delete from relation where id in (select id from (select id, row_number() over"
        f" (partition by {key} order by id) as n from relation where {without_direction})"
        " where n > 1)"
    )
    return db.writer.execute(statement, (ids_in(layer_ids),)).rowcount


def ends_in_order(
    first: str = "from_span", second: str = "to_span", label: str = "label_id"
) -> str:
    """SQL of the two ends of a relation, in order of their values without a direction."""
    is_undirected = f"{label} in ({_UNDIRECTED})"
    return ", ".join(
        f"iif({is_undirected}, {order}({first}, {second}), {end})"
        for order, end in (("min", first), ("max", second))
    )


Twins = Sequence[tuple[int, int]]  # the span that is deleted, the equal one that stays


def hand_over(db: Database, twins: Twins) -> None:
    """Give the relations, notes and flags of spans to the spans that stay."""
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


def _follow(db: Database, table: str, column: str, twins: Twins) -> None:
    statement = f"update {table} set {column} = ? where {column} = ?"
    db.writer.executemany(statement, [(remaining, dropped) for dropped, remaining in twins])


def makers_of(db: Database, span_id: int) -> list[tuple[int, int]]:
    """(layer id, annotator id) of the relations of a span."""
    rows = db.writer.execute(
        "select distinct layer_id, annotator_id from relation where from_span = ?1 or to_span = ?1",
        (span_id,),
    )
    return rows.fetchall()


# ---------------------------------------------------------------- chains


def free_chain(db: Database, document_id: int, layer_id: int) -> int:
    """A number that no chain of the layer has in the document: one above the highest."""
    (highest,) = db.writer.execute(
        "select ifnull(max(group_id), 0) from span where document_id = ? and layer_id = ?",
        (document_id, layer_id),
    ).fetchone()
    return int(highest) + 1


def set_chain(db: Database, span_ids: Iterable[int], chain: int, *, source_id: int) -> int:
    """Put spans into a chain; returns the number of spans changed."""
    statement = (
        "update span set group_id = ?, source_id = ?, score = null"
        " where group_id is not ? and id in (select value from json_each(?))"
    )
    values = (chain, source_id, chain, ids_in(span_ids))
    return db.writer.execute(statement, values).rowcount


def in_chain(
    db: Database, document_id: int, layer_id: int, chain: int, *, annotator_id: int
) -> list[int]:
    """Ids of the spans of a chain of a person in a document."""
    statement = (
        "select id from span where document_id = ? and layer_id = ? and group_id = ?"
        " and annotator_id = ?"
    )
    values = (document_id, layer_id, chain, annotator_id)
    rows = db.writer.execute(statement, values).fetchall()
    return [id for (id,) in rows]


def chain_counts(db: Database) -> dict[int, int]:
    """Layer id → number of chains in all documents."""
    statement = (
        "select layer_id, count(*) from (select distinct layer_id, document_id, group_id from span"
        " where group_id is not null) group by layer_id"
    )
    return dict(db.reader().execute(statement).fetchall())
