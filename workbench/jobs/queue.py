"""The queue of jobs: one a device at a time, in order; a crash ends one job and the next begins.

Everything here happens on the main thread; what a child says comes through `dispatch`.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeGuard, cast

from workbench.base import scratch
from workbench.base.errors import JobFailed
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.jobs import events, machine, steps, turns
from workbench.jobs.channel import OFTEN
from workbench.jobs.dispatch import Mailbox
from workbench.jobs.process import Child, Grace, last_lines
from workbench.jobs.spare import Spare, Warm
from workbench.jobs.spec import ENDINGS, JobSpec

Dispatch = Callable[[Callable[[], None]], None]


class Job:
    """One unit of background work. `status` is waiting, running or one of `spec.ENDINGS`.

    `changed(event)` is emitted on the main thread, after the fields below are up to date.
    `events` holds every step: steps in a row are one event, and of ticks and progress in a row
    only the last is kept, so a run of 100,000 steps takes a few megabytes.
    """

    def __init__(self, queue: Queue, number: int, spec: JobSpec, temporary: bool):
        self.id, self.spec = number, spec
        self.status = "waiting"
        self.ending = ""  # what was asked for: "", stop, cancel
        self.first = False  # the user has let it go first
        self.behind = ""  # the name of the job that it waits for
        self.events: list[events.Event] = []
        self.progress: Mapping = {}  # fields of the latest step, tick and progress
        self.result: Mapping = {}
        self.message = self.hint = self.details = ""
        self.started = self.ended = 0.0  # time.monotonic()
        self.changed = Signal(f"job {number}")
        self._queue = queue
        self._child: Child | None = None
        self._finished: events.Finished | None = (
            None  # its last word, told once its process has gone
        )
        self._temporary = temporary

    @property
    def over(self) -> bool:
        return self.status in ENDINGS

    @property
    def fraction(self) -> float | None:
        """Done of 1; None while it is not known."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return min(1.0, step / total) if isinstance(step, int | float) and total else None

    @property
    def folder(self) -> Path:
        return Path(self.spec.folder)

    @property
    def pid(self) -> int | None:
        """Of its process while it runs."""
        return self._child.pid if self._child else None

    @property
    def log_file(self) -> Path:
        return self.folder / "log.txt"

    def stop(self) -> None:
        """Keep the best and end; a job that still waits is cancelled."""
        self._queue._end(self, "stop")

    def cancel(self) -> None:
        """End and keep nothing."""
        self._queue._end(self, "cancel")

    def run_first(self) -> None:
        """Before the others that wait; a short job begins at once, beside what runs on its device."""
        self._queue.run_first(self)

    @property
    def can_run_first(self) -> bool:
        """Whether that would bring its turn forward."""
        return self._queue.can_run_first(self)

    def forget(self) -> None:
        """Take an ended job off the list."""
        self._queue.forget(self)

    def _take_in(self, event: events.Event) -> None:
        if not _is_frequent(event):
            self.events.append(event)
            return
        payload = {name: value for name, value in event.payload.items() if name != "earlier"}
        self.progress = {**self.progress, **payload}  # a tick has no total: the last one stands
        if self.events and _is_frequent(self.events[-1], "tick", "progress"):
            self.events.pop()
        last = self.events[-1] if self.events else None
        if not _is_frequent(event, "step"):
            self.events.append(event)
        elif _is_frequent(last, "step") and steps.same_losses(last.payload, event.payload):
            steps.extend(cast(dict, last.payload), event.payload)  # made by `copy` below
        else:
            self.events.append(events.Output(steps.copy(event.payload)))


