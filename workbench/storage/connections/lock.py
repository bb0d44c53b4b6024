"""One writer per project file: an operating-system lock on `<name>.lock`.

The system releases it when the process ends, however it ends; a remaining lock file has no effect.
It contains a note which file was open and which log was written for it (`identity`).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from workbench.base import file_lock
from workbench.base.errors import ProjectError, ProjectLocked
from workbench.base.i18n import _
from workbench.storage.connections.identity import LogNote

_LONGEST = 200  # bytes of a note


def lock_path(project_file: Path) -> Path:
    return project_file.with_name(project_file.stem + ".lock")


class FileLock:
    """A lock that is held from `take` to `free`."""

    def __init__(self, descriptor: int, path: Path):
        self._descriptor, self._path = descriptor, path

    @classmethod
    def take(cls, project_file: Path) -> FileLock:
        """Raises ProjectLocked if another process holds it, ProjectError if the file cannot be
        created.

        Retries for 0.3 s, because `held` in another process takes the lock briefly.
        """
        path = lock_path(project_file)
        give_up = time.monotonic() + 0.3
        while True:
            descriptor = _open(path, project_file)
            if file_lock.try_lock(descriptor) and file_lock.is_at(descriptor, path):
                return cls(descriptor, path)
            os.close(descriptor)
            if time.monotonic() > give_up:
                raise ProjectLocked(
                    _(
                        "{project_file} is already open in another window or command.",
                        project_file=project_file,
                    ),
                    hint=_("Close it there, or open it read-only."),
                )
            time.sleep(0.02)

    def noted(self) -> LogNote | None:
        """The note of the writer before this one."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return LogNote.from_text(os.read(self._descriptor, _LONGEST).decode("ascii", "replace"))

    def note(self, note: LogNote) -> None:
        """Note which file is open, and its log; not in a file of another program."""
        if os.fstat(self._descriptor).st_size and self.noted() is None:
            return
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.ftruncate(self._descriptor, os.write(self._descriptor, note.to_text().encode()))

    def free(self, *, keep_note: bool = False) -> None:
        """Release the lock and delete the file, unless its note is still needed.

        It is deleted while still held, so that nobody can lock a file about to be deleted.
        """
        if self._descriptor < 0:
            return
        if not keep_note and self.noted() is not None:
            os.ftruncate(self._descriptor, 0)
        if sys.platform != "win32":
            _remove(self._path)
        os.close(self._descriptor)
        self._descriptor = -1
        if sys.platform == "win32":
            _remove(self._path)


def held(project_file: Path) -> bool:
    """Whether a writer has the project open."""
    try:
        descriptor = os.open(lock_path(project_file), os.O_RDONLY)
    except OSError:
        return False
    try:
        return not file_lock.try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def noted(project_file: Path) -> LogNote | None:
    """The note of whoever has the project open for writing, or had when its process ended."""
    try:
        with lock_path(project_file).open("rb") as file:
            return LogNote.from_text(file.read(_LONGEST).decode("ascii", "replace"))
    except OSError:
        return None


def _open(path: Path, project_file: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ProjectError(
            _(
                "{project_file} cannot be opened for writing: its lock file {name} cannot "
                "be created ({strerror}).",
                project_file=project_file,
                name=path.name,
                strerror=error.strerror,
            ),
            hint=_("Check the permissions of the folder, or open the project read-only."),
        ) from error


def _remove(path: Path) -> None:
    """By now our lock file is empty; one with content (poetry.lock) belongs to another program."""
    try:
        if path.stat().st_size == 0:
            path.unlink()
    except OSError:
        pass  # means nothing when left over
