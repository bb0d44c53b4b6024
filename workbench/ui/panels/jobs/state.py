"""State of the Jobs dock: running jobs, then queued ones, then finished ones, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.jobs.events import Output

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.ui.panel import PanelContext

ORDER = {"running": 0, "waiting": 1}


class JobsState(State):
    """`jobs` is the list in display order; `latest` is the job of the last event."""

    def __init__(self, context: PanelContext):
        super().__init__()
        self.queue = context.queue
        self.jobs: tuple[Job, ...] = ()
        self.latest: Job | None = None
        context.follow(None, self._on_event)
        self.listen(self.queue.forgotten, lambda _job: self._read())
        self._read()

    @property
    def ended(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.over)

    def clear(self) -> None:
        """Remove finished jobs from the list."""
        for job in self.ended:
            self.forget(job)

    def forget(self, job: Job) -> None:
        """Remove a finished job from the list."""
        self.queue.forget(job)

    def _on_event(self, job: Job, event: Event) -> None:
        self.latest, own = job, isinstance(event, Output)
        if not own:  # other jobs may now be waiting for a different one
            self._read()
        self.changed.emit(frozenset({"latest"} if own else {"latest", "jobs"}))

    def _read(self) -> None:
        jobs = tuple(
            sorted(
                self.queue.jobs,
                key=lambda job: (ORDER.get(job.status, 2), job.id if not job.over else -job.id),
            )
        )
        if jobs != self.jobs:
            self.update(jobs=jobs)
