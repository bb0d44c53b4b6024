"""Flags: named marks on documents. Undoable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.storage.database import Database
from workbench.storage.values import ids_in, new_id, now


@dataclass(frozen=True)
class Flag:
    id: int
    document_id: int
    name: str
    at: str


def add(db: Database, document_id: int, name: str, annotator_id: int) -> int:
    """Add a flag and return its id. `name` is text without lone surrogates."""
    row = (document_id, name, annotator_id, now())
    columns = "document_id, name, annotator_id, at"
    return new_id(db.writer.execute(f"insert into flag({columns}) values(?, ?, ?, ?)", row))


def starting_with(db: Database, prefix: str, document_id: int | None = None) -> tuple[Flag, ...]:
    """The flags, of all documents or of one, whose names start with a prefix; oldest first."""
    where = "substr(name, 1, ?) = ?"
    values: list[object] = [len(prefix), prefix]
    if document_id is not None:
        where, values = f"document_id = ? and {where}", [document_id, *values]
    query = f"select id, document_id, name, at from flag where {where} order by id"
    return tuple(Flag(*row) for row in db.reader().execute(query, values).fetchall())


def delete(db: Database, ids: Iterable[int]) -> None:
    db.writer.execute(
        "delete from flag where id in (select value from json_each(?))", (ids_in(ids),)
    )
