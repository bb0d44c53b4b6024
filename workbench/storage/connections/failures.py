"""Converts errors of SQLite to errors for users. No other module interprets sqlite3 errors."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.base.errors import (
    ProjectBusy,
    ProjectDamaged,
    ProjectError,
    is_disk_full,
    not_unicode,
)
from workbench.base.i18n import _

_NO_ROOM = frozenset(
    {
        "SQLITE_FULL",
        "SQLITE_IOERR_SHMSIZE",
        "SQLITE_IOERR_SHMOPEN",
        "SQLITE_IOERR_SHMMAP",
    }
)
_DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_LOCKED_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PLACE_CODES = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
)
# The schema stored in the file is damaged, or was changed by another program.
QUOTED = 60  # characters of a text in a message
_SCHEMA_WORDS = re.compile(r"^no such (column|table)|^malformed database schema")


class NoRoom(ProjectError):
    """The disk is full, or cannot hold the shared memory file of a write-ahead log."""


def no_room(error: Exception) -> bool:
    """Whether the disk is full. A connection to a write-ahead log needs 32 kB of shared memory."""
    if not isinstance(error, sqlite3.OperationalError):
        return False
    return getattr(error, "sqlite_errorname", "") in _NO_ROOM or is_disk_full(error)


@contextmanager
def explained(path: Path, *, writing: bool) -> Iterator[None]:
    """Context manager that raises the ProjectError of `explain` for errors of SQLite."""
    try:
        yield
    except (sqlite3.Error, UnicodeError) as error:
        raise explain(error, path, writing=writing) from error


def explain(error: Exception, path: Path, *, writing: bool) -> ProjectError:
    """The ProjectError for `error`, a sqlite3.Error or UnicodeError that SQLite raised.

    `writing` states whether a change to the file at `path` failed. Returns NoRoom, ProjectDamaged,
    ProjectBusy or a plain ProjectError; the caller raises it from `error`.
    """
    if isinstance(error, UnicodeEncodeError):  # every text that is stored or searched for ends here
        text = error.object.encode("utf-8", "replace").decode()
        text = text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
        return ProjectError(not_unicode(f"“{text}”", error), hint=_("No changes were made."))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part
    if no_room(error):
        return _place(error, path, writing, NoRoom)
    if code in _LOCKED_CODES:
        return ProjectBusy(
            _("{path} is locked by another program.", path=path),
            hint=_("Close other programs that use the file, then try again."),
        )
    if _is_damage(error, code):
        return damaged(error, path)
    if code in _PLACE_CODES or (writing and isinstance(error, sqlite3.OperationalError)):
        return _place(error, path, writing, ProjectError)
    if isinstance(error, sqlite3.IntegrityError):
        return ProjectError(
            _("SQLite rejected a change to {path}: {error}.", path=path, error=error),
            hint=_(
                "No changes were made. Run `glossbench project check` on the file and, if it "
                "reports damage, restore the project from a backup."
            ),
        )
    return ProjectError(
        _("SQLite reported an error in {path}: {error}.", path=path, error=error),
        hint=_("No changes were made. If it happens again, report it as a bug in Glossbench."),
    )


def damaged(error: Exception, path: Path) -> ProjectDamaged:
    """The error for a damaged file, whatever SQLite reports."""
    what = str(error)
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in what:
        what = _("it contains text that is not UTF-8")
    return ProjectDamaged(
        _("The project file {path} is damaged: {what}.", path=path, what=what),
        hint=way_out(),
    )


def way_out() -> str:
    """What to do with a damaged file."""
    return _(
        "Restore it from a backup, or write what can be read to a new file with "
        "`glossbench project recover`. The file was not changed."
    )


def _is_damage(error: Exception, code: int) -> bool:
    return (
        isinstance(error, UnicodeDecodeError)
        or type(error) is sqlite3.DatabaseError
        or code in _DAMAGE_CODES
        or getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_SHORT_READ"
        or "Could not decode to UTF-8" in str(error)
        or bool(_SCHEMA_WORDS.search(str(error)))
    )


def _place(error: Exception, path: Path, writing: bool, kind: type[ProjectError]) -> ProjectError:
    """The error for a problem with the disk, the folder or the permissions."""
    if kind is NoRoom:
        hint = _("Free up disk space, then try again.")
    else:
        hint = _("Check that the file still exists, its permissions and its disk.")
    if writing:
        message = _("{path} could not be written: {error}. No changes were made.")
    else:
        message = _("{path} could not be read: {error}.")
    return kind(message.format(path=path, error=error), hint=hint)
