"""The job queue: one job per device, in order. A crash ends only its own job; the next one starts.

Everything here runs on the main thread; messages of children arrive through `dispatch`. Only `run`,
with which an operation waits for a job, may be called from another thread.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard, cast

from workbench.base import processors, scratch
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import EVERY, QUIET, Watch
from workbench.jobs import events, steps, threads, turns
from workbench.jobs.channel import OFTEN
from workbench.jobs.dispatch import Mailbox
from workbench.jobs.process import Child, Grace, last_lines
from workbench.jobs.spare import Spare, Warm
from workbench.jobs.spec import ENDINGS, JobSpec

TIMED_OUT = "Timeout ("  # how faulthandler begins its report of a child that exits when silent
DUMP_LINES = 400
PATIENCE = 30.0  # seconds for a job to end after it was cancelled
Dispatch = Callable[[Callable[[], None]], None]


class Job:
    """A unit of background work. `status` is waiting, running or one of `spec.ENDINGS`.

    `changed(event)` is emitted on the main thread, after the fields below are up to date.
    `events` holds every step: consecutive steps are merged into one event, and of consecutive ticks
    and progress only the last is kept, so a run of 100,000 steps takes a few megabytes.
    """

    def __init__(self, queue: Queue, number: int, spec: JobSpec, temporary: bool):
        self.id, self.spec = number, spec
        self.status = "waiting"
        self.ending = ""  # requested ending: "", stop, cancel
        self.first = False  # moved to the front by the user
        self.behind = ""  # name of the job it waits for
        self.ends_unlisted = False  # not listed any more once it has ended, however that was
        self.events: list[events.Event] = []
        self.progress: Mapping[str, Any] = {}  # fields of the latest step, tick and progress
        self.result: Mapping[str, Any] = {}
        self.message = self.hint = self.details = ""
        self.started = self.ended = 0.0  # time.monotonic()
        self.changed = Signal(f"job {number}")
        self._queue = queue
        self._child: Child | None = None
        self._finished: events.Finished | None = (
            None  # final event, emitted once the process has ended
        )
        self._temporary = temporary

    @property
    def over(self) -> bool:
        return self.status in ENDINGS

    @property
    def fraction(self) -> float | None:
        """Completed fraction, 0 to 1; None if unknown."""
        step, total = self.progress.get("step"), self.progress.get("total")
        return min(1.0, step / total) if isinstance(step, int | float) and total else None

    @property
    def folder(self) -> Path:
        return Path(self.spec.folder)

    @property
    def pid(self) -> int | None:
        """Process id while the job runs."""
        return self._child.pid if self._child else None

    @property
    def log_file(self) -> Path:
        return self.folder / "log.txt"

    def stop(self) -> None:
        """Keep the best result and end; a waiting job is cancelled."""
        self._queue._end(self, "stop")

    def cancel(self) -> None:
        """End without a result."""
        self._queue._end(self, "cancel")

    def run_first(self) -> None:
        """Run before other waiting jobs; a short job starts at once, in parallel on its device."""
        self._queue.run_first(self)

    @property
    def can_run_first(self) -> bool:
        """Whether `run_first` would start it earlier."""
        return self._queue.can_run_first(self)

    def forget(self) -> None:
        """Remove a finished job from the list."""
        self._queue.forget(self)

    def _take_in(self, event: events.Event) -> None:
        if not _is_frequent(event):
            self.events.append(event)
            return
        payload = {name: value for name, value in event.payload.items() if name != "earlier"}
        self.progress = {**self.progress, **payload}  # a tick has no total: keep the last one
        if self.events and _is_frequent(self.events[-1], "tick", "progress"):
            self.events.pop()
        last = self.events[-1] if self.events else None
        if not _is_frequent(event, "step"):
            self.events.append(event)
        elif _is_frequent(last, "step") and steps.same_losses(last.payload, event.payload):
            steps.extend(cast(dict[str, Any], last.payload), event.payload)  # made by `copy` below
        else:
            self.events.append(events.Output(steps.copy(event.payload)))


class Queue:
    """Jobs in the order they were added. `changed(job, event)` is emitted on the main thread for
    each event.

    `dispatch(fn)` runs `fn` on the main thread; without it, a Mailbox is created that `wait`
    drains.
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
        # (dict): report of a spare worker about this computer
        self.reported = Signal("queue.reported")
        self.spare = (
            Spare(warm, on_report=lambda report: self.dispatch(lambda: self.reported.emit(report)))
            if warm
            else None
        )
        # around the wait of `run` without an event loop; commands catch signals here
        self.while_waiting: Callable[[Watch], AbstractContextManager[Any]] = nullcontext
        self._numbers = itertools.count(1)
        self._home = threading.get_ident()
        self._closed = False

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.status == "running")

    @property
    def waiting(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.status == "waiting")

    def add(self, spec: JobSpec, earlier: Iterable[events.Event] = ()) -> Job:
        """Write `job.json` to its folder (temporary by default) and start the job once its device
        is free.

        earlier: what the job reported before it was interrupted, if it continues.
        A temporary folder is deleted after the last event. Raises JobFailed if the folder cannot be
        written.
        """
        if self._closed:
            raise JobFailed(_("The application is closing. No new jobs can be started."))
        temporary = not spec.folder
        if temporary:
            spec = replace(spec, folder=str(scratch.make("job")))
        try:
            spec.write(Path(spec.folder) / "job.json")
            (Path(spec.folder) / "result.json").unlink(missing_ok=True)
        except OSError as error:
            raise JobFailed(
                _(
                    "{folder} cannot be written: {error}.",
                    folder=spec.folder,
                    error=error.strerror or error,
                ),
                hint=_("Check the free disk space and whether the disk is read-only."),
            ) from error
        job = Job(self, next(self._numbers), spec, temporary)
        for event in earlier:
            job._take_in(event)
        self.jobs = (*self.jobs, job)
        job.behind = self._behind(job)
        self._tell(job, events.Queued(job.behind))
        self._start_waiting()
        return job

    def run(self, spec: JobSpec, watch: Watch = QUIET, *, forget: bool = False) -> dict[str, Any]:
        """Start a job, wait for it and return its result: for operations that need a worker.

        What it reports is forwarded to `watch`; when that is cancelled, or an exception such as
        KeyboardInterrupt ends the wait, the job is cancelled. Call it from a task, or without an
        event loop. forget: it is not listed any more once it has ended, however that was. Raises
        Cancelled, or JobFailed with the message, hint and details of the job.
        """
        return result_of(self._begun(spec, watch, forget=forget))

    def begin(self, spec: JobSpec, kind: str, watch: Watch = QUIET) -> Job:
        """Start a job that goes on, such as a server, and wait until it reports an object of this
        kind.

        Otherwise as `run`; raises JobFailed if it ends before.
        """
        job = self._begun(spec, watch, until=kind)
        if job.over:
            result_of(job)
            raise JobFailed(_("{title} ended at once.", title=spec.title))
        return job

    def result(self, job: Job, watch: Watch = QUIET) -> dict[str, Any]:
        """As `run`, of a job that was added before, such as a training. Without an event loop."""
        return result_of(self._waited(_Waited(job, watch), watch))

    def _begun(self, spec: JobSpec, watch: Watch, *, forget: bool = False, until: str = "") -> Job:
        """The job once it has ended, or has reported an object of the kind `until`."""
        if threading.get_ident() != self._home:
            return self._begun_for_task(spec, watch, forget, until)
        self._mailbox()
        job = self.add(spec)
        job.ends_unlisted = forget
        return self._waited(_Waited(job, watch, until=until), watch)

    def _waited(self, waited: _Waited, watch: Watch) -> Job:
        """Wait without an event loop."""
        mailbox = self._mailbox()

        def over() -> bool:
            waited.report()
            return waited.ended.is_set()

        try:
            with self.while_waiting(watch):
                mailbox.wait(over)
        except BaseException:
            waited.job.cancel()
            self.wait(waited.job, PATIENCE)
            raise
        return waited.job

    def _begun_for_task(self, spec: JobSpec, watch: Watch, forget: bool, until: str) -> Job:
        started: list[_Waited] = []
        failures: list[Exception] = []
        ended = threading.Event()

        def start() -> None:
            if watch.cancelled:
                return ended.set()
            try:
                job = self.add(spec)
                job.ends_unlisted = forget
                started.append(_Waited(job, watch, ended, until))
            except Exception as error:
                failures.append(error)
                ended.set()

        def cancel() -> None:
            for waited in started:
                waited.job.cancel()

        self.dispatch(start)
        try:
            with threads.waiting():
                while not ended.wait(EVERY):
                    if started:
                        started[0].report()
        except BaseException:
            self.dispatch(cancel)
            ended.wait(PATIENCE)
            raise
        if failures:
            raise failures[0]
        if not started:
            raise Cancelled()
        return started[0].job

    def run_first(self, job: Job) -> None:
        """Run a waiting job before the others; see `Job.run_first`."""
        if self.can_run_first(job):
            for other in self.waiting:
                other.first = other is job or (other.first and other.spec.device != job.spec.device)
            self._start_waiting()
            if job.status == "waiting":  # still waiting, but at another position
                self._tell(job, events.Queued(job.behind))

    def can_run_first(self, job: Job) -> bool:
        if job.status != "waiting":
            return False
        ahead = self._ahead(job)
        return bool(ahead) or (job.spec.short and not job.first)

    def forget(self, job: Job) -> None:
        """Remove a finished job from the list."""
        if job.over:
            self.jobs = tuple(item for item in self.jobs if item is not job)
            self.forgotten.emit(job)

    def wait(self, job: Job, timeout: float | None = None) -> bool:
        """Without an event loop: process messages until the job has ended.

        Returns False on timeout (seconds).

        Raises RuntimeError for a queue with an event loop.
        """
        return self._mailbox().wait(lambda: job.over, timeout)

    def close(self, *, keep: bool = True, timeout: float = 30.0) -> None:
        """End all jobs: waiting jobs are cancelled, running ones keep their best result (unless
        keep=False).

        Children are killed after `timeout` seconds in total. Final events are emitted before this
        returns.
        """
        self._closed = True
        for job in self.waiting:
            self._end(job, "cancel")
        running = self.running
        for job in running:
            self._end(job, "stop" if keep and not job.spec.background else "cancel")
        if self.spare:
            self.spare.close()
        end = time.monotonic() + timeout
        for job in running:
            if (child := job._child) and not child.wait(max(0.0, end - time.monotonic())):
                child.kill()
                child.wait(5)
            self._over(job, job._finished or _without_result(job, None))

    # ------------------------------------------------------------ internal

    def _mailbox(self) -> Mailbox:
        if not isinstance(self.dispatch, Mailbox):
            raise RuntimeError("a wait would block the event loop; call run() from a task")
        return self.dispatch

    def _start_waiting(self) -> None:
        for job in turns.in_order(self.waiting):
            if not self._closed and not turns.in_the_way(job, self.running):
                job.behind = ""
                self._limit_threads(job)
                self._start(job)
        for job in self.waiting:  # the job they wait for may have changed
            behind = self._behind(job)
            if behind != job.behind:
                job.behind = behind
                self._tell(job, events.Queued(behind))

    def _ahead(self, job: Job) -> tuple[Job, ...]:
        """Jobs of the same device that wait and come before this one."""
        order = turns.in_order(self.waiting)
        before = order[: order.index(job)]
        return tuple(item for item in before if item.spec.device == job.spec.device)

    def _behind(self, job: Job) -> str:
        """Name of the job that a waiting job waits for: the running one on its device, else the
        next in order.
        """
        blocking = (*turns.in_the_way(job, self.running), *self._ahead(job)[-1:])
        return (blocking[0].spec.name or blocking[0].spec.title) if blocking else ""

    def _limit_threads(self, job: Job) -> None:
        """A job that runs beside another on the CPU gets part of the threads; writes this to its
        job file.
        """
        threads = turns.threads_beside(job, self.running, processors.physical_cores())
        if threads:
            job.spec = replace(job.spec, threads=threads)
            with suppress(OSError):  # it then uses all threads
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
        job._child = child  # before it starts: its threads use it
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

    def _heard(self, job: Job, message: dict[str, Any]) -> None:  # on a thread
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
        if job.ends_unlisted or (job.spec.forget and job.status == "done"):
            self.forget(job)
        if job._temporary:
            scratch.remove(job.folder)
        for folder in job.spec.scratch:
            scratch.remove(Path(folder))
        self._start_waiting()

    def _tell(self, job: Job, event: events.Event) -> None:
        if job.over and not isinstance(event, events.Finished):
            return  # sent before the end, delivered after it
        job._take_in(event)
        job.changed.emit(event)
        self.changed.emit(job, event)


