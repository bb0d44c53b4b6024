"""A file that tells when it is opened, whoever opens it: Python, Qt or a library below."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

IN_OPEN = 0x20  # of <sys/inotify.h>
EVENT_BYTES = 16  # of an event of a watched file: struct inotify_event without a name


class Canary:
    """Counts how often `path` has been opened. Linux only: it listens to the kernel (inotify)."""

    def __init__(self, path: Path):
        self.path = path
        libc = ctypes.CDLL(None, use_errno=True)
        self._events = libc.inotify_init1(os.O_NONBLOCK)
        if libc.inotify_add_watch(self._events, os.fsencode(path), IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), f"{path} cannot be watched")

    def opened(self) -> int:
        """The number of opens since the last call."""
        try:
            return len(os.read(self._events, 1 << 16)) // EVENT_BYTES
        except BlockingIOError:
            return 0

    def close(self) -> None:
        os.close(self._events)
