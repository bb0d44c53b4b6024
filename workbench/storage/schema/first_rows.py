"""The rows of a new project."""

from __future__ import annotations

import sqlite3

from workbench.storage.schema.values import new_uid, now
from workbench.version import __version__


def insert(conn: sqlite3.Connection, annotator: str) -> None:
    with conn:
        conn.execute("begin")
        mine = conn.execute(
            "insert into annotator(uid, name) values(?, ?)", (new_uid(), annotator)
        ).lastrowid
        values = {
            "uid": new_uid(),
            "seed": 1,
            "created": now(),
            "version": __version__,
            "annotator": mine,
        }
        conn.executemany("insert into meta values(?, ?)", values.items())
