"""Reads the steps that can be undone and redone, on any connection. `journal` writes them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from workbench.storage.schema.values import Row


@dataclass(frozen=True)
class HistoryStep:
    """A step. `rows`: number of rows changed; `at`: when it was first done."""

    id: int
    title: str
    undone: bool
    at: str
    rows: int


UNDONE, DROPPED = 1, 2  # values of `journal_step.undone`; a dropped step waits to be deleted

_STEP = "select id, title, undone, at, rows from journal_step"


def next_undo(conn: sqlite3.Connection) -> HistoryStep | None:
    return _one(conn, f"{_STEP} where undone = 0 order by id desc limit 1")


def next_redo(conn: sqlite3.Connection) -> HistoryStep | None:
    return _one(conn, f"{_STEP} where undone = {UNDONE} order by id limit 1")


def steps(conn: sqlite3.Connection, limit: int) -> tuple[HistoryStep, ...]:
    """All steps, newest first: steps that can be redone, then steps that can be undone."""
    return tuple(
        map(
            _history_step,
            conn.execute(
                f"{_STEP} where undone != {DROPPED} order by id desc limit ?", (limit,)
            ).fetchall(),
        )
    )


def where_it_ends(conn: sqlite3.Connection) -> str:
    """Why the history does not go back further; "" if it is complete."""
    row = conn.execute("select value from meta where key = 'journal_cut'").fetchone()
    return row[0] if row else ""


def _one(conn: sqlite3.Connection, statement: str) -> HistoryStep | None:
    row = conn.execute(statement).fetchone()
    return _history_step(row) if row else None


def _history_step(row: Row) -> HistoryStep:
    return HistoryStep(row[0], row[1], bool(row[2]), row[3], row[4])
