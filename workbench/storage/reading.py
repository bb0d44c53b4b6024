"""Connections that read: what they say of a damaged file, and how they are closed while another thread reads."""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import suppress
from typing import cast

from workbench.base.errors import ProjectError
from workbench.base.i18n import _

_DAMAGE = re.compile(
    r"disk I/O|^no such (column|table)"
)  # the latter: the file's own description of its tables is damaged


def no_room(error: sqlite3.OperationalError) -> bool:
    """The disk is full, or has no room for the shared memory file that every connection to a write-ahead log needs."""
    return getattr(error, "sqlite_errorname", "") in (
        "SQLITE_FULL",
        "SQLITE_IOERR_SHMSIZE",
        "SQLITE_IOERR_SHMOPEN",
        "SQLITE_IOERR_SHMMAP",
    )


class ReadingCursor(sqlite3.Cursor):
    """Says of a damaged page what a person can use, wherever in the file it comes to light."""

    @property
    def _reader(self) -> Reader:
        return cast(Reader, self.connection)

    def execute(self, *args):
        try:
            with self._reader.using:
                return super().execute(*args)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._told(error) from error

    def fetchone(self):
        try:
            with self._reader.using:
                return super().fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._told(error) from error

    def fetchall(self):
        try:
            with self._reader.using:
                return super().fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._told(error) from error

    def __iter__(self):
        return iter(self.fetchall())

    def _told(self, error: Exception) -> Exception:
        if self._reader.closing:
            with suppress(sqlite3.Error):
                self.close()  # else what stands of it would keep the file open
            return ProjectError(_("The project was closed while it was being read."))
        what = str(error)
        if isinstance(error, sqlite3.OperationalError) and no_room(error):
            return error
        if "Could not decode to UTF-8" in what:
            what = _("it holds text that is not UTF-8")
        elif (
            isinstance(error, sqlite3.DatabaseError)
            and type(error) is not sqlite3.DatabaseError
            and not _DAMAGE.search(what)
        ):
            return error  # a fault of this program, or a file that is busy
        self.close()  # else the traceback would keep the file open
        hint = _(
            "Take a backup of it; `glossbench project check` says where. The file was left as it is."
        )
        return ProjectError(_("The project file is damaged: {what}.").format(what=what), hint=hint)


class Reader(sqlite3.Connection):
    """`using` is held while a thread is inside SQLite with it: closing a connection under another thread's hands ends the process."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.using, self.closing = threading.RLock(), False

    def close_soon(self) -> None:
        """Break off what another thread is reading, and close."""
        self.closing = True
        while not self.using.acquire(timeout=0.02):
            self.interrupt()
        try:
            self.close()
        finally:
            self.using.release()

    def execute(
        self, *args
    ) -> sqlite3.Cursor:  # sqlite3's own makes a plain cursor, whatever `cursor` is
        return self.cursor(ReadingCursor).execute(*args)
