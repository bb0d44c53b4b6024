"""Capabilities of the SQLite library of this Python."""

from __future__ import annotations

import sqlite3
from contextlib import closing


def version() -> str:
    return sqlite3.sqlite_version


def has_full_text_search() -> bool:
    """Whether FTS5 is available; project files require it."""
    with closing(sqlite3.connect(":memory:")) as conn:
        try:
            conn.execute("create virtual table found using fts5(text)")
        except sqlite3.OperationalError:
            return False
    return True
