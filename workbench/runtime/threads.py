"""How many threads libraries compute with."""

from __future__ import annotations

import os


def limit() -> int:
    """The number in OMP_NUM_THREADS; 0 if it is not set or not a positive integer."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdecimal() else 0
