"""Memory and processors of this computer."""

from __future__ import annotations

import os


def memory() -> tuple[int, int]:
    """Total and available memory in bytes."""
    import psutil

    found = psutil.virtual_memory()
    return found.total, found.available


def cores() -> int:
    """Physical cores available to this process, at least 1."""
    import psutil

    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))