class _Waited:
    """A job that an operation waits for: forwards to `watch` what it reports, until it has ended,
    or has reported an object of the kind `until`. Then `ended` is set.

    `share` is how much of it is done, in [0, 1]. Created on the main thread.
    """

    def __init__(
        self, job: Job, watch: Watch, ended: threading.Event | None = None, until: str = ""
    ):
        self.job, self.share = job, 0.0
        self.ended = ended or threading.Event()
        self._reported = -1.0
        self._watch, self._until = watch, until
        watch.wait_behind(job.behind)
        self._drop = job.changed.connect(self._on_event)
        if job.over:
            self.ended.set()

    def report(self) -> None:
        """Report progress that is new, on the thread of the operation. Raises Cancelled."""
        if self.share != self._reported or self._watch.cancelled:
            self._reported = self.share
            self._watch.at(self.share)

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Queued):
            self._watch.wait_behind(event.behind)
        elif isinstance(event, events.Started):
            self._watch.wait_behind("")
        elif isinstance(event, events.Output):
            payload = event.payload
            if "done" in payload and "total" not in payload and "total" in self.job.spec.params:
                payload = {**payload, "total": self.job.spec.params["total"]}
            self.share = _share(payload, self.share)
            self._watch.event(payload)
            if self._until and payload.get("kind") == self._until:
                self._end()
        elif isinstance(event, events.Finished):
            self._end()

    def _end(self) -> None:
        self._drop()
        self.ended.set()


