"""Folders for work in progress, which may hold a person's texts: private, and cleared away also after a kill.

They lie below the user's cache, named after the process that made them; the first one made in a process takes away those whose
process is gone. A folder for all users' temporary files would keep such texts for as long as it likes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from workbench.base import paths

OLD = (
    7 * 24 * 3600
)  # seconds after which a folder is left over where nothing tells whether its process lives
_swept: set[Path] = set()


def root() -> Path:
    return paths.cache_folder() / "scratch"


def make(kind: str) -> Path:
    """A new empty folder that only this user may enter; in the system's place for temporary files where the cache cannot be written."""
    try:
        root().mkdir(parents=True, exist_ok=True)
        sweep()
        return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-{kind}-", dir=root()))
    except OSError:
        return Path(tempfile.mkdtemp(prefix=f"{paths.APP}-{kind}-"))


def sweep(*, again: bool = False) -> None:
    """Take away what processes left that were killed; once in a process, unless `again`."""
    if root() in _swept and not again:
        return
    _swept.add(root())
    for one in root().iterdir():
        if _left_over(one):
            shutil.rmtree(one, ignore_errors=True)


def _left_over(folder: Path) -> bool:
    pid = folder.name.partition("-")[0]
    if not pid.isdigit():
        return False
    if sys.platform == "win32":  # asking a process there whether it lives would end it
        return time.time() - folder.stat().st_mtime > OLD
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
