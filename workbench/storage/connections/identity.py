"""Whether a path still leads to the file that was opened there, whether only SQLite has written to
that file, and whose log lies beside it.

SQLite finds the write-ahead log of a file by its name. If the file is renamed or replaced while it
is open, the log stays at the old name; whoever opens another file there applies the log to it and
destroys it. Therefore a writer notes which file its log belongs to (`lock.FileLock.note`), and a
log that belongs to another file is never applied.

A file is identified by its device and inode: the path is only looked up, as opening and closing
the file again would release the locks that SQLite has on it. A file system without inode numbers
(0) gives no claim. On Windows, an open project cannot be renamed or replaced.

A file that another program overwrites in place (`cp OTHER FILE`) stays the same file. With a log,
SQLite writes to it at checkpoints only, and notes them in the shared memory beside it; if the file
has changed and SQLite has noted nothing, another program has written (`ForeignWrites`).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workbench.base import paths
from workbench.base.errors import ProjectError, ProjectMoved
from workbench.base.i18n import _
from workbench.storage.connections import header

MISSING, REPLACED, OVERWRITTEN = "missing", "replaced", "overwritten"
_ASIDE = ".of-another-file"  # the suffix of a log that is not applied
_NOTE = "glossbench"  # the first word of a note
_LOG = struct.Struct("=16x4s12x8s56x4s28x4s")
_WAIT_SECONDS = 0.3  # until a change that SQLite has not noted is taken for that of another program


@dataclass(frozen=True)
class FileId:
    device: int
    inode: int


@dataclass(frozen=True)
class LogNote:
    """A project file, the log that was written for it, and what was in the file at that time."""

    file: FileId
    log: FileId
    uid: str = ""  # of the project
    changes: int = 0  # the change counter of the file; it never falls

    def to_text(self) -> str:
        numbers = (self.file.device, self.file.inode, self.log.device, self.log.inode)
        content = (self.changes, self.uid) if self.uid else ()
        return " ".join([_NOTE, *map(str, (*numbers, *content))]) + "\n"

    @classmethod
    def from_text(cls, text: str) -> LogNote | None:
        """None if the text is not a note."""
        first, *numbers = text.split() or [""]
        uid = numbers.pop() if len(numbers) == 6 else ""
        if first != _NOTE or len(numbers) not in (4, 5):
            return None
        if not all(each.isdecimal() for each in numbers):
            return None
        a, b, c, d, changes, *_rest = *map(int, numbers), 0
        return cls(FileId(a, b), FileId(c, d), uid, changes)


def log_of(path: Path) -> Path:
    """The write-ahead log of a project file."""
    return path.with_name(f"{path.name}-wal")


def of(path: Path) -> FileId | None:
    """None if there is no file, or its file system has no inode numbers."""
    try:
        status = path.stat()
    except OSError:
        return None
    return FileId(status.st_dev, status.st_ino) if status.st_ino else None


def moved(path: Path, opened: FileId | None) -> str:
    """MISSING, REPLACED, or "" if the file at `path` is `opened` or nothing can be said."""
    if opened is None:
        return ""
    try:
        status = os.stat(path)  # noqa: PTH116, as it is called for every edit
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError:  # such as an unreachable drive; SQLite will report what it cannot write
        return ""
    same = (status.st_dev, status.st_ino) == (opened.device, opened.inode)
    return "" if same or not status.st_ino else REPLACED


def error(path: Path, how: str) -> ProjectMoved:
    """The error for a change to a project that is no longer at its path."""
    hint = _(
        "Changes are no longer saved. Move the file back and try again, or save a copy of the "
        "project under another name."
    )
    if how == MISSING:
        message = _("{path} was renamed, moved or deleted while it was open.")
    elif how == REPLACED:
        message = _("{path} was replaced by another file while it was open.")
    else:
        message = _("{path} was overwritten by another program while it was open.")
        hint = _("Changes are no longer saved. Save a copy of the project under another name.")
    return ProjectMoved(message.format(path=path), hint=hint)


class _Log(NamedTuple):
    """What SQLite notes about a log: https://www.sqlite.org/walformat.html, section 2."""

    frames: bytes
    salt: bytes  # another one each time the log starts again
    copied: bytes  # frames that are in the file
    copying: bytes  # frames up to which a checkpoint, the last or a running one, copies

    @classmethod
    def read(cls, memory: int) -> _Log:
        """memory: a descriptor of the shared memory. Raises OSError, struct.error."""
        return cls._make(_LOG.unpack(os.pread(memory, _LOG.size, 0)))


