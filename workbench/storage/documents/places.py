"""Places in the texts of many documents: contents, gold labels and suggestions there."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workbench.base.watch import QUIET, Watch
from workbench.storage.connections.database import Database
from workbench.storage.documents.bulk import start_drafts
from workbench.storage.queries import search
from workbench.storage.queries.listing import Filter, condition
from workbench.storage.schema.values import ids_in, new_uid, offsets_out, text_out

CHUNK = 1000  # documents or spans per statement


class Content(NamedTuple):
    """One text of a document."""

    document_id: int
    key: str
    field: str
    text: str


class TextPlace(NamedTuple):
    """Code points [start, end) of one text that have, or will have, a label."""

    document_id: int
    field: str
    start: int
    end: int
    label_id: int | None = None


def candidates(db: Database, filter: Filter, phrase: str = "") -> array[int]:
    """Ids of the documents that match the filter, in order.

    With `phrase`, only those in which its words occur one after another, which the full-text index
    tells; punctuation, case and diacritics are ignored. A phrase without letters changes nothing.
    """
    statement, values = condition(db, filter)
    if query := search.phrase(phrase):
        statement += (
            " and d.id in (select document_id from body where id in"
            " (select rowid from search where search match ?))"
        )
        values.append(query)
    rows = db.reader().execute(
        f"select d.id from document d where {statement} order by d.id", values
    )
    return array("q", [id for (id,) in rows.fetchall()])


def last_document(db: Database) -> int:
    """The highest id of a document; 0 if there is none."""
    last: int = db.reader().execute("select ifnull(max(id), 0) from document").fetchone()[0]
    return last


def documents_after(db: Database, id: int) -> list[int]:
    """Ids of the documents above `id`, in order."""
    rows = db.reader().execute("select id from document where id > ? order by id", (id,))
    return [document_id for (document_id,) in rows.fetchall()]


def texts_of(db: Database, ids: Iterable[int]) -> dict[int, int]:
    """Document id → number of its texts."""
    statement = "select id, texts from document where id in (select value from json_each(?))"
    return dict(db.reader().execute(statement, (ids_in(ids),)).fetchall())


def contents(db: Database, ids: Iterable[int]) -> list[Content]:
    """The texts of these documents, by document id."""
    statement = (
        "select b.document_id, d.key, b.field, b.content from body b join document d on"
        " d.id = b.document_id where b.document_id in (select value from json_each(?))"
        " order by b.document_id, b.id"
    )
    rows = db.reader().execute(statement, (ids_in(ids),)).fetchall()
    return [Content(id, key, field, text_out(text)) for id, key, field, text in rows]


def tokens(db: Database, ids: Iterable[int]) -> dict[tuple[int, str], tuple[tuple[int, int], ...]]:
    """(Document, field) → the imported tokens; texts without them are left out."""
    statement = (
        "select document_id, field, borders from tokens"
        " where document_id in (select value from json_each(?))"
    )
    rows = db.reader().execute(statement, (ids_in(ids),)).fetchall()
    return {(id, field): offsets_out(offsets) for id, field, offsets in rows}


def gold_spans(db: Database, ids: Iterable[int], layer_id: int) -> list[TextPlace]:
    """Gold spans of a layer in these documents, in text order."""
    statement = (
        'select p.document_id, p.field, p.start, p."end", p.label_id from span p'
        " join layer l on l.id = p.layer_id and l.gold = p.annotator_id"
        " where p.layer_id = ? and p.document_id in (select value from json_each(?))"
        " order by p.document_id, p.field, p.start"
    )
    rows = db.reader().execute(statement, (layer_id, ids_in(ids))).fetchall()
    return [TextPlace(*row) for row in rows]


def suggested_spans(db: Database, ids: Iterable[int], layer_id: int) -> set[TextPlace]:
    """Open suggestions of spans of a layer in these documents."""
    statement = (
        'select document_id, field, start, "end", label_id from suggestion'
        " where status = 'open' and kind = 'span' and layer_id = ?"
        " and document_id in (select value from json_each(?))"
    )
    rows = db.reader().execute(statement, (layer_id, ids_in(ids))).fetchall()
    return {TextPlace(*row) for row in rows}


def add_spans(
    db: Database,
    places: Sequence[TextPlace],
    layer_id: int,
    *,
    annotator_id: int,
    source_id: int,
    watch: Watch = QUIET,
) -> None:
    """Insert spans without checks. Documents that were pending become drafts."""
    statement = (
        'insert into span(document_id, field, start, "end", label_id, layer_id, annotator_id,'
        " source_id, uid) values(?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    by = layer_id, annotator_id, source_id
    for chunk in watch.over(places, CHUNK):
        db.writer.executemany(statement, [(*place, *by, new_uid()) for place in chunk])
    ids = sorted({place.document_id for place in places})
    start_drafts(db, ids, layer_id, annotator_id)
