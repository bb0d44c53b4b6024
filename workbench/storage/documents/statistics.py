"""Counts over a chunk of the documents: labels, their lengths, pairs, times, decided suggestions.

A chunk is an ascending sequence of document ids. The chunks of a statistic do not overlap, so that
its numbers are summed by the caller, which reports progress between two chunks. Labels are gold of
documents submitted in the layer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.storage.annotation.provenance import BY, OF_ORIGIN, Origin
from workbench.storage.schema.values import ids_in, text_out
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database
    from workbench.text.labels import Layer

_SUBMITTED = (
    " join layer y on y.id = t.layer_id and y.gold = t.annotator_id"
    " join state s on s.document_id = t.document_id and s.layer_id = t.layer_id"
    " and s.annotator_id = y.gold and s.state = 'submitted'"
)
AGREED, CHANGED, WRONG = "agreed", "changed", "wrong"
OUTCOMES = AGREED, CHANGED, WRONG


def _within(column: str, chunk: Sequence[int]) -> tuple[str, tuple[object, ...]]:
    """The chunk as a condition: a range of ids without gaps is found much faster than a list."""
    if chunk and chunk[-1] - chunk[0] + 1 == len(chunk):
        return f"{column} between ? and ?", (chunk[0], chunk[-1])
    return f"{column} in (select value from json_each(?))", (ids_in(chunk),)


@dataclass(frozen=True)
class LabelTotals:
    """submitted: documents; labelled: those with a label. labels: label id → labels, documents."""

    submitted: int
    labelled: int
    labels: dict[int, tuple[int, int]]


def submitted(db: Database, chunk: Sequence[int], layer: Layer) -> int:
    """Number of documents that are submitted in the layer."""
    where, values = _within("s.document_id", chunk)
    query = (
        "select count(*) from state s join layer y on y.id = s.layer_id and y.gold = s.annotator_id"
        f" where {where} and s.layer_id = ? and s.state = 'submitted'"
    )
    count: int = db.reader().execute(query, (*values, row_id(layer))).fetchone()[0]
    return count


def label_counts(db: Database, chunk: Sequence[int], layer: Layer) -> LabelTotals:
    """How often each label of a layer is used."""
    where, values = _within("t.document_id", chunk)
    gold = (
        f"from {layer.traits.table} t{_SUBMITTED} where {where} and t.layer_id = ?"
        " and t.label_id is not null"
    )
    read, values = db.reader().execute, (*values, row_id(layer))
    rows = read(
        f"select t.label_id, count(*), count(distinct t.document_id) {gold} group by 1", values
    ).fetchall()
    (labelled,) = read(f"select count(distinct t.document_id) {gold}", values).fetchone()
    counts = {label: (labels, documents) for label, labels, documents in rows}
    return LabelTotals(submitted(db, chunk, layer), labelled, counts)


def numbers(db: Database, chunk: Sequence[int], layer: Layer) -> list[tuple[float, int]]:
    """The numbers of a layer, and how many documents have each."""
    where, values = _within("t.document_id", chunk)
    query = (
        f"select t.value, count(*) from mark t{_SUBMITTED} where {where} and t.layer_id = ?"
        " and t.value is not null group by 1"
    )
    return db.reader().execute(query, (*values, row_id(layer))).fetchall()


def written(db: Database, chunk: Sequence[int], layer: Layer) -> list[str]:
    """The written texts of a layer."""
    where, values = _within("t.document_id", chunk)
    query = (
        f"select t.text from answer t{_SUBMITTED} where {where} and t.layer_id = ?"
        " and t.text is not null"
    )
    rows = db.reader().execute(query, (*values, row_id(layer))).fetchall()
    return [text_out(text) for (text,) in rows]


def questions(db: Database, chunk: Sequence[int], layer: Layer) -> list[tuple[str, int, int]]:
    """("answer", "none" or "open", questions, documents): with an answer, without one, or open."""
    where, values = _within("t.document_id", chunk)
    query = (
        "select kind, count(*), count(distinct document_id) from (select t.document_id, case when"
        " max(t.start is not null) then 'answer' when max(t.is_null) then 'none' else 'open' end"
        f" as kind from answer t{_SUBMITTED} where {where} and t.layer_id = ?"
        " group by t.document_id, t.question, ifnull(t.attrs, '')) group by 1"
    )
    return db.reader().execute(query, (*values, row_id(layer))).fetchall()


def chains(db: Database, chunk: Sequence[int], layer: Layer) -> int:
    """Number of chains of coreferent spans; a span without a chain is none."""
    where, values = _within("t.document_id", chunk)
    query = (
        f"select count(*) from (select distinct t.document_id, t.group_id from span t{_SUBMITTED}"
        f" where {where} and t.layer_id = ? and t.group_id is not null)"
    )
    number: int = db.reader().execute(query, (*values, row_id(layer))).fetchone()[0]
    return number


def label_pairs(db: Database, chunk: Sequence[int], layer: Layer) -> list[tuple[int, int, int]]:
    """(label, label with an equal or higher id, documents that have both)."""
    where, values = _within("t.document_id", chunk)
    query = (
        "with p as materialized (select distinct t.document_id as d, t.label_id as l from"
        f" {layer.traits.table} t{_SUBMITTED} where {where} and t.layer_id = ?"
        " and t.label_id is not null) select a.l, b.l, count(*) from p a join p b on b.d = a.d"
        " and a.l <= b.l group by 1, 2"
    )
    return db.reader().execute(query, (*values, row_id(layer))).fetchall()


def span_texts(
    db: Database, chunk: Sequence[int], layer: Layer
) -> list[tuple[int, tuple[str, ...], int]]:
    """(label, text of each part of a span, how many spans have these)."""
    where, values = _within("t.document_id", chunk)
    # A text with lone surrogates is a blob, which SQL would cut by bytes.
    cut = (
        "case typeof(b.content) when 'text' then substr(b.content, t.start + 1,"
        ' t."end" - t.start) else b.content end'
    )
    query = (
        f"select t.label_id, {cut}, typeof(b.content) = 'text', case when t.parts is null and"
        " typeof(b.content) = 'text' then null else t.start end, case when t.parts is null"
        " and typeof(b.content) = 'text' then null else t.\"end\" end, t.parts, count(*)"
        f" from span t{_SUBMITTED} join body b on b.document_id = t.document_id"
        f" and b.field = t.field where {where} and t.layer_id = ? and t.label_id is not null"
        " group by 1, 2, 3, 4, 5, 6"
    )
    texts = []
    for label, content, is_cut, start, end, parts, count in (
        db.reader().execute(query, (*values, row_id(layer))).fetchall()
    ):
        text, first = text_out(content), start if is_cut else 0
        if parts is not None:
            ranges = [(a - first, b - first) for a, b in json.loads(parts)]
        else:
            ranges = [(0, len(text)) if is_cut else (start, end)]
        texts.append((label, tuple(text[a:b] for a, b in ranges), count))
    return texts


def finished(db: Database, chunk: Sequence[int]) -> list[tuple[str, int]]:
    """Times (ISO 8601, UTC), and how many documents were submitted or discarded last then."""
    where, values = _within("document_id", chunk)
    query = (
        "select last, count(*) from (select max(at) as last from state s join layer y"
        " on y.id = s.layer_id and y.gold = s.annotator_id"
        f" where state in ('submitted', 'discarded') and {where} group by document_id) group by 1"
    )
    return db.reader().execute(query, values).fetchall()


_SAME_MARK = (
    "select 1 from mark m where m.document_id = g.document_id and m.layer_id = g.layer_id"
    " and m.annotator_id = y.gold and m.label_id is g.label_id and m.value is g.value"
)
_SAME_SPAN = (
    "select 1 from span p where p.document_id = g.document_id and p.layer_id = g.layer_id"
    " and p.annotator_id = y.gold and p.field = g.field and p.label_id is g.label_id"
    ' and p.start = g.start and p."end" = g."end"'
)
_OTHER_MARK = (
    "select 1 from mark m where m.document_id = g.document_id and m.layer_id = g.layer_id"
    " and m.annotator_id = y.gold"
)
_OTHER_SPAN = (
    "select 1 from span p where p.document_id = g.document_id and p.layer_id = g.layer_id"
    " and p.annotator_id = y.gold and p.field = g.field"
    ' and p.start < g."end" and g.start < p."end"'
)


def decided(
    db: Database, chunk: Sequence[int], layer: Layer
) -> list[tuple[str, str, int | None, int | None, str, int]]:
    """(kind, ref and annotator of the source, label, outcome, count) of decided suggestions.

    agreed: gold has the same label at the same place; changed: gold has another label or other
    offsets there; wrong: gold has nothing there. Answers to questions are not compared.
    """
    where, values = _within("g.document_id", chunk)
    other = f"g.kind = 'span' and exists({_OTHER_SPAN})"
    if layer.traits.on_document and not layer.traits.several or not layer.traits.has_labels:
        other = f"{other} or g.kind = 'class' and exists({_OTHER_MARK})"
    query = (
        f"select s.kind, s.ref, {BY}, g.label_id, case when g.kind = 'class' and"
        f" exists({_SAME_MARK}) or g.kind = 'span' and exists({_SAME_SPAN}) then '{AGREED}'"
        f" when {other} then '{CHANGED}' else '{WRONG}' end, count(*) from suggestion g"
        " join layer y on y.id = g.layer_id join source s on s.id = g.source_id"
        f" where {where} and g.layer_id = ? and g.status != 'open' group by 1, 2, 3, 4, 5"
    )
    return db.reader().execute(query, (*values, row_id(layer))).fetchall()


def decided_documents(db: Database, layer: Layer, origin: Origin) -> list[int]:
    """Ids of the documents with decided suggestions of an origin in the layer."""
    query = (
        "select distinct document_id from suggestion where status != 'open' and layer_id = ?"
        f" and source_id in ({OF_ORIGIN}) order by 1"
    )
    return [id for (id,) in db.reader().execute(query, (row_id(layer), *origin)).fetchall()]


def texts(db: Database, chunk: Sequence[int]) -> list[tuple[int, str, str]]:
    """(document id, name of the text, text), in order; no annotations, so much faster."""
    where, values = _within("document_id", chunk)
    query = f"select document_id, field, content from body where {where} order by document_id, id"
    return [
        (id, field, text_out(content))
        for id, field, content in db.reader().execute(query, values).fetchall()
    ]


def hashes(db: Database, chunk: Sequence[int]) -> list[tuple[int, str]]:
    """(document id, hash of its texts), in order of id."""
    where, values = _within("id", chunk)
    query = f"select id, text_hash from document where {where} order by id"
    return db.reader().execute(query, values).fetchall()


def leaking(db: Database) -> int:
    """Number of documents in dev and test whose texts equal those of a document in train."""
    query = (
        "select count(*) from document d where d.split in ('dev', 'test') and exists(select 1 from"
        " document e where e.text_hash = d.text_hash and +e.split = 'train')"  # + : no index of it
    )
    count: int = db.reader().execute(query).fetchone()[0]
    return count


def keys(db: Database, ids: Iterable[int]) -> dict[int, str]:
    """Id → key of the documents."""
    query = "select id, key from document where id in (select value from json_each(?))"
    return dict(db.reader().execute(query, (ids_in(ids),)).fetchall())


def splits(db: Database, ids: Iterable[int]) -> dict[int, str | None]:
    """Id → split of those of the documents that exist."""
    query = "select id, split from document where id in (select value from json_each(?))"
    return dict(db.reader().execute(query, (ids_in(ids),)).fetchall())
