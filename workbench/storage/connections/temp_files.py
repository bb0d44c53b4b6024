"""SQLite's temporary files, which hold text of the project: in memory, large ones beside it.

By default they lie in a folder of the system such as /var/tmp.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from workbench.base import paths

_lock = threading.Lock()  # SQLite has one folder of temporary files for all connections


def keep_in_memory(conn: sqlite3.Connection) -> None:
    """Call it before the connection has temporary tables, which this deletes."""
    conn.execute("pragma temp_store = memory")


@contextmanager
def beside(project: Path) -> Iterator[None]:
    """Temporary files of connections that do not keep them in memory lie in the folder of the
    project, or in the cache of the user if that is read-only. One at a time.

    For work whose size is that of the project.
    """
    with _lock:
        for folder in (project.parent, paths.cache_folder()):
            with suppress(sqlite3.Error, UnicodeError):
                _use(str(folder))
                break
        try:
            yield
        finally:
            _use("")


def _use(folder: str) -> None:
    """On a connection of its own: setting it deletes the temporary tables of the connection."""
    quoted = folder.replace("'", "''")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        conn.execute(f"pragma temp_store_directory = '{quoted}'")
