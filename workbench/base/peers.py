"""The processes of one job: which of them this is, in the variables that `torchrun` sets too."""

from __future__ import annotations

import os

NUMBER, COUNT = "RANK", "WORLD_SIZE"
RENDEZVOUS = "GLOSSBENCH_RENDEZVOUS"  # the file in which processes of one computer meet


def count() -> int:
    return int(os.environ.get(COUNT, 1))


def number() -> int:
    """0 for the first one, and for the only one."""
    return int(os.environ.get(NUMBER, 0)) if count() > 1 else 0
