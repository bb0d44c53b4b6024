"""Scheduling of the queue: which jobs run at the same time, and with how many threads.

Jobs of one device run one after another, in the order they were added. On the CPU a short job (a
prediction) does not wait for a long one (a training): it runs in parallel, with part of the
threads.
On an accelerator, whose memory is shared, it waits, unless the user moves it to the front.
A background job on the CPU delays no other: they start beside it with all threads, and it runs at
a lower priority.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from workbench.jobs.spec import JobSpec

CPU = "cpu"
THREADS_DIVISOR = 4  # a job beside another gets this fraction (1/n) of the threads


class Placed(Protocol):
    """Properties of a job that affect scheduling. `first`: the user moved it to the front."""

    @property
    def spec(self) -> JobSpec: ...

    @property
    def first(self) -> bool: ...


Job = TypeVar("Job", bound=Placed)


def in_the_way(job: Job, running: Sequence[Job]) -> tuple[Job, ...]:
    """The running jobs that must end before this one starts."""
    same = tuple(
        item
        for item in running
        if job.spec.device
        and item.spec.device == job.spec.device
        and (_in_background(job) or not _in_background(item))
    )
    if job.spec.short and job.first:
        return ()
    if job.spec.short and job.spec.device == CPU:
        return tuple(job for job in same if job.spec.short)
    return same


def in_order(waiting: Sequence[Job]) -> tuple[Job, ...]:
    """Waiting jobs in the order they will start: those moved to the front, then as added."""
    return tuple(sorted(waiting, key=lambda job: not job.first))


def threads_beside(job: Placed, running: Sequence[Placed], cores: int) -> int:
    """Maximum number of threads for a job that starts now on the CPU; 0 for no limit if it runs
    alone.
    """
    beside = any(
        placed.spec.device == CPU and (_in_background(job) or not _in_background(placed))
        for placed in running
    )
    return max(1, cores // THREADS_DIVISOR) if job.spec.device == CPU and beside else 0


def _in_background(job: Placed) -> bool:
    return job.spec.background and job.spec.device == CPU
