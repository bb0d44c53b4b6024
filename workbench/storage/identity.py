"""Whether a path still leads to the file that was opened there, and whose log lies beside it.

SQLite finds the write-ahead log of a file by its name. If the file is renamed or replaced while it
is open, the log stays at the old name; whoever opens another file there applies the log to it and
destroys it. Therefore a writer notes which file its log belongs to (`lock.FileLock.note`), and a
log that belongs to another file is never applied.

A file is identified by its device and inode: the path is only looked up, as opening and closing
the file again would release the locks that SQLite has on it. A file system without inode numbers
(0) gives no claim. On Windows, an open project cannot be renamed or replaced.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import ProjectMoved
from workbench.base.i18n import _

MISSING, REPLACED = "missing", "replaced"
_ASIDE = ".of-another-file"  # the suffix of a log that is not applied
_NOTE = "glossbench"  # the first word of a note


@dataclass(frozen=True)
class FileId:
    device: int
    inode: int


@dataclass(frozen=True)
class Note:
    """A project file, and the log that was written for it."""

    file: FileId
    log: FileId

    def to_text(self) -> str:
        numbers = (self.file.device, self.file.inode, self.log.device, self.log.inode)
        return " ".join([_NOTE, *map(str, numbers)]) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Note | None:
        """None if the text is not a note."""
        first, *numbers = text.split() or [""]
        if first != _NOTE or len(numbers) != 4 or not all(each.isdecimal() for each in numbers):
            return None
        a, b, c, d = map(int, numbers)
        return cls(FileId(a, b), FileId(c, d))


def log_of(path: Path) -> Path:
    """The write-ahead log of a project file."""
    return path.with_name(f"{path.name}-wal")


def of(path: Path) -> FileId | None:
    """None if there is no file, or its file system has no inode numbers."""
    try:
        found = path.stat()
    except OSError:
        return None
    return FileId(found.st_dev, found.st_ino) if found.st_ino else None


def moved(path: Path, opened: FileId | None) -> str:
    """MISSING, REPLACED, or "" if the file at `path` is `opened` or nothing can be said."""
    if opened is None:
        return ""
    try:
        found = os.stat(path)  # noqa: PTH116, as it is called for every edit
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError:  # such as an unreachable drive; SQLite will report what it cannot write
        return ""
    same = (found.st_dev, found.st_ino) == (opened.device, opened.inode)
    return "" if same or not found.st_ino else REPLACED


def error(path: Path, how: str) -> ProjectMoved:
    """The error for a change to a project that is no longer at its path."""
    if how == MISSING:
        message = _("{path} was renamed, moved or deleted while it was open.")
    else:
        message = _("{path} was replaced by another file while it was open.")
    return ProjectMoved(
        message.format(path=path),
        hint=_(
            "Changes are no longer saved. Move the file back and try again, or save a copy of the "
            "project under another name."
        ),
    )


def is_foreign_log(path: Path, note: Note | None) -> bool:
    """Whether the log beside the project at `path` was written for another file.

    `note`: what the last writer noted. If the file and its log were copied together, the note is
    about neither.
    """
    if note is None:
        return False
    return of(log_of(path)) == note.log and of(path) not in (None, note.file)


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
