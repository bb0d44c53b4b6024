"""How many threads libraries compute with."""

from __future__ import annotations

import os


def limit() -> int:
    """The number in OMP_NUM_THREADS; 0 if it is not set or not a positive integer."""
    value = os.environ.get("OMP_NUM_THREADS", "")
    return int(value) if value.isdecimal() else 0
