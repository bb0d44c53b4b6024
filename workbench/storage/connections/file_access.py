"""Whether a project file can be created and written, and its journal mode."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.storage.connections import header
from workbench.storage.schema import migrations


def claim(path: Path) -> None:
    """Create an empty file, atomically. Raises ProjectError if `path` exists."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        hint = _("No changes were made. Choose another name, or open the existing project.")
        raise ProjectError(_("{path} exists already.", path=path), hint=hint) from None
    except OSError as error:
        hint = _("Check that the folder exists and that you may write to it.")
        raise ProjectError(
            _("{path} cannot be created ({reason}).", path=path, reason=error.strerror),
            hint=hint,
        ) from error


def writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def make_logs_writable(path: Path) -> None:
    """Let the logs of a file be written that was write-protected when it was last read.

    SQLite creates them with the permissions of the file, and a reader leaves them there.
    """
    for ending in ("-wal", "-shm"):
        log = path.with_name(path.name + ending)
        with suppress(OSError):  # of another user; then SQLite reports it
            mode = log.stat().st_mode
            if not mode & stat.S_IWUSR:
                log.chmod(mode | stat.S_IWUSR)


def why_read_only(path: Path, head: header.Header) -> str:
    if head.version > migrations.CURRENT:
        return _(
            "it was created by a newer version of Glossbench (project version {found}, "
            "supported version {own})",
            found=head.version,
            own=migrations.CURRENT,
        )
    if not os.access(path, os.W_OK):
        return _("the file is write-protected")
    if not os.access(path.parent, os.W_OK):
        return _("the folder {folder} is write-protected", folder=path.parent)
    return ""


def choose_journal_mode(conn: sqlite3.Connection) -> str:
    """Use a write-ahead log, so that reads continue during writes; on network drives, where it does
    not work, a rollback journal.
    """
    for attempt in range(20):
        try:
            (mode,) = conn.execute("pragma journal_mode = wal").fetchone()
        except sqlite3.OperationalError as error:
            if (
                "locked" in str(error) and attempt < 19
            ):  # another process is closing the last connection
                time.sleep(0.05)
                continue
            mode = ""
        break
    if mode != "wal":
        (mode,) = conn.execute("pragma journal_mode = truncate").fetchone()
    return str(mode)
