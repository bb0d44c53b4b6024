"""Measurements that every benchmark prints, so that results from a busy machine can be interpreted.

CPU and wall seconds of a block, the load average, and a calibration loop: pure Python code whose
CPU seconds show the speed of the core during the benchmark. Targets use CPU seconds or a ratio
within one run.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measured:
    """Seconds of one block; `children` counts the CPU of child processes that ended within it."""

    cpu: float
    wall: float


def parsed(parser: argparse.ArgumentParser, **quick: Any) -> argparse.Namespace:
    """The arguments of a benchmark, with `--quick`: `quick` are then the defaults."""
    parser.add_argument(
        "--quick", action="store_true", help="seconds: shows that it runs, no figure to keep"
    )
    if "--quick" in sys.argv[1:]:
        parser.set_defaults(**quick)
    return parser.parse_args()


def arguments(text: str, quick: Mapping[str, Any], **defaults: Any) -> list[Any]:
    """The values of the optional arguments of a benchmark, in order; `--help` prints `text`.

    quick: the defaults with `--quick`.

    A list takes what is left; whole numbers may have commas between their thousands.
    """
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        if isinstance(default, list):
            parser.add_argument(name, nargs="*")
        else:
            kind = _whole if isinstance(default, int) else type(default)
            parser.add_argument(name, nargs="?", type=kind, default=default)
    values = parsed(parser, **quick)
    return [getattr(values, name) for name in defaults]


def _whole(number: str) -> int:
    return int(number.replace(",", ""))


def measure(block: Callable[[], object], *, children: bool = False) -> Measured:
    start, before = time.perf_counter(), _cpu(children)
    block()
    return Measured(_cpu(children) - before, time.perf_counter() - start)


def _cpu(children: bool) -> float:
    times = os.times()
    return (
        times.user + times.system + (times.children_user + times.children_system if children else 0)
    )


def calibration() -> float:
    """CPU seconds of two million additions: about 0.1 on a laptop core of 2024."""
    start = time.process_time()
    total = 0
    for number in range(2_000_000):
        total += number & 7
    return time.process_time() - start


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` of the sorted values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def rounds(
    function: Callable[[], float], other: Callable[[], float], count: int = 3
) -> tuple[float, list[tuple[float, float]]]:
    """Run A B A B …; returns the median of one/other per round, and the pairs."""
    pairs = [(function(), other()) for _ in range(count)]
    return statistics.median(a / b for a, b in pairs), pairs


def print_machine() -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(
        f"machine: {platform.machine()}, {os.cpu_count()} cores, load {load:.2f}, "
        f"calibration {calibration():.3f} CPU-s, Python {platform.python_version()}"
    )
    if sys.dont_write_bytecode:
        print(
            "each process compiles changed modules: unset PYTHONDONTWRITEBYTECODE to leave it out"
        )
