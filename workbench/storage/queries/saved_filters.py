"""Saved filters: named queries. Undoable."""

from __future__ import annotations

import json
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import json_out, name_in, new_id, new_uid


@dataclass(frozen=True)
class SavedFilter:
    """`query`: as in `text.queries.query`."""

    id: int
    name: str
    query: str


def all(db: Database) -> tuple[SavedFilter, ...]:
    """All saved filters, in the order in which they were added."""
    rows = db.reader().execute("select id, name, spec from saved_filter order by id").fetchall()
    return tuple(
        SavedFilter(id, name, str(json_out(spec).get("query", ""))) for id, name, spec in rows
    )


def add(db: Database, name: str, query: str) -> int:
    """Insert a filter and return its id."""
    row = new_uid(), name_in(name), _spec(query)
    return new_id(
        db.writer.execute("insert into saved_filter(uid, name, spec) values(?, ?, ?)", row)
    )


def update(db: Database, id: int, name: str, query: str) -> None:
    """Store a new name and query. Raises KeyError if there is no such filter."""
    row = name_in(name), _spec(query), id
    done = db.writer.execute("update saved_filter set name = ?, spec = ? where id = ?", row)
    if not done.rowcount:
        raise KeyError(id)


def delete(db: Database, id: int) -> None:
    """Raises KeyError if there is no such filter."""
    if not db.writer.execute("delete from saved_filter where id = ?", (id,)).rowcount:
        raise KeyError(id)


def _spec(query: str) -> str:
    return json.dumps({"query": query})
