"""A queue for tests that runs its jobs in this process instead of a worker."""

from __future__ import annotations

import os
from dataclasses import dataclass

from workbench.jobs import events, worker
from workbench.jobs.queue import Job, Queue


@dataclass
class _Asked:
    """What `worker.run_target` looks at: whether the job was asked to end."""

    job: Job

    @property
    def ending(self) -> str:
        return self.job.ending


class InlineQueue(Queue):
    """Begins a job when the mailbox is drained, so listeners can be connected after `add`, as with a real one."""

    def _start(self, job: Job) -> None:
        job.status = "running"
        self.dispatch(lambda: self._run(job))

    def _run(self, job: Job) -> None:
        if job.over:
            return
        self._tell(job, events.Started(os.getpid(), "2000-01-01T00:00:00+00:00"))
        finished = worker.run_target(job.folder, lambda event: self._tell(job, event), _Asked(job))
        worker.write_result(job.folder, finished)
        self._over(job, finished)

    def _end(self, job: Job, how: str) -> None:
        if job.status == "running":
            job.ending = how
        else:
            super()._end(job, how)

    def close(self, *, keep: bool = True, timeout: float = 0.0) -> None:
        self._closed = True
        for job in (*self.waiting, *self.running):
            self._over(job, events.Finished("cancelled"))