class ForeignWrites:
    """Whether another program than SQLite has written to an open file with a log.

    Without a log there is no claim, and none on Windows, where the time of the last change may
    stand still while a file is open. For any thread.
    """

    def __init__(self, path: Path):
        self._path = path
        self._memory = _descriptor(path.with_name(f"{path.name}-shm"))
        self._mutex = threading.Lock()
        self._writing = 0  # operations of this process that may write to the file
        self._any = False
        self._begun: _Log | None = None  # the log at the start of a transaction
        self._noted: tuple[_Log, int, int] | None = None
        self._noted = self._state()

    def any(self) -> bool:
        """Whether it has, since the last call or before it."""
        give_up = 0.0
        while not (self._any or self._writing):
            state = self._state()
            if state is None or self._noted is None or self._explains(state):
                self._noted = state or self._noted
                return self._any
            if not give_up:
                give_up = time.monotonic() + _WAIT_SECONDS
            elif time.monotonic() > give_up:
                self._any = not self._writing
                break
            time.sleep(0.01)  # a checkpoint of another process may be ending
        return self._any

    @contextmanager
    def own(self) -> Iterator[None]:
        """What SQLite writes to the file within is not that of another program."""
        with self._mutex:
            self._writing += 1
        try:
            yield
        finally:
            with self._mutex:
                if self._writing == 1:
                    self._noted = self._state() or self._noted
                self._writing -= 1

    def transaction(self, *, begins: bool) -> None:
        """Note that this process begins or ends a transaction that writes: only its own pages can
        make the log start again within.
        """
        self._begun = None
        if begins and self._memory is not None:
            with suppress(OSError, struct.error):
                self._begun = _Log.read(self._memory)

    def _explains(self, state: tuple[_Log, int, int]) -> bool:
        """Whether SQLite has noted a checkpoint if the file has changed."""
        assert self._noted is not None
        (log, *file), (before, *file_before) = state, self._noted
        if file == file_before:
            return True
        if log.salt == before.salt:
            return log.copied != before.copied
        return before != self._begun or before.copied != before.frames

    def _state(self) -> tuple[_Log, int, int] | None:
        """The log, and the size and time of change (ns) of the file; None while pages are copied,
        and if nothing can be said.
        """
        if self._memory is None:
            return None
        try:
            log = _Log.read(self._memory)
            file = os.stat(self._path)  # noqa: PTH116, as it is called for every edit
            again = _Log.read(self._memory)
        except (OSError, struct.error):
            return None
        before = self._noted[0].copying if self._noted else log.copying
        copying = log.copied != log.copying and log.copying != before
        return None if copying or log != again else (log, file.st_size, file.st_mtime_ns)


def _descriptor(path: Path) -> int | None:
    """SQLite's own descriptor of the shared memory at `path`, which is only to be read from. One of
    our own would release SQLite's locks when it is closed.
    """
    if sys.platform == "win32":
        return None
    file = of(path)
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208
    except OSError:
        return None
    for descriptor in descriptors:
        with suppress(OSError):  # it was that of the listing, or another thread has closed it
            status = os.fstat(descriptor)
            if file == FileId(status.st_dev, status.st_ino):
                return descriptor
    return None


def is_foreign_log(path: Path, note: LogNote | None) -> bool:
    """Whether the log beside the project at `path` was written for another file, or before the file
    was overwritten by another project or an older state.

    `note`: what the last writer noted. If the file and its log were copied together, the note is
    about neither.
    """
    if note is None or of(log_of(path)) != note.log:
        return False
    return of(path) not in (None, note.file) or _is_overwritten(path, note)


def _is_overwritten(path: Path, note: LogNote) -> bool:
    """Only what cannot be a checkpoint that was broken off counts: the rest of it is in the log."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"  # without the log
        with closing(sqlite3.connect(uri, uri=True)) as conn:
            (uid,) = conn.execute("select value from meta where key = 'uid'").fetchone()
        return bool(note.uid) and (uid != note.uid or header.examine(path).changes < note.changes)
    except (sqlite3.Error, TypeError, ProjectError):
        return False


def empty_log(path: Path) -> Path | None:
    """Move what is in a log that is open into another file, so that SQLite cannot apply it when it
    closes the project; returns its path.

    None if there is nothing in it.
    """
    log = log_of(path)
    if not log.stat().st_size:
        return None
    aside = paths.free_name(path.parent, log.name, _ASIDE)
    try:
        shutil.copyfile(log, aside)
    finally:
        os.truncate(log, 0)
    return aside


def set_log_aside(path: Path) -> Path | None:
    """Rename the log of another file, so that it is not applied; returns its new path.

    None if there is nothing in it. Nobody may have the file open.
    """
    log = log_of(path)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        if log.stat().st_size:
            return log.rename(paths.free_name(path.parent, log.name, _ASIDE))
        log.unlink()
    return None
