"""What is known of a project file before SQLite opens it: its first 100 bytes, whether it can be
created and written, and how.

POSIX releases all locks that a process has on a file when it closes any descriptor of that file,
those of SQLite among them. So the file of an open project is not closed here until it is closed
there (`in_use`).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import ProjectDamaged, ProjectError
from workbench.base.i18n import _
from workbench.storage.schema import migrations

APPLICATION_ID = 0x476C6F73  # "Glos"
_MAGIC = b"SQLite format 3\0"
_Inode = tuple[int, int]  # device and number
_mutex = threading.Lock()
_open_projects: Counter[_Inode] = Counter()
_descriptors: dict[_Inode, int] = {}  # of open projects that were read
_CHOOSE = _("Choose another file, or create a new project and import your data into it.")


@dataclass(frozen=True)
class Header:
    """Offsets and meanings: https://www.sqlite.org/fileformat.html, section 1.3."""

    version: int  # user_version: the number of the schema
    changes: int  # counts changes of the file, with a write-ahead log only some of them


def examine(path: Path) -> Header:
    """Raises ProjectError if the file is missing or not a project. Read-only."""
    head = _first_bytes(path)
    if not head:
        raise ProjectError(
            _("{path} is empty (0 bytes), so it is not a Glossbench project.", path=path),
            hint=_CHOOSE,
        )
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise ProjectError(
            _("{path} is not a Glossbench project: the file header does not match.", path=path),
            hint=_CHOOSE,
        )
    (application,) = struct.unpack(">I", head[68:72])
    if application != APPLICATION_ID:
        raise ProjectError(
            _("{path} is an SQLite file of another program, not a Glossbench project.", path=path),
            hint=_CHOOSE,
        )
    (version,) = struct.unpack(">I", head[60:64])
    (changes,) = struct.unpack(">I", head[24:28])
    header = Header(version, changes)
    _check_length(path, head, header)
    return header


def is_project(path: Path) -> bool:
    """Whether an existing file has the header of a project, of any version, damaged or not."""
    head = _read(path)
    return head.startswith(_MAGIC) and head[68:72] == struct.pack(">I", APPLICATION_ID)


def in_use(path: Path) -> Callable[[], None]:
    """Note that SQLite is about to open a file. Call the result when it has closed it."""
    inode = _inode(path.stat())
    with _mutex:
        _open_projects[inode] += 1

    def closed() -> None:
        with _mutex:
            _open_projects[inode] -= 1
            if not _open_projects[inode] and inode in _descriptors:
                os.close(_descriptors.pop(inode))

    return closed


def _inode(status: os.stat_result) -> _Inode:
    return status.st_dev, status.st_ino


def _read(path: Path) -> bytes:
    with _mutex:
        descriptor = _descriptors.get(_inode(path.stat()))
        if descriptor is not None:
            os.lseek(descriptor, 0, os.SEEK_SET)
            return os.read(descriptor, 100)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        inode = _inode(os.fstat(descriptor))
        if inode[1] and _open_projects[inode]:
            _descriptors[inode] = descriptor
            return os.read(descriptor, 100)
        try:
            return os.read(descriptor, 100)
        finally:
            os.close(descriptor)


def _first_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ProjectError(
                _("{path} is a folder, not a project file.", path=path), hint=_CHOOSE
            )
        if path.exists() and not path.is_file():  # opening a pipe would block forever
            raise ProjectError(
                _("{path} is a pipe or a device, not a project file.", path=path),
                hint=_CHOOSE,
            )
        return _read(path)
    except FileNotFoundError:
        raise ProjectError(
            _("{path} does not exist.", path=path),
            hint=_(
                "Check the name and whether the file was moved or renamed, or create a new project."
            ),
        ) from None
    except OSError as error:
        raise ProjectError(
            _("{path} cannot be read ({strerror}).", path=path, strerror=error.strerror),
            hint=_("Check the permissions of the file and its folder."),
        ) from error


def _check_length(path: Path, head: bytes, header: Header) -> None:
    """Raise if the file is shorter than its page count, unless a write-ahead log has the rest."""
    page = struct.unpack(">H", head[16:18])[0]
    page = 65536 if page == 1 else page
    (pages,) = struct.unpack(">I", head[28:32])
    counted = head[24:28] == head[92:96]  # the count is only valid then
    size = path.stat().st_size
    if counted and size < pages * page and not path.with_name(f"{path.name}-wal").exists():
        raise ProjectDamaged(
            _(
                "{path} is damaged: its size is {size:,} B, but its header specifies {pages:,} "
                "B. It was probably truncated during copying.",
                path=path,
                size=size,
                pages=pages * page,
            ),
            hint=_(
                "Copy it again from its source, restore it from a backup, or write what can be "
                "read to a new file with `glossbench project recover`."
            ),
        )


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


def why_newer(head: Header) -> str:
    """That a file is of a newer version, "" if it is not."""
    if head.version <= migrations.CURRENT:
        return ""
    return _(
        "it was created by a newer version of Glossbench (project version {found}, "
        "supported version {own})",
        found=head.version,
        own=migrations.CURRENT,
    )


def why_read_only(path: Path, head: Header) -> str:
    if reason := why_newer(head):
        return reason
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
