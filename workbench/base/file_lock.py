"""Operating-system locks on open files. The system releases them however a process ends.

A lock belongs to a descriptor: closing it releases the lock.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_OWNERS = 1 << 20  # bytes of a lock file on Windows that processes may lock, one each


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file without waiting.

    Any number of processes may hold a shared lock, an exclusive one excludes all others. Returns
    False if another process holds a lock that excludes this one, or the file system has no locks.
    """
    try:
        if sys.platform == "win32":  # no shared locks there: each owner locks a byte of its own
            os.lseek(descriptor, os.getpid() % _OWNERS if shared else 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1 if shared else _OWNERS)
        else:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`, not deleted or replaced."""
    if sys.platform == "win32":  # an open file cannot be deleted there
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
