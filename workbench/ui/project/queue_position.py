"""What a job of a page is waiting for in the queue. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.events import State

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.ui.panel import PanelContext


class QueuePosition(State):
    """Follows the job for which `matches(job)` is true, until the panel is closed.

    `behind` is the name of the job it waits for, "" if it does not wait. `can_run_first` says
    whether `run_first` would start it earlier.
    """

    def __init__(self, context: PanelContext, matches: Callable[[Any], bool]):
        super().__init__()
        self._queue, self._matches = context.queue, matches
        self.job: Any = None
        self.behind, self.can_run_first = "", False
        self._stop = context.follow(None, lambda _job, _event: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Read the queue again: the matching job may have changed."""
        jobs = (job for job in self._queue.jobs if job.status == "waiting" and self._matches(job))
        job = next(jobs, None)
        behind = getattr(job, "behind", "")
        first = bool(getattr(job, "can_run_first", False))
        if (job, behind, first) != (self.job, self.behind, self.can_run_first):
            self.update(job=job, behind=behind, can_run_first=first)

    def close(self) -> None:
        self._stop()
        super().close()

    def run_first(self) -> None:
        if self.job is not None:
            self.job.run_first()


def of_project(
    project: Any, purpose: str, run_id: Callable[[], int | None] = lambda: None
) -> Callable[[Job], bool]:
    """Whether a job belongs to this project and purpose; with `run_id`, to that run."""

    def matches(job: Any) -> bool:
        about = job.spec.params.get("run") or {}
        id = run_id()
        same = about.get("project") == project.uid and about.get("purpose") == purpose
        return same and id in (None, about.get("id"))

    return matches
