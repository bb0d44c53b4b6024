"""An open project and a job queue, connected to each other, for one command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import Cancelled, JobFailed, ProjectLocked, WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.cli.output import ProgressLine
from workbench.operations.application import session as operations

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.project.project import Project

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


@contextmanager
def progress_line(title: str, *, quiet: bool = False) -> Iterator[Watch]:
    """The watch of an operation in this process, whose progress is shown on standard error."""
    line = ProgressLine(title, quiet=quiet)
    try:
        yield Watch(line.show)
    finally:
        line.end()


class CommandSession(operations.Session):
    """The session of a command: Ctrl+C cancels the job that it waits for."""

    def __init__(self, file: Path | None, *, read_only: bool = False):
        super().__init__(file, read_only=read_only)
        self.queue.while_waiting = self.cancelling

    @contextmanager
    def progress(
        self,
        title: str,
        *,
        what: str = "",
        quiet: bool = False,
        tell: Callable[[ProgressLine, Mapping[str, Any]], None] = lambda _line, _payload: None,
    ) -> Iterator[Watch]:
        """The watch of an operation, whose progress is shown on standard error.

        what: names the operation in the message that it was cancelled. tell: called with what its
        jobs report, before it is shown, for further lines.
        """
        line = ProgressLine(title, quiet=quiet)

        def on_event(payload: Mapping[str, Any]) -> None:
            tell(line, payload)
            line.on_event(payload)

        try:
            yield Watch(on_event=on_event)
        except Cancelled as error:
            if not what:
                raise
            raise cancelled(what) from error
        finally:
            line.end()

    @contextmanager
    def working(self, title: str, *, quiet: bool = False) -> Iterator[Watch]:
        """The watch of an operation in this process that Ctrl+C cancels, with its progress."""
        with progress_line(title, quiet=quiet) as watch, self.cancelling(watch):
            yield watch

    @contextmanager
    def cancelling(self, watch: Watch) -> Iterator[None]:
        """Let Ctrl+C cancel the watch; around an operation that does not wait for a job all the
        time.
        """
        if watch is QUIET:  # KeyboardInterrupt cancels the job
            yield
            return
        with interrupts(lambda _count: None, post=self.mailbox, at_once=watch.cancel):
            yield


@contextmanager
def session(file: Path | None, *, read_only: bool = False) -> Iterator[CommandSession]:
    """A project opened for writing (unless `read_only`) with its queue.
    Raises ProjectLocked if another process writes to it.
    """
    opened = CommandSession(file, read_only=read_only)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def writing_if_free(file: Path) -> Iterator[CommandSession]:
    """Open for writing if no other process does, otherwise read-only."""
    try:
        opened = CommandSession(file)
    except ProjectLocked:
        opened = CommandSession(file, read_only=True)
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


def cancelled(what: str) -> Cancelled:
    return Cancelled(_("{what} was cancelled. No result was kept.", what=what))


def failed(job: Job, what: str) -> WorkbenchError:
    """The error of a job that ended without a result."""
    if job.status == "cancelled":
        return cancelled(what)
    return JobFailed(
        job.message
        or _("{what} ended without a result ({status}).", what=what, status=term(job.status)),
        hint=job.hint,
    )


def seconds_in_words(seconds: float) -> str:
    if seconds < 90:
        return _("{n:.0f} s", n=seconds)
    return _("{n:.0f} min", n=seconds / 60) if seconds < 5400 else _("{n:.1f} h", n=seconds / 3600)


def numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, ...]:
    """The value of an option that is a list of numbers, each once."""
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise click.BadParameter(
            _("{text!r} is not a list of numbers such as 1,2,3.", text=text)
        ) from None


def key_values(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """The values of a repeated option KEY=VALUE, for click. Raises BadParameter."""
    settings = {}
    for value in values:
        key, sign, setting = value.partition("=")
        if not sign or not key:
            raise click.BadParameter(
                _("{value!r} is not of the form KEY=VALUE, for example epochs=3.", value=value)
            )
        settings[key.strip()] = setting
    return settings
