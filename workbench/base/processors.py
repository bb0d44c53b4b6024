"""Processors of this computer."""

from __future__ import annotations

import os
import platform
import sys
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def physical_cores() -> int:
    """Physical cores available to this process, at least 1; hyper-threads are not counted."""
    if hasattr(os, "sched_getaffinity"):
        cores = set()
        for cpu in os.sched_getaffinity(0):
            siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
            cores.add(siblings.read_text().strip() if siblings.is_file() else str(cpu))
        return max(1, len(cores))
    import psutil

    return max(1, psutil.cpu_count(logical=False) or os.cpu_count() or 1)


def may_have_accelerator() -> bool:
    """Whether this computer has a driver of one that torch could use. Does not import torch."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return (Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32/nvcuda.dll").exists()
    return any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")))
