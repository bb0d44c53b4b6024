"""The runs and predictions that a transaction changes, recorded by triggers of the writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

TABLE = "create temp table touched(tbl text, rid integer, primary key (tbl, rid)) without rowid"


def triggers() -> Iterator[str]:
    """SQL of the triggers. Requires the temporary table."""
    for table, column, events in (
        ("run", "id", ("insert", "update", "delete")),
        ("prediction", "run_id", ("insert", "delete")),
    ):
        for event in events:
            row = "old" if event == "delete" else "new"
            yield (
                f"create temp trigger touch_{table}_{event} after {event} on main.{table} begin"
                f" insert or ignore into touched values('{table}', {row}.{column}); end"
            )


def take(conn: sqlite3.Connection) -> dict[str, frozenset[int]]:
    """The ids of the rows by table ("run"; "prediction" with ids of runs). Clears the record."""
    rows: dict[str, set[int]] = {}
    for table, id in conn.execute("select tbl, rid from touched").fetchall():
        rows.setdefault(table, set()).add(id)
    conn.execute("delete from touched")
    return {table: frozenset(ids) for table, ids in rows.items()}