def result_of(job: Job) -> dict[str, Any]:
    """The result of a job that has ended.

    Raises Cancelled or JobFailed unless it is done, or was stopped with a result.
    """
    if job.status == "cancelled":
        raise Cancelled()
    if job.status == "done" or (job.status == "stopped" and job.spec.stoppable):
        return dict(job.result)
    message = _(
        "{title} ended without a result ({status}).",
        title=job.spec.title or _("The job"),
        status=term(job.status),
    )
    raise JobFailed(
        job.message or message,
        hint=job.hint,
        details=job.details,
        crashed=job.status == "crashed",
    )


def _share(payload: Mapping[str, Any], before: float) -> float:
    """How much of its work a job has reported as done, in [0, 1]; `before` if it does not say."""
    if payload.get("part") is not None:
        return float(payload["part"])
    done, total = payload.get("done", payload.get("step")), payload.get("total")
    return min(1.0, done / total) if isinstance(done, int | float) and total else before


def _is_frequent(event: events.Event | None, *kinds: str) -> TypeGuard[events.Output]:
    """Whether the event is a step, tick or progress, or one of `kinds`."""
    return isinstance(event, events.Output) and event.payload.get("kind") in (kinds or OFTEN)


def _without_result(job: Job, code: int | None) -> events.Finished:
    """The final event for a child that closed its channel without one."""
    problem, log = job._child.problem if job._child else "", last_lines(job.log_file)
    if job.ending == "cancel":
        return events.Finished("cancelled")
    if problem:
        return events.Finished(
            "failed",
            message=_("The worker could not be started: {problem}.", problem=problem),
            details=log,
        )
    if job.ending == "stop":
        message = _("The worker did not stop in time and was terminated.")
        return events.Finished(
            "crashed",
            message=message,
            hint=_("Results saved before that are in its folder."),
            details=log,
        )
    if timed_out := _timed_out(job):
        return timed_out
    hint = _("Try again. If memory was low, close other programs first.")
    if log:
        text = _(
            "The last lines of the log are shown in the details. Full log: {file}.",
            file=job.log_file,
        )
        hint = " ".join((hint, text))
    return events.Finished(
        "crashed",
        message=_("The worker process ended without a result: {code}.", code=_code_in_words(code)),
        hint=hint,
        details=log,
    )


def _timed_out(job: Job) -> events.Finished | None:
    """The final event for a child that exited because its target was silent for too long."""
    dump = last_lines(job.log_file, DUMP_LINES) if job.spec.silent else ""
    if TIMED_OUT not in dump:
        return None
    message = _(
        "The worker made no progress for {seconds:g} s and was ended.", seconds=job.spec.silent
    )
    return events.Finished(
        "crashed",
        message=message,
        hint=_("The details show what it was running."),
        details=dump[dump.rindex(TIMED_OUT) :],
    )


def _code_in_words(code: int | None) -> str:
    if code is None or code >= 0:
        return _("return code {code}", code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = _("signal {number}", number=-code)
    message = _("return code {code} ({name})")
    if name == "SIGKILL":
        message = _("return code {code} ({name}; the computer may have run out of memory)")
    return message.format(code=code, name=name)


def _record(job: Job, finished: events.Finished) -> None:
    """Write the final event for a child that crashed or was never started."""
    from workbench.jobs.worker import write_result

    with suppress(OSError):
        if job.folder.is_dir():
            write_result(job.folder, finished)
