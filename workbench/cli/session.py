"""An open project, a queue of jobs and the wiring between them, for one command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import Cancelled, JobFailed, ProjectLocked, WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.wire import Wiring
    from workbench.project.project import Project

PROJECT = click.Path(path_type=Path)
project_argument = click.argument("file", type=PROJECT, metavar="FILE")


@contextmanager
def reading(file: Path) -> Iterator[Project]:
    """A project open for reading: works beside a window or a command that writes."""
    from workbench.project.project import Project

    project = Project.open(file, read_only=True)
    try:
        yield project
    finally:
        project.close()


class Session:
    """`project` (None where a command needs none), `queue`, and `wait`."""

    def __init__(self, file: Path | None, *, read_only: bool = False):
        from workbench.jobs.dispatch import Mailbox
        from workbench.jobs.queue import Queue

        self.mailbox = Mailbox()
        self.project: Project | None = None
        self.wiring: Wiring | None = None
        if file is not None:
            self.project = _open(file, read_only, self.mailbox)
        self.queue: Queue = Queue(dispatch=self.mailbox)
        if self.project is not None:
            from workbench.operations.wire import wire

            self.wiring = wire(self.project, self.queue)

    def close(self) -> None:
        self.queue.close()
        if self.wiring is not None:
            self.wiring.close()
        if self.project is not None:
            self.project.close()

    def ask(self, start: Callable, *, heard: Callable | None = None) -> Any:
        """Run `start(then)`, which returns a job or None, to its end; returns what `then` was given or raises its error."""
        found: list = []
        job = start(lambda value, error: found.append((value, error)))
        if job is not None:
            self.wait(job, heard)
        if not found:
            raise JobFailed(job.message or _("The job ended without an answer."), hint=job.hint)
        value, error = found[0]
        if error is not None:
            raise error
        return value

    def wait(self, job: Job, heard: Callable | None = None) -> None:
        """Until the job has ended; Ctrl+C cancels it. `heard(payload, job)` gets what the job yields."""
        from workbench.jobs.events import Output

        drop = job.changed.connect(
            lambda event: heard(event.payload, job) if heard and isinstance(event, Output) else None
        )
        try:
            with interrupts(lambda _count: job.cancel()):
                self.queue.wait(job)
        finally:
            drop()


def _open(file: Path, read_only: bool, mailbox) -> Project:
    from workbench.project.project import Project

    return Project.open(file, read_only=read_only, dispatch=mailbox)


@contextmanager
def session(file: Path | None, *, read_only: bool = False) -> Iterator[Session]:
    """A project open for writing (unless `read_only`) with its queue; raises ProjectLocked if another process writes to it."""
    opened = Session(file, read_only=read_only)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def writing_if_free(file: Path) -> Iterator[Session]:
    """Open for writing where nobody else does, otherwise for reading only."""
    try:
        opened = Session(file)
    except ProjectLocked:
        opened = Session(file, read_only=True)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def interrupts(heard: Callable[[int], None]) -> Iterator[None]:
    """Call `heard(count)` at each Ctrl+C (or terminate signal) instead of ending the program; raises nothing itself."""
    counts = [0]

    def on_signal(_number, _frame) -> None:
        counts[0] += 1
        heard(counts[0])

    old = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def failed(job: Job, what: str) -> WorkbenchError:
    """The error of a job that ended without a result."""
    if job.status == "cancelled":
        return Cancelled(_("{what} was cancelled; nothing of it was kept.").format(what=what))
    return JobFailed(
        job.message
        or _("{what} ended without a result ({status}).").format(
            what=what, status=term(job.status)
        ),
        hint=job.hint,
    )


def seconds_in_words(seconds: float) -> str:
    if seconds < 90:
        return _("{n:.0f} s").format(n=seconds)
    return (
        _("{n:.0f} min").format(n=seconds / 60)
        if seconds < 5400
        else _("{n:.1f} h").format(n=seconds / 3600)
    )
