"""Bulk operations that do for many rows at once what triggers do for each row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_KINDS = ("journal", "checksum", "state_key")
_TRIGGERS = (
    "select name, sql from sqlite_temp_master where type = 'trigger'"
    " and name in (select value from json_each(?))"
)


@contextmanager
def without_triggers(
    conn: sqlite3.Connection, event: str, tables: Iterable[str], more: Iterable[str] = ()
) -> Iterator[None]:
    """Drop the triggers that record an event ("insert", "delete") of tables, and restore them.

    `more`: names of other triggers. Call it within a transaction; a rollback restores them, too.
    """
    names = [f"{kind}_{table}_{event}" for table in tables for kind in _KINDS]
    triggers = conn.execute(_TRIGGERS, (json.dumps([*names, *more]),)).fetchall()
    for name, _sql in triggers:
        conn.execute(f"drop trigger temp.{name}")
    try:
        yield
    finally:
        for _name, sql in triggers:  # SQLite stores them without "temp"
            _create, _trigger, rest = sql.split(None, 2)
            conn.execute(f"create temp trigger if not exists {rest}")
