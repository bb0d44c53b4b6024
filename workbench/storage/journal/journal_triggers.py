"""The triggers that write the journal: the old values of every row changed in an edit."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence

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


def document_column(columns: list[str]) -> str | None:
    """The column with a row's document id. The table of documents is the one with `text_hash`."""
    if "document_id" in columns:
        return "document_id"
    return "id" if "text_hash" in columns else None


def triggers(table: str, columns: list[str]) -> Iterator[str]:
    into = ", ".join(f"c{number}" for number in range(len(columns)))
    old = ", ".join(f'old."{name}"' for name in columns)
    document = document_column(columns)
    step = (
        f"(case (select step from journal_now) when 0 then raise(abort, '{table} is changed "
        f"outside of an edit') else (select step from journal_now) end)"
    )
    new_doc, old_doc = (f"new.{document}", f"old.{document}") if document else ("null", "null")
    yield (
        f"create temp trigger journal_{table}_insert after insert on main.{table}"
        f" when new.id <= (select high from journal_high where tbl = '{table}') begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc) values({step}, '{table}', "
        f"'delete', new.id, {new_doc}); end"
    )
    if table != "body":  # never updated
        watched = [name for name in columns if name != "id"]
        names = ", ".join(f'"{name}"' for name in watched)
        differs = " or ".join(f'old."{name}" is not new."{name}"' for name in watched)
        yield (
            f"create temp trigger journal_{table}_update after update of {names} on main.{table}"
            f" when {differs} begin insert into journal_row(step_id, tbl, op, rid, doc, {into})"
            f" values({step}, '{table}', 'update', old.id, {old_doc}, {old}); end"
        )
    yield (
        f"create temp trigger journal_{table}_delete before delete on main.{table} begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc, {into})"
        f" values({step}, '{table}', 'insert', old.id, {old_doc}, {old}); end"
    )
