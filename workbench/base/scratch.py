"""Private temporary folders for user data, which are deleted when their processes end.

They are in the user's cache: the system's temporary folder is shared by all users and may keep such
texts for any length of time. Each folder has a lock file beside it, on which the process that made
the folder and the worker that uses it hold a shared lock. `sweep`, which every process of the
application calls at start, deletes the folders whose lock nobody holds, including those of killed
processes. (A process id is not sufficient: it may be reused, or belong to another computer.)
"""

from __future__ import annotations

import atexit
import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.base import file_lock, paths

LOCK = ".lock"
OLD = 24 * 3600  # seconds
_held: dict[
    Path, int
] = {}  # folder → descriptor of its lock, for every folder that this process uses
_swept: set[Path] = set()


def root() -> Path:
    return paths.cache_folder() / "scratch"


def make(kind: str) -> Path:
    """A new empty folder that only this user may enter.

    If the cache is not writable, it is created in the system's temporary folder.
    """
    sweep()
    try:
        return _make(root(), kind)
    except OSError:
        return _make(_fallback_root(), kind)


def _make(root: Path, kind: str) -> Path:
    """Lock before creating the folder, so that no process can consider it abandoned."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_private(root):
        raise _error(errno.EPERM, root)
    folder, descriptor = _new_lock(root, kind)
    _held[folder] = descriptor
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        remove(folder)
        raise
    return folder


def _new_lock(root: Path, kind: str) -> tuple[Path, int]:
    """A new name and its lock. Another process may sweep the lock file before it is locked."""
    for _attempt in range(5):
        folder = root / f"{kind}-{os.urandom(8).hex()}"
        try:
            return folder, _lock(folder, os.O_CREAT | os.O_EXCL)
        except OSError:
            with suppress(OSError):
                _lock_file(folder).unlink()
    raise _error(errno.ENOLCK, root)


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))


def _is_private(root: Path) -> bool:
    """Whether it is a real folder of this user: others may create links in the temporary folder."""
    if os.name != "posix" or root != _fallback_root():
        return root.is_dir()
    status = root.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _is_ours(folder: Path) -> bool:
    """Whether its name and location are those of a folder from `make`."""
    kind, _dash, token = folder.name.rpartition("-")
    named = bool(kind) and len(token) == 16 and set(token) <= set("0123456789abcdef")
    return named and folder.parent in (root(), _fallback_root())


def _lock(folder: Path, flags: int = 0) -> int:
    """Hold the shared lock of a folder. Raises OSError if that is not possible."""
    path = _lock_file(folder)
    descriptor = os.open(path, os.O_RDWR | flags, 0o600)
    if not (file_lock.try_lock(descriptor, shared=True) and file_lock.is_at(descriptor, path)):
        os.close(descriptor)
        raise _error(errno.ENOLCK, path)
    return descriptor


def _lock_file(folder: Path) -> Path:
    return folder.with_name(folder.name + LOCK)


def _fallback_root() -> Path:
    """The system's temporary folder, without `import tempfile`, which takes 10 ms."""
    places = [value for name in ("TMPDIR", "TEMP", "TMP") if (value := os.environ.get(name))]
    user = os.getuid() if os.name == "posix" else "user"
    return Path(places[0] if places else "/tmp") / f"{paths.APP}-{user}"


# ---------------------------------------------------------------- removal


def join(folder: Path) -> bool:
    """Use a folder that another process created, until `remove` or exit; called by workers.

    False if it is not a folder of `make`.
    """
    if not _is_ours(folder):
        return False
    if folder not in _held:
        try:
            _held[folder] = _lock(folder)
        except OSError:
            return False
    return True


def remove(folder: Path) -> None:
    """Delete a folder that this process made or joined; any other path is left alone."""
    descriptor = _held.pop(folder, None)
    if descriptor is not None:
        _delete(folder, descriptor)


@contextmanager
def folder(kind: str) -> Iterator[Path]:
    """A new folder as of `make`, removed at the end."""
    path = make(kind)
    try:
        yield path
    finally:
        remove(path)


def _delete(folder: Path, descriptor: int) -> None:
    """Closes the lock. If a file cannot be deleted, the lock file stays for a later `sweep`."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    if os.name == "posix":
        _unlink_if_gone(folder)
        os.close(descriptor)
    else:  # an open file cannot be deleted there
        os.close(descriptor)
        _unlink_if_gone(folder)


def _unlink_if_gone(folder: Path) -> None:
    if not folder.exists():
        with suppress(OSError):
            _lock_file(folder).unlink()


def sweep(*, again: bool = False) -> None:
    """Delete the folders that no living process uses. Once per process, unless `again`."""
    for place in (root(), _fallback_root()):
        if place not in _swept or again:
            _swept.add(place)
            with suppress(OSError):  # it is not there, or cannot be read
                if _is_private(place):
                    _sweep(place)


def _sweep(place: Path) -> None:
    names = {path.name for path in place.iterdir()}
    for name in names:
        folder = place / name.removesuffix(LOCK)
        if name.endswith(LOCK) and _is_ours(folder):
            _sweep_one(folder)
        elif name + LOCK not in names:
            _sweep_old(folder)


def _sweep_one(folder: Path) -> None:
    if folder in _held:
        return
    try:
        descriptor = os.open(_lock_file(folder), os.O_RDWR)
    except OSError:
        return
    if file_lock.try_lock(descriptor) and file_lock.is_at(descriptor, _lock_file(folder)):
        _delete(folder, descriptor)
    else:
        os.close(descriptor)


def _sweep_old(folder: Path) -> None:
    """Delete a folder without a lock file: earlier versions named folders after a process id."""
    import shutil

    with suppress(OSError):
        if folder.name.partition("-")[0].isdigit() and time.time() - folder.stat().st_mtime > OLD:
            shutil.rmtree(folder, ignore_errors=True)


@atexit.register
def _leave() -> None:
    """Delete the folders at a regular exit. A worker that still uses a folder deletes it itself."""
    for folder in tuple(_held):
        os.close(_held.pop(folder))
        _sweep_one(folder)
