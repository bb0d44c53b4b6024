"""Edits of many rows in which SQLite need not look up every reference."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectBusy
from workbench.base.i18n import _

if TYPE_CHECKING:
    import sqlite3

    from workbench.storage.connections.database import Database


@contextmanager
def unchecked(db: Database) -> Iterator[None]:
    """Neither check foreign keys nor follow them in the edit that begins within.

    For edits that add or delete rows together with all rows that refer to them. SQLite ignores the
    setting within a transaction: there, references stay checked (`checked` tells). Raises
    ProjectBusy on the thread that opened the project if another thread is writing.
    """
    if db.in_transaction:
        yield
        return
    # The writer's lock, so that no other thread has a transaction on this connection.
    if not db._mutex.acquire(blocking=threading.get_ident() != db._home):
        raise ProjectBusy(
            _("Another change to the project is still being written."),
            hint=_("Wait until it has finished, then try again."),
        )
    try:
        db.writer.execute("pragma foreign_keys = off")
        try:
            yield
        finally:
            db.writer.execute("pragma foreign_keys = on")
    finally:
        db._mutex.release()


def checked(conn: sqlite3.Connection) -> bool:
    """Whether deleting a row deletes the rows that refer to it."""
    return bool(conn.execute("pragma foreign_keys").fetchone()[0])
