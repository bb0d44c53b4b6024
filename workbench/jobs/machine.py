"""Memory of this computer."""

from __future__ import annotations


def memory() -> tuple[int, int]:
    """Total and available memory in bytes."""
    import psutil

    state = psutil.virtual_memory()
    return state.total, state.available
