"""Memory of this computer."""

from __future__ import annotations


def memory() -> tuple[int, int]:
    """Total and available memory in bytes."""
    import psutil

    found = psutil.virtual_memory()
    return found.total, found.available
