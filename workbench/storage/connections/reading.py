"""Read connections: conversion of errors, and closing while another thread reads."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, cast

from workbench.base.errors import Cancelled, ProjectError, WorkbenchError
from workbench.base.i18n import _
from workbench.storage.connections import failures

STEPS = 20_000  # instructions of SQLite's virtual machine, about a millisecond


class ReadingCursor(sqlite3.Cursor):
    """A cursor that converts SQLite errors to ProjectError, at whichever row they occur."""

    @property
    def _reader(self) -> Reader:
        return cast(Reader, self.connection)

    def execute(self, *args: Any) -> Self:
        try:
            with self._reader.using:
                return super().execute(*args)
        except (sqlite3.Error, UnicodeError) as error:
            raise self._explained(error) from error

    def fetchone(self) -> Any:
        try:
            with self._reader.using:
                return super().fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._explained(error) from error

    def fetchall(self) -> list[Any]:
        try:
            with self._reader.using:
                return super().fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._explained(error) from error

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # sqlite3's returns the cursor
        return iter(self.fetchall())

    def _explained(self, error: Exception) -> WorkbenchError:
        # The traceback holds this cursor, and an open cursor the file. Under the lock, as another
        # thread may be closing both.
        with self._reader.using, suppress(sqlite3.Error):
            self.close()
        if self._reader.stopped:
            return Cancelled()
        if self._reader.closing:
            return ProjectError(_("The project was closed while it was being read."))
        return self._reader.explain(error)


class Reader(sqlite3.Connection):
    """`using` is held while a thread is inside SQLite: closing the connection then would crash.

    `path` is the project file, for messages; `explain` makes an error for users of one of SQLite.
    `only`: the annotator whose labels alone are read; None: those of all.
    """

    path = Path()
    only: int | None = None
    explain: Callable[[Exception], WorkbenchError]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.using, self.closing, self.stopped = threading.RLock(), False, False
        self.explain = lambda error: failures.explain(error, self.path, writing=False)
        self._cursors: weakref.WeakSet[ReadingCursor] = weakref.WeakSet()

    @contextmanager
    def until(self, stop: Callable[[], bool]) -> Iterator[None]:
        """Queries within raise Cancelled soon after `stop()` is true. `stop` is called often."""

        def ask() -> bool:
            self.stopped = stop()
            return self.stopped

        self.set_progress_handler(ask, STEPS)
        try:
            yield
        finally:
            self.set_progress_handler(None, 0)
            self.stopped = False

    def close_soon(self) -> None:
        """Interrupt a query of another thread and close."""
        self.closing = True
        while not self.using.acquire(timeout=0.02):
            self.interrupt()
        try:
            for cursor in tuple(self._cursors):  # SQLite keeps the file open for each of them
                cursor.close()
            self.close()
        finally:
            self.using.release()

    def execute(self, *args: Any) -> ReadingCursor:
        """Overrides sqlite3's method, which ignores `cursor` and creates a plain cursor."""
        with self.using:
            cursor = self.cursor(ReadingCursor)
            self._cursors.add(cursor)
        return cursor.execute(*args)
