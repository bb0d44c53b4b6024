"""A queue and a host for tests that work in this process instead of a worker."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from workbench.base import scratch
from workbench.base.events import Signal
from workbench.base.watch import QUIET
from workbench.jobs import events, host, serving, target, worker
from workbench.jobs.queue import Job, Queue


@dataclass
class _Asked:
    """What `worker.run_target` looks at: whether the job was asked to end."""

    job: Job

    @property
    def ending(self) -> str:
        return self.job.ending


class InlineQueue(Queue):
    """Starts a job when the mailbox is drained, so listeners can be connected after `add`."""

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


class InlineHost:
    """Answers at once, its messages as text and its arrays as files, as between processes."""

    status, message, hint = "ready", "", ""

    def __init__(self, spec, *, read=None, **_named):
        self.changed, self._read = Signal("host.changed"), read
        self._spec, self._answer = spec, None
        self._folder = scratch.make("host")

    def start(self):
        """It is loaded when it is asked."""

    def ask_now(self, request, timeout=0.0, watch=QUIET, kind=""):
        if self._answer is None:
            self._answer = target.resolve(self._spec.target)(self._spec.params)
        result = self._answer(json.loads(json.dumps(request)))
        plain = serving._with_arrays_in_files(result, self._folder, "1")
        result = host._with_arrays(json.loads(json.dumps(plain)), self._folder)
        return self._read(result) if self._read is not None else result

    def ask(self, kind, request, done):
        done(self.ask_now(request), None)

    def close(self, *, wait=True):
        scratch.remove(self._folder)
