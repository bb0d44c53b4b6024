"""An open project and a job queue, connected to each other, for one command."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base import settings
from workbench.base.errors import Cancelled, JobFailed, ProjectError, ProjectLocked, WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.jobs.dispatch import Mailbox
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.wire import Wiring
    from workbench.project.project import Project

    Heard = Callable[[Mapping[str, Any], Job], None]

PROJECT = click.Path(path_type=Path)
project_argument = click.argument("file", type=PROJECT, metavar="FILE")
layer_option = click.option(
    "--layer",
    "layer_name",
    default="",
    metavar="NAME",
    help=_("Name of the layer. [default: the only layer that a model can learn]"),
)


@contextmanager
def reading(file: Path) -> Iterator[Project]:
    """A project opened for reading: works while a window or a command writes to it."""
    from workbench.project.project import Project

    project = Project.open(file, read_only=True)
    try:
        yield project
    finally:
        project.close()


class Session:
    """`project` (if a command needs one), `queue`, and `wait`."""

    def __init__(self, file: Path | None, *, read_only: bool = False):
        from workbench.jobs.dispatch import Mailbox
        from workbench.jobs.queue import Queue
        from workbench.operations import precision

        self.mailbox = Mailbox()
        self._project: Project | None = None
        self.wiring: Wiring | None = None
        if file is not None:
            self._project = _open(file, read_only, self.mailbox)
        self.queue: Queue = Queue(dispatch=self.mailbox)
        precision.remember(self.queue, settings.load)
        if self._project is not None:
            from workbench.operations.wire import wire

            self.wiring = wire(self._project, self.queue)

    @property
    def project(self) -> Project:
        """Raises RuntimeError for a session without a project."""
        if self._project is None:
            raise RuntimeError("the session has no project")
        return self._project

    def close(self) -> None:
        self.queue.close()
        if self.wiring is not None:
            self.wiring.close()
        if self._project is not None:
            self._project.close()

    def ask(
        self,
        start: Callable[[Callable[[Any, Exception | None], None]], Job | None],
        *,
        heard: Heard | None = None,
    ) -> Any:
        """Run `start(then)`, which returns a job or None, until it ends.

        Returns the argument of `then` or raises its error.
        """
        found: list[tuple[Any, Exception | None]] = []
        job = start(lambda value, error: found.append((value, error)))
        if job is not None:
            self.wait(job, heard)
        if not found:
            message, hint = (job.message, job.hint) if job is not None else ("", "")
            raise JobFailed(message or _("The job ended without a result."), hint=hint)
        value, error = found[0]
        if error is not None:
            raise error
        return value

    def wait(self, job: Job, heard: Heard | None = None, *, watch: Watch | None = None) -> None:
        """Wait until the job has ended. `heard(payload, job)` is called with each object it yields.

        Ctrl+C cancels the job and `watch`, which follows work of this thread for the job.
        """
        from workbench.jobs.events import Output

        drop = job.changed.connect(
            lambda event: heard(event.payload, job) if heard and isinstance(event, Output) else None
        )
        try:
            with interrupts(
                lambda _count: job.cancel(),
                post=self.mailbox,
                at_once=watch.cancel if watch is not None else None,
            ):
                self.queue.wait(job)
        finally:
            drop()


def _open(file: Path, read_only: bool, mailbox: Mailbox) -> Project:
    from workbench.project.project import Project

    if not file.exists():
        raise ProjectError(
            _("{path} does not exist.").format(path=file),
            hint=_("Check the name, or create it with: glossbench project new {path}").format(
                path=shlex.quote(str(file))
            ),
        )
    return Project.open(file, read_only=read_only, dispatch=mailbox)


@contextmanager
def session(file: Path | None, *, read_only: bool = False) -> Iterator[Session]:
    """A project opened for writing (unless `read_only`) with its queue.
    Raises ProjectLocked if another process writes to it.
    """
    opened = Session(file, read_only=read_only)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def writing_if_free(file: Path) -> Iterator[Session]:
    """Open for writing if no other process does, otherwise read-only."""
    try:
        opened = Session(file)
    except ProjectLocked:
        opened = Session(file, read_only=True)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def interrupts(
    heard: Callable[[int], None],
    *,
    post: Callable[[Callable[[], None]], None],
    at_once: Callable[[], None] | None = None,
) -> Iterator[None]:
    """Call `heard(count)` for each Ctrl+C or terminate signal instead of ending the program.

    A signal can arrive while this thread holds any lock, so the handler only posts the call: `post`
    is a Mailbox, whose queue is reentrant, and the loop that waits for the job makes the call.
    `at_once()` is called in the handler itself and may only set a flag.
    """
    counts, active = [0], [True]

    def on_signal(_number: int, _frame: object) -> None:
        counts[0] += 1
        count = counts[0]
        post(lambda: heard(count) if active[0] else None)
        if at_once is not None:
            at_once()

    old = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        active[0] = False
        for number, handler in old.items():
            signal.signal(number, handler)


def failed(job: Job, what: str) -> WorkbenchError:
    """The error of a job that ended without a result."""
    if job.status == "cancelled":
        return Cancelled(_("{what} was cancelled. No result was kept.").format(what=what))
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


def key_values(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """The values of a repeated option KEY=VALUE, for click. Raises BadParameter."""
    found = {}
    for value in values:
        key, sign, setting = value.partition("=")
        if not sign or not key:
            raise click.BadParameter(
                _("{value!r} is not of the form KEY=VALUE, for example epochs=3.").format(
                    value=value
                )
            )
        found[key.strip()] = setting
    return found
