"""Notes on documents and spans. Undoable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in, name_in, new_id, new_uid, now


@dataclass(frozen=True)
class Note:
    """`span_id`: the span that the note is about, or None for the document."""

    id: int
    document_id: int
    span_id: int | None
    body: str
    at: str
    made_by: int | None = None


def span_column(db: Database, table: str) -> str:
    """The column of `note` or `flag` for spans; NULL in a file of an older version."""
    columns = db.reader().execute(
        "select 1 from pragma_table_info(?) where name = 'span_id'", (table,)
    )
    return "span_id" if columns.fetchone() else "null"


def of_documents(db: Database, document_ids: Iterable[int]) -> tuple[Note, ...]:
    """The notes on documents and their spans, oldest first."""
    rows = db.reader().execute(
        f"select id, document_id, {span_column(db, 'note')}, body, at, annotator_id from note"
        " where document_id in (select value from json_each(?)) order by id",
        (ids_in(document_ids),),
    )
    return tuple(Note(*row) for row in rows.fetchall())


def add(
    db: Database, document_id: int, body: str, annotator_id: int, span_id: int | None = None
) -> int:
    """Add a note and return its id."""
    row = new_uid(), document_id, span_id, name_in(body), annotator_id, now()
    columns = "uid, document_id, span_id, body, annotator_id, at"
    return new_id(db.writer.execute(f"insert into note({columns}) values(?, ?, ?, ?, ?, ?)", row))


def update(db: Database, id: int, body: str) -> None:
    db.writer.execute("update note set body = ?, at = ? where id = ?", (name_in(body), now(), id))


def delete(db: Database, ids: Iterable[int]) -> None:
    db.writer.execute(
        "delete from note where id in (select value from json_each(?))", (ids_in(ids),)
    )
