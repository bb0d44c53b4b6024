"""Copies of a project file, which may be open: made with SQLite's backup API, not by copying."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.base.paths import free_name


def copy(conn: sqlite3.Connection, target: Path) -> Path:
    """Copy the database of `conn` into a new file, atomically.

    Raises ProjectError if `target` exists or cannot be created.
    """
    if target.exists():
        raise ProjectError(
            _("{target} exists already.").format(target=target), hint=_("Choose another name.")
        )
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as other:
            conn.backup(other)
            other.execute("pragma journal_mode = delete")
        os.replace(draft, target)
    except (OSError, sqlite3.Error) as error:
        draft.unlink(missing_ok=True)
        raise ProjectError(
            _("{target} could not be written: {error}.").format(target=target, error=error),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    return target


def before_upgrade(conn: sqlite3.Connection, path: Path, version: int) -> Path:
    """Path of the backup that is made before an upgrade:

    `<name> before upgrade from version N.glossbench`.
    """
    name = _("{name} before upgrade from version {version}").format(name=path.stem, version=version)
    return copy(conn, free_name(path.parent, name, path.suffix))
