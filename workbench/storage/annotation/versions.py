"""The labels of several annotators in the same documents; and copying those of one to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.annotations import reset_untouched
from workbench.storage.annotation.relations import hand_over
from workbench.storage.connections.database import Database
from workbench.storage.schema.values import Row, ids_in, now

CHUNK = 1000  # documents per statement
_COLUMNS = {
    "mark": "t.label_id, t.value",
    "span": 't.label_id, t.field, t.start, t."end", t.parts, t.group_id',
    "answer": 't.question, t.field, t.start, t."end", t.text, t.is_null, t.attrs',
    "relation": 't.label_id, f.label_id, f.field, f.start, f."end", f.parts,'
    ' g.label_id, g.field, g.start, g."end", g.parts',
}
_ENDS = " join span f on f.id = t.from_span join span g on g.id = t.to_span"
_IN = "in (select value from json_each(?))"


@dataclass(frozen=True, slots=True)
class StateRow:
    """When a person submitted or discarded a document in a layer; at: ISO 8601, UTC."""

    document_id: int
    layer_id: int
    annotator_id: int
    state: str
    at: str


def states(
    db: Database,
    layer_ids: Iterable[int],
    annotator_ids: Iterable[int],
    document_ids: Iterable[int] | None = None,
) -> list[StateRow]:
    """The states of documents in these layers, without pending ones."""
    where = f"layer_id {_IN} and annotator_id {_IN} and state != 'pending'"
    values = [ids_in(layer_ids), ids_in(annotator_ids)]
    if document_ids is not None:
        where = f"document_id {_IN} and {where.replace('layer_id', '+layer_id', 1)}"
        values.insert(0, ids_in(document_ids))
    rows = db.reader().execute(
        f"select document_id, layer_id, annotator_id, state, at from state where {where}", values
    )
    return [StateRow(*row) for row in rows.fetchall()]


def rows(
    db: Database,
    table: str,
    document_ids: Iterable[int],
    layer_ids: Iterable[int],
    annotator_ids: Iterable[int],
) -> Iterator[Row]:
    """id, document, layer, annotator and the labels of a table, in order of id.

    mark: label id, value. span: label id, field, start, end, parts (JSON or None), chain. answer:
    question, field, start, end, text, is_null, attrs (JSON or None). relation: label id, then label
    id, field, start, end and parts of both spans.
    """
    layers = set(layer_ids)
    ends = _ENDS if table == "relation" else ""
    statement = (  # with the index of layers, each page would read all rows of a layer
        f"select t.id, t.document_id, t.layer_id, t.annotator_id, {_COLUMNS[table]} from {table} t"
        f"{ends}"
        f" where t.document_id {_IN} and +t.layer_id {_IN} and +t.annotator_id {_IN} order by t.id"
    )
    values = ids_in(document_ids), ids_in(layers), ids_in(annotator_ids)
    for row in db.reader().execute(statement, values).fetchall():
        if row[2] in layers:  # in a damaged file the index may return rows of other layers
            yield row


def copy(
    db: Database,
    versions: Iterable[tuple[int, int, int]],
    *,
    annotator_id: int,
    source_id: int,
    watch: Watch = QUIET,
) -> None:
    """Copy versions (document, layer, annotator) to another annotator, as submitted.

    That annotator must have nothing in these documents and layers. Relations connect the equal
    spans of that annotator, so copy the spans with them or before. Requires an edit.
    """
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for document, layer, annotator in versions:
        groups[layer, annotator].append(document)
    each = [
        (table, layer, annotator, documents)
        for table in ("span", "mark", "answer", "relation", "state")
        for (layer, annotator), documents in groups.items()
    ]
    for number, (table, layer, annotator, documents) in enumerate(each):
        part = watch.part(number / len(each), (number + 1) / len(each))
        for chunk in part.over(sorted(documents), CHUNK):
            _copy(db, table, chunk, layer, annotator, annotator_id, source_id)


_UID = "lower(hex(randomblob(8)))"
_COPIED = {
    "mark": "label_id, value, score",
    "answer": 'question, field, start, "end", text, is_null, attrs, score',
    "span": 'label_id, field, start, "end", parts, attrs, group_id, score',
}
_EQUAL_SPAN = (
    "(select min(g.id) from span o join span g on g.document_id = o.document_id"
    ' and g.layer_id = o.layer_id and g.field = o.field and g.start = o.start and g."end" = o."end"'
    " and g.label_id is o.label_id and g.parts is o.parts and g.annotator_id = :by"
    " where o.id = s.{})"
)


def _copy(
    db: Database,
    table: str,
    documents: Sequence[int],
    layer: int,
    annotator: int,
    by: int,
    source: int,
) -> None:
    values = {
        "ids": ids_in(documents), "layer": layer, "from": annotator, "by": by, "source": source,
    }  # fmt: skip
    where = (
        f"from {table} s where s.document_id in (select value from json_each(:ids))"
        " and +s.layer_id = :layer and s.annotator_id = :from"
    )
    if table == "state":
        db.writer.execute(
            "insert into state(document_id, layer_id, annotator_id, state, at)"
            f" select s.document_id, s.layer_id, :by, s.state, :now {where} order by s.id",
            {**values, "now": now()},
        )
    elif table == "relation":
        ends = f"{_EQUAL_SPAN.format('from_span')} as a, {_EQUAL_SPAN.format('to_span')} as b"
        db.writer.execute(
            "insert into relation(uid, document_id, layer_id, label_id, from_span, to_span, attrs,"
            f" annotator_id, source_id) select {_UID}, document_id, layer_id, label_id, a, b,"
            f" attrs, :by, :source from (select s.*, {ends} {where} order by s.id)"
            " where a is not null and b is not null",
            values,
        )
    else:
        columns, uid = _COPIED[table], ("uid, ", f"{_UID}, ") if table == "span" else ("", "")
        selected = columns.replace("score", "null")
        db.writer.execute(
            f"insert into {table}({uid[0]}document_id, layer_id, annotator_id, source_id,"
            f" {columns})"
            f" select {uid[1]}document_id, layer_id, :by, :source, {selected} {where} order by id",
            values,
        )


def replace_spans(
    db: Database,
    successors: Mapping[int, int | None],
    *,
    annotator_id: int,
    layer_ids: Iterable[int],
) -> int:
    """Delete spans (id → the one in its place, if any); returns how many relations go with them.

    Relations, notes and flags go to the span in its place, notes and flags without one to the
    document. Relations of the annotator in these layers are deleted too, without being counted.
    """
    own = f"annotator_id = ? and layer_id {_IN}"
    ends = f"(from_span {_IN} or to_span {_IN})"
    every, gone = ids_in(successors), ids_in(id for id, to in successors.items() if to is None)
    values = annotator_id, ids_in(layer_ids), every, every
    db.writer.execute(f"delete from relation where {own} and {ends}", values)
    hand_over(db, [(id, to) for id, to in successors.items() if to is not None])
    for table in ("note", "flag"):
        db.writer.execute(f"update {table} set span_id = null where span_id {_IN}", (gone,))
    touched = db.writer.execute(
        "select document_id, layer_id, annotator_id, count(*) from relation"
        f" where {ends} group by document_id, layer_id, annotator_id",
        (gone, gone),
    ).fetchall()
    delete(db, "span", successors)
    for document, layer, annotator, _count in touched:
        reset_untouched(db, [document], layer, annotator)
    return sum(count for *_place, count in touched)


def delete(db: Database, table: str, ids: Iterable[int]) -> None:
    """Delete labels; with spans go their relations."""
    db.writer.execute(f"delete from {table} where id {_IN}", (ids_in(ids),))
