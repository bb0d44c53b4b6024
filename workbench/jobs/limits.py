"""The worker's side of `Limits`: resource limits that a process sets for itself. POSIX only; on
other systems the parent monitors it.

Soft time limit: a timer that raises TimeLimitExceeded in Python code. Hard limit: the kernel ends
the process, even while native code holds the interpreter lock or after the parent has exited.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from workbench.base.errors import TimeLimitExceeded
from workbench.jobs.spec import Limits

HARD_SECONDS = 2  # of processor time after the soft limit; the kernel counts whole seconds


def restrict_memory(limits: Limits) -> None:
    """After this call, an allocation beyond the limit raises MemoryError.

    Has no effect on macOS.
    """
    if sys.platform == "win32":
        return
    import resource

    import psutil

    size = psutil.Process().memory_info().vms + limits.memory
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with suppress(ValueError, OSError):  # no core file when the process is terminated on purpose
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@contextmanager
def time_limit(limits: Limits | None) -> Iterator[None]:
    """Raises TimeLimitExceeded in the block after `limits.seconds` of processor time.

    Main thread only.
    """
    if limits is None or sys.platform == "win32":
        yield
        return
    import resource

    hard = math.ceil(time.process_time() + limits.seconds) + HARD_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (hard, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.signal(signal.SIGPROF, _raise)
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _raise(_number: int, _frame: object) -> None:
    raise TimeLimitExceeded
