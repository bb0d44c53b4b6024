"""Creates the temporary triggers of the writer's connection."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

_HEAD = "create temp trigger "
_NAMES = re.compile(rf"{_HEAD}(\w+) .*? on main\.(\w+) ", re.DOTALL)


def create(conn: sqlite3.Connection, statements: Sequence[str]) -> None:
    """Execute all `create temp trigger … on main.TABLE …`, outside a transaction.

    SQLite reads its schema again after each such statement. Here the rows that they would store are
    inserted, and the schema is read once, which takes less than half the time. A library built to
    refuse this (SQLITE_DBCONFIG_DEFENSIVE, as on macOS) executes the statements one by one.
    """
    rows = [
        (*_names(statement), "CREATE TRIGGER " + statement[len(_HEAD) :])
        for statement in statements
    ]
    conn.execute("pragma writable_schema = on")
    try:
        conn.executemany("insert into sqlite_temp_master values('trigger', ?, ?, 0, ?)", rows)
    except sqlite3.OperationalError:
        for statement in statements:
            conn.execute(statement)
    finally:
        conn.execute("pragma writable_schema = reset")


def _names(statement: str) -> tuple[str, str]:
    """The names of the trigger and of its table."""
    match = _NAMES.match(statement)
    if match is None:
        raise ValueError(f"this creates no trigger of a table of the project: {statement}")
    return match[1], match[2]