class Queue:
    """Jobs in the order of adding. `changed(job, event)` is emitted on the main thread for each event of each job.

    `dispatch(fn)` runs `fn` on the main thread; without one a Mailbox is made, which `wait` drains.
    """

    def __init__(
        self,
        *,
        dispatch: Dispatch | None = None,
        warm: Warm | None = None,
        grace: Grace | None = None,
    ):
        self.dispatch: Dispatch = dispatch or Mailbox()
        self.grace = grace or Grace()
        self.jobs: tuple[Job, ...] = ()
        self.changed = Signal("queue.changed")
        self.forgotten = Signal("queue.forgotten")  # (job)
        self.reported = Signal("queue.reported")  # (dict): what a spare worker says of this machine
        self.spare = (
            Spare(warm, on_report=lambda report: self.dispatch(lambda: self.reported.emit(report)))
            if warm
            else None
        )
        self._numbers = itertools.count(1)
        self._closed = False

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.status == "running")

    @property
    def waiting(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.status == "waiting")

    def add(self, spec: JobSpec) -> Job:
        """Write `job.json` into its folder (a temporary one if it names none) and start it once its device is free.

        A temporary folder goes when the last event has been told. Raises JobFailed if the folder cannot be written.
        """
        if self._closed:
            raise JobFailed(_("The application is closing; no new work is begun."))
        temporary = not spec.folder
        if temporary:
            spec = replace(spec, folder=str(scratch.make("job")))
        try:
            spec.write(Path(spec.folder) / "job.json")
            (Path(spec.folder) / "result.json").unlink(missing_ok=True)
        except OSError as error:
            raise JobFailed(
                _("{folder} cannot be written: {error}.").format(
                    folder=spec.folder, error=error.strerror or error
                ),
                hint=_("Is the disk full or read-only?"),
            ) from error
        job = Job(self, next(self._numbers), spec, temporary)
        self.jobs = (*self.jobs, job)
        job.behind = self._behind(job)
        self._tell(job, events.Queued(job.behind))
        self._start_waiting()
        return job

    def run_first(self, job: Job) -> None:
        """Let a waiting job go before the others; see `Job.run_first`."""
        if self.can_run_first(job):
            for other in self.waiting:
                other.first = other is job or (other.first and other.spec.device != job.spec.device)
            self._start_waiting()
            if job.status == "waiting":  # still, but its place is another
                self._tell(job, events.Queued(job.behind))

    def can_run_first(self, job: Job) -> bool:
        if job.status != "waiting":
            return False
        ahead = self._ahead(job)
        return bool(ahead) or (job.spec.short and not job.first)

    def forget(self, job: Job) -> None:
        """Take an ended job off the list."""
        if job.over:
            self.jobs = tuple(one for one in self.jobs if one is not job)
            self.forgotten.emit(job)

    def wait(self, job: Job, timeout: float | None = None) -> bool:
        """Headless: run what the children post until the job is over; False if `timeout` seconds pass first."""
        if not isinstance(self.dispatch, Mailbox):
            raise RuntimeError(
                "wait() is for a queue without an event loop; listen to job.changed instead"
            )
        return self.dispatch.wait(lambda: job.over, timeout)

    def close(self, *, keep: bool = True, timeout: float = 30.0) -> None:
        """End everything: what waits is cancelled, what runs keeps its best (or nothing, with keep=False).

        After `timeout` seconds in all, children are killed. Endings are told before this returns.
        """
        self._closed = True
        for job in self.waiting:
            self._end(job, "cancel")
        running = self.running
        for job in running:
            self._end(job, "stop" if keep else "cancel")
        if self.spare:
            self.spare.close()
        end = time.monotonic() + timeout
        for job in running:
            if (child := job._child) and not child.wait(max(0.0, end - time.monotonic())):
                child.kill()
                child.wait(5)
            self._over(job, job._finished or _without_result(job, None))

    # ------------------------------------------------------------ inside

    def _start_waiting(self) -> None:
        for job in turns.in_order(self.waiting):
            if not self._closed and not turns.in_the_way(job, self.running):
                job.behind = ""
                self._limit_threads(job)
                self._start(job)
        for job in self.waiting:  # what they wait for may have changed
            behind = self._behind(job)
            if behind != job.behind:
                job.behind = behind
                self._tell(job, events.Queued(behind))

    def _ahead(self, job: Job) -> tuple[Job, ...]:
        """Jobs of the same device that wait, and come before this one."""
        order = turns.in_order(self.waiting)
        before = order[: order.index(job)]
        return tuple(one for one in before if one.spec.device == job.spec.device)

    def _behind(self, job: Job) -> str:
        """The name of what a waiting job waits for: what runs on its device, else the next in turn."""
        found = (*turns.in_the_way(job, self.running), *self._ahead(job)[-1:])
        return (found[0].spec.name or found[0].spec.title) if found else ""

    def _limit_threads(self, job: Job) -> None:
        """A job beside another one on the CPU gets a part of the threads, as its file says from now on."""
        threads = turns.threads_beside(job, self.running, machine.cores())
        if threads:
            job.spec = replace(job.spec, threads=threads)
            with suppress(OSError):  # then it has all of them
                job.spec.write(job.folder / "job.json")

    def _start(self, job: Job) -> None:
        job.status, job.started = "running", time.monotonic()
        heard, ended = partial(self._heard, job), partial(self._ended, job)
        child = (
            self.spare.take(job.folder, heard, ended, self.grace)
            if self.spare and not job.spec.env
            else None
        )
        if child is None:
            arguments = [str(job.folder.absolute())]
            child = Child(
                arguments,
                on_message=heard,
                on_end=ended,
                log=job.log_file,
                env=job.spec.env,
                grace=self.grace,
            )
        job._child = child  # before it starts: its threads look at it
        child.start()

    def _end(self, job: Job, how: str) -> None:
        if job.status == "waiting":
            job.ending = "cancel"
            _record(job, events.Finished("cancelled"))
            self._over(job, events.Finished("cancelled"))
        elif job.status == "running" and job.ending != "cancel":
            job.ending = how
            if child := job._child:
                child.stop() if how == "stop" else child.cancel()

    def _heard(self, job: Job, message: dict) -> None:  # on a thread
        try:
            event = events.from_json(message)
        except (KeyError, TypeError):
            return
        if isinstance(event, events.Finished):
            job._finished = event
            if child := job._child:
                child.expect_end()
        else:
            self.dispatch(lambda: self._tell(job, event))

    def _ended(self, job: Job, code: int | None) -> None:  # on a thread
        finished = job._finished
        if finished is None:
            finished = job._finished = _without_result(job, code)
            _record(job, finished)
        self.dispatch(lambda: self._over(job, finished))

    def _over(self, job: Job, event: events.Finished) -> None:
        if job.over:
            return
        if job.ending == "cancel" and event.status != "cancelled":
            event = events.Finished("cancelled")
        job.status, job.ended = event.status, time.monotonic()
        job.result, job.message, job.hint, job.details = (
            event.result,
            event.message,
            event.hint,
            event.details,
        )
        self._tell(job, event)
        if job._temporary:
            scratch.remove(job.folder)
        self._start_waiting()

    def _tell(self, job: Job, event: events.Event) -> None:
        if job.over and not isinstance(event, events.Finished):
            return  # said before the end, arrived after it
        job._take_in(event)
        job.changed.emit(event)
        self.changed.emit(job, event)


