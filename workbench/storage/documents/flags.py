"""Flags: named marks on documents and spans. Undoable.

Reviews of gold are stored as flags too; their names begin with `REVIEWS`. What is called
a flag in the window is any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.connections.database import Database
from workbench.storage.documents.notes import span_column
from workbench.storage.schema.values import ids_in, name_in, new_id, now

REVIEWS = "review "  # start of the names of flags that hold reviews
ASSIGNED = f"{REVIEWS}assigned "  # the uid of the person to whom the document is assigned follows
CHUNK = 1000  # documents per statement; the operation can be cancelled between two


@dataclass(frozen=True)
class Flag:
    id: int
    document_id: int
    name: str
    at: str
    span_id: int | None = None


def add(db: Database, document_id: int, name: str, annotator_id: int) -> int:
    """Add a flag and return its id. `name` is text without lone surrogates."""
    row = (document_id, name, annotator_id, now())
    columns = "document_id, name, annotator_id, at"
    return new_id(db.writer.execute(f"insert into flag({columns}) values(?, ?, ?, ?)", row))


def starting_with(
    db: Database,
    prefix: str,
    document_id: int | None = None,
    *,
    ids: Iterable[int] | None = None,
) -> tuple[Flag, ...]:
    """The flags, of all documents, of one or of `ids`, whose names start with a prefix; oldest
    first.
    """
    where = "substr(name, 1, ?) = ?"
    values: list[object] = [len(prefix), prefix]
    if document_id is not None:
        ids = [document_id]
    if ids is not None:
        where = f"document_id in (select value from json_each(?)) and {where}"
        values.insert(0, ids_in(ids))
    query = f"select id, document_id, name, at from flag where {where} order by id"
    return tuple(Flag(*row) for row in db.reader().execute(query, values).fetchall())


_OWN = f"substr(name, 1, {len(REVIEWS)}) != '{REVIEWS}'"


def of_documents(db: Database, document_ids: Iterable[int]) -> tuple[Flag, ...]:
    """The flags of documents and their spans, without reviews, oldest first."""
    rows = db.reader().execute(
        f"select id, document_id, name, at, {span_column(db, 'flag')} from flag"
        f" where document_id in (select value from json_each(?)) and {_OWN} order by id",
        (ids_in(document_ids),),
    )
    return tuple(Flag(*row) for row in rows.fetchall())


def names(db: Database) -> tuple[str, ...]:
    """The names of all flags, without reviews."""
    query = f"select distinct name from flag where {_OWN} order by name"
    return tuple(name for (name,) in db.reader().execute(query).fetchall())


def add_to(
    db: Database,
    document_ids: Iterable[int],
    name: str,
    annotator_id: int,
    span_id: int | None = None,
    *,
    watch: Watch = QUIET,
) -> int:
    """Add a flag to the documents, or to a span of the only one, that do not have it."""
    statement = (
        "insert into flag(document_id, name, annotator_id, at, span_id)"
        " select d.id, ?, ?, ?, ? from document d where d.id in (select value from json_each(?))"
        " and not exists (select 1 from flag f where f.document_id = d.id and f.name = ?"
        " and f.span_id is ?)"
    )
    row = name_in(name), annotator_id, now(), span_id
    count = 0
    for chunk in watch.over(list(document_ids), CHUNK):
        values = (*row, ids_in(chunk), row[0], span_id)
        count += db.writer.execute(statement, values).rowcount
    return count


def remove_from(
    db: Database,
    document_ids: Iterable[int],
    name: str,
    span_id: int | None = None,
    *,
    watch: Watch = QUIET,
) -> int:
    """Remove a flag from the documents, or from a span of the only one."""
    statement = (
        "delete from flag where document_id in (select value from json_each(?)) and name = ?"
        " and span_id is ?"
    )
    count = 0
    for chunk in watch.over(list(document_ids), CHUNK):
        count += db.writer.execute(statement, (ids_in(chunk), name, span_id)).rowcount
    return count


def delete(db: Database, ids: Iterable[int]) -> None:
    db.writer.execute(
        "delete from flag where id in (select value from json_each(?))", (ids_in(ids),)
    )
