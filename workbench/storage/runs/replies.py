"""Replies of models by the content of their requests. Not undoable: they cost time or money.

A cache, so that integrity checks leave the table out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import now

AT_ONCE = 500  # keys in one query


def get(db: Database, keys: Iterable[str]) -> dict[str, str]:
    """key → payload (JSON) of those that are known."""
    unique = list(dict.fromkeys(keys))
    known: dict[str, str] = {}
    for first in range(0, len(unique), AT_ONCE):
        part = unique[first : first + AT_ONCE]
        marks = ", ".join("?" * len(part))
        rows = db.reader().execute(f"select key, payload from reply where key in ({marks})", part)
        known.update(rows.fetchall())
    return known


def save(db: Database, payloads: Mapping[str, str]) -> None:
    """Keep payloads by key; a known key gets the newer one."""
    at = now()
    db.writer.executemany(
        "insert or replace into reply(key, payload, at) values(?, ?, ?)",
        [(key, payload, at) for key, payload in payloads.items()],
    )


def count(db: Database) -> int:
    number: int = db.reader().execute("select count(*) from reply").fetchone()[0]
    return number


def delete(db: Database, where: Callable[[str], bool] = lambda _payload: True) -> None:
    """Forget the replies whose payload is chosen, all by default."""
    rows = db.writer.execute("select key, payload from reply").fetchall()
    keys = [(key,) for key, payload in rows if where(payload)]
    db.writer.executemany("delete from reply where key = ?", keys)
