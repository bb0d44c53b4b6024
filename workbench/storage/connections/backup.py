"""Copies of a project file, which may be open: made with SQLite's backup API, not by copying.

Backups are copies in `<stem>.versions`, named `<UTC time>.<reason>.<name>.glossbench`; the name is
optional. The file names hold all that is known about them, so that they can be moved and deleted.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.base.sizes import size
from workbench.base.watch import QUIET, Watch
from workbench.storage.connections import header, identity
from workbench.storage.connections.lock import FileLock

NAMED, UPGRADE, DELETE, RESTORE = "named", "before-upgrade", "before-delete", "before-restore"
RELABEL, REVERT, DAMAGED = "before-relabel", "before-revert", "damaged"
SILENT = 10.0  # seconds after which one whose process does not exist here is
ABANDONED = 3600.0  # seconds after which an unfinished copy is one that was killed
KEPT, KEPT_BYTES = 10, 4 << 30  # automatic backups: how many, and their size in bytes together
SPARE_BYTES = 64 << 20  # free disk space that a copy leaves
PAGES = 4_096  # per step; the copy can be cancelled between two steps
_FORMAT = "%Y%m%d-%H%M%S-%f"  # milliseconds keep the order of versions
_NAME = re.compile(r"(\d{8}-\d{6}-\d{3})\.([a-z-]+)(?: \d+)?(?:\.(.*))?")
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')  # in file names of at least one system
_LONGEST = 80  # characters of a name
_LOGS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Version:
    """A backup of a project.

    `reason`: NAMED, saved by the user under `name`; otherwise automatic. `at`: UTC, ISO 8601.
    """

    path: Path
    at: str
    reason: str
    name: str
    bytes: int

    @property
    def automatic(self) -> bool:
        return self.reason != NAMED

    @property
    def damaged(self) -> bool:
        """Whether it was kept as it was, because it could not be read."""
        return self.reason == DAMAGED


def copy(conn: sqlite3.Connection, target: Path, *, watch: Watch = QUIET) -> Path:
    """Copy the database of `conn` into a new file, atomically.

    Raises ProjectError if `target` exists or cannot be created.
    """
    if target.exists():
        raise _exists(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    delete_abandoned(target.parent)
    try:
        _require_space(conn, target)
        with closing(sqlite3.connect(draft, isolation_level=None)) as other:
            conn.backup(other, pages=PAGES, progress=_progress(watch))
            other.execute("pragma journal_mode = delete")
        publish(draft, target)
    except (OSError, sqlite3.Error) as error:
        raise ProjectError(
            _("{target} could not be written: {error}.", target=target, error=error),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    finally:
        with suppress(OSError):  # on a write-protected disk, where there is no draft
            draft.unlink(missing_ok=True)
    return target


def _exists(target: Path) -> ProjectError:
    message = _("{target} exists already.", target=target)
    return ProjectError(message, hint=_("Choose another name."))


def publish(draft: Path, target: Path) -> None:
    """Give a finished file its name, atomically. Raises ProjectError if `target` exists, and then
    leaves both as they are; OSError.
    """
    try:
        os.link(draft, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without hard links
        header.claim(target)
        os.replace(draft, target)
    else:
        draft.unlink()


def _require_space(conn: sqlite3.Connection, target: Path) -> None:
    """Raises ProjectError if the disk has no room for the copy."""
    (pages,), (page,) = (
        conn.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size")
    )
    needed = pages * page + SPARE_BYTES
    if shutil.disk_usage(target.parent).free < needed:
        raise ProjectError(
            _(
                "There is no room for a copy of the project in {folder}: it needs {size}.",
                folder=target.parent,
                size=size(needed),
            ),
            hint=_("Free disk space, for example by deleting old versions."),
        )


def _progress(watch: Watch) -> Callable[[int, int, int], None]:
    return lambda _status, left, total: watch.at(1 - left / max(total, 1))


# ---------------------------------------------------------------- versions


def path_for(project_file: Path, reason: str, name: str = "") -> Path:
    """An unused path for a backup made now; creates the folder.

    Characters that are not allowed in file names become "_". Raises ProjectError if the folder
    cannot be created.
    """
    folder = paths.versions_folder(project_file)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ProjectError(
            _("{folder} cannot be created: {error}.", folder=folder, error=error.strerror or error),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    parts = [datetime.now(UTC).strftime(_FORMAT)[:-3], reason]
    if name := _FORBIDDEN.sub("_", name).strip(" .")[:_LONGEST]:
        parts.append(name)
    return paths.free_name(folder, ".".join(parts), paths.PROJECT_SUFFIX)


def versions(project_file: Path) -> tuple[Version, ...]:
    """The backups of a project, newest first."""
    folder, saved = paths.versions_folder(project_file), []
    for path in folder.glob(f"*{paths.PROJECT_SUFFIX}"):
        parts = _NAME.fullmatch(path.name.removesuffix(paths.PROJECT_SUFFIX))
        if parts is None or path.name.startswith("."):
            continue
        at, reason, name = parts.groups()
        try:
            moment = datetime.strptime(at, _FORMAT).replace(tzinfo=UTC)
            size = path.stat().st_size
        except (ValueError, OSError):
            continue
        when = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        saved.append(Version(path, when, reason, name or "", size))
    return tuple(sorted(saved, key=lambda item: item.path.name, reverse=True))


def save(
    conn: sqlite3.Connection,
    project_file: Path,
    reason: str,
    name: str = "",
    *,
    watch: Watch = QUIET,
) -> Version:
    """Back up the project; then delete the oldest automatic backups beyond KEPT and KEPT_BYTES."""
    path = copy(conn, path_for(project_file, reason, name), watch=watch)
    _delete_old(project_file)
    return next(version for version in versions(project_file) if version.path == path)


def delete_abandoned(folder: Path) -> None:
    """Delete the drafts of projects whose process was killed; they contain text.

    A process of another computer, on a network drive, writes its draft all the time.
    """
    for draft in folder.glob(f".*{paths.PROJECT_SUFFIX}.*.part*"):
        pid = draft.name.rpartition(".part")[0].rpartition(".")[2]
        with suppress(OSError):
            age = time.time() - draft.stat().st_mtime
            if age > ABANDONED or (age > SILENT and pid.isdecimal() and not _is_running(int(pid))):
                draft.unlink()


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":  # there, a signal ends the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def _delete_old(project_file: Path) -> None:
    total = 0
    for number, version in enumerate(
        version for version in versions(project_file) if version.automatic
    ):
        total += version.bytes
        if number and (number >= KEPT or total > KEPT_BYTES):
            version.path.unlink(missing_ok=True)


def before_upgrade(conn: sqlite3.Connection, path: Path, version: int) -> Path:
    """The path of the backup that is made before an upgrade from a format version."""
    name = _("version {version}", version=version)
    return save(conn, path, UPGRADE, name).path


def restore(path: Path, source: Path, *, watch: Watch = QUIET) -> Path | None:
    """Replace the project file by a backup; returns the backup of what it was, None if it was gone.

    A damaged file is kept as it is, with its logs. Raises ProjectLocked if the project is open for
    writing, ProjectError if `source` is not a project or the disk is full; nothing changes then.
    """
    header.examine(source)
    lock = FileLock.take(path)
    draft = path.with_name(f".{path.name}.restored")
    try:
        draft.unlink(missing_ok=True)
        if identity.is_foreign_log(path, lock.noted()):
            identity.set_log_aside(path)
        with closing(_reader(source)) as conn:
            copy(conn, draft, watch=watch.part(0.0, 0.5))
        damaged = _put_aside(path, watch.part(0.5, 1.0)) if path.exists() else None
        for log in _LOGS:  # SQLite would apply them to the restored file
            path.with_name(path.name + log).unlink(missing_ok=True)
        os.replace(draft, path)
    except (OSError, sqlite3.Error) as error:
        raise ProjectError(
            _("{path} could not be restored: {error}.", path=path, error=error),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        lock.free()
    return damaged


def _reader(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _put_aside(path: Path, watch: Watch) -> Path:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as conn:
            return save(conn, path, RESTORE, watch=watch).path
    except (ProjectError, sqlite3.Error) as error:
        if type(error.__cause__ or error) is not sqlite3.DatabaseError:  # for example a full disk
            raise
    target = path_for(path, DAMAGED)  # it cannot be read
    for log in ("", *_LOGS):
        part = path.with_name(path.name + log)
        if part.exists():
            shutil.copy2(part, target.with_name(target.name + log))
    return target