def _is_frequent(event: events.Event | None, *kinds: str) -> TypeGuard[events.Output]:
    """Whether it is a step, tick or progress, or one of `kinds`."""
    return isinstance(event, events.Output) and event.payload.get("kind") in (kinds or OFTEN)


def _without_result(job: Job, code: int | None) -> events.Finished:
    """What is told of a child whose channel ended without a last word."""
    problem, log = job._child.problem if job._child else "", last_lines(job.log_file)
    if job.ending == "cancel":
        return events.Finished("cancelled")
    if problem:
        return events.Finished(
            "failed",
            message=_("The worker could not be started: {problem}.").format(problem=problem),
            details=log,
        )
    if job.ending == "stop":
        message = _("The worker did not stop in time and was ended.")
        return events.Finished(
            "crashed",
            message=message,
            hint=_("What it had saved by then is in its folder."),
            details=log,
        )
    hint = _("Try it again; where memory was short, close other programs first.")
    if log:
        told = _("The last lines of its log are in the details; all of it is in {file}.").format(
            file=job.log_file
        )
        hint = " ".join((hint, told))
    return events.Finished(
        "crashed",
        message=_("The worker process died without a result: {code}.").format(
            code=_code_in_words(code)
        ),
        hint=hint,
        details=log,
    )


def _code_in_words(code: int | None) -> str:
    if code is None or code >= 0:
        return _("return code {code}").format(code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = _("signal {number}").format(number=-code)
    told = _("return code {code} ({name})")
    if name == "SIGKILL":
        told = _("return code {code} ({name}, often because the computer ran out of memory)")
    return told.format(code=code, name=name)


def _record(job: Job, finished: events.Finished) -> None:
    """Write the ending that no child could write: it died, or was never started."""
    from workbench.jobs.worker import write_result

    with suppress(OSError):
        if job.folder.is_dir():
            write_result(job.folder, finished)
