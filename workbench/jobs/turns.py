"""Whose turn it is in the queue: which jobs run at the same time, and with how many threads.

Jobs of one device run one after the other, in the order of adding. On the CPU a short job (a
prediction) does not wait for a long one (a training): it runs beside it, with a part of the threads.
An accelerator has one memory, so there it waits, unless the user lets it go first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from workbench.jobs.spec import JobSpec

CPU = "cpu"
PART = 4  # one of so many threads is for a job beside another


class Placed(Protocol):
    """What a job has to do with its turn. `first`: the user has let it go first."""

    @property
    def spec(self) -> JobSpec: ...

    @property
    def first(self) -> bool: ...


Job = TypeVar("Job", bound=Placed)


def in_the_way(job: Job, running: Sequence[Job]) -> tuple[Job, ...]:
    """Those of the running jobs whose end this one waits for."""
    same = tuple(one for one in running if job.spec.device and one.spec.device == job.spec.device)
    if job.spec.short and job.first:
        return ()
    if job.spec.short and job.spec.device == CPU:
        return tuple(one for one in same if one.spec.short)
    return same


def in_order(waiting: Sequence[Job]) -> tuple[Job, ...]:
    """Waiting jobs, the next one first: those that were let go first, then as they were added."""
    return tuple(sorted(waiting, key=lambda job: not job.first))


def threads_beside(job: Placed, running: Sequence[Placed], cores: int) -> int:
    """The most threads for a job that starts now on the CPU; 0 for no limit, where it is alone there."""
    beside = any(one.spec.device == CPU for one in running)
    return max(1, cores // PART) if job.spec.device == CPU and beside else 0
