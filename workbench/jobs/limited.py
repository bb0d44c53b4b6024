"""A host with limits on processor time and memory, for requests that may run user-written code such
as templates.

The limits are enforced twice. The worker limits itself where the system supports it
(`jobs/limits.py`). The thread that waits for the answer monitors the worker on every system and
ends it when it exceeds a limit; the next request starts a new one.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base import scratch
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.process import Child, last_lines
from workbench.jobs.spec import JobSpec, Limits

INTERVAL = 0.02  # polling interval in seconds; a worker can allocate about 50 MB in that time
SLACK = 0.25  # seconds of processor time in which the worker may report the exceeded limit itself
# seconds to wait for a cancelled request before ending the worker, which is more expensive
PATIENCE = 0.3
START_LIMIT = 60.0  # seconds until the worker is ready
# wall-clock limit as a multiple of the limit, for a worker that neither works nor answers
WALL_FACTOR = 20
TIME, MEMORY = "out_of_time", "out_of_memory"


class OutOfTime(JobFailed):
    """A request took more processor time than its limit."""


class OutOfMemory(JobFailed):
    """A request took more memory than its limit."""


class LimitedHost:
    """Answers requests in a worker process that is started by the first one.

    All methods are thread-safe.
    """

    def __init__(self, target: str, limits: Limits, params: Mapping[str, Any] | None = None):
        self.limits = limits
        self._target, self._params = target, dict(params or {})
        self._lock = threading.Lock()  # one request at a time
        self._closed = threading.Event()
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._ready = False  # whether the worker has loaded its target
        self._folder: Path | None = None
        self._messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """Process id of the worker, None if there is none."""
        return self._child.pid if self._child else None

    def ask(
        self,
        request: Mapping[str, Any],
        *,
        on_part: Callable[[Any], None] | None = None,
        watch: Watch = QUIET,
    ) -> Any:
        """Wait for the answer. `on_part(part)` is called in this thread for each part as it
        arrives.

        Raises OutOfTime or OutOfMemory if a limit is exceeded, Cancelled if `watch` is cancelled
        (unless the answer arrives at once), JobFailed if the worker ends without an answer.
        """
        with self._turn(watch):
            number = next(self._numbers)
            child = self._started(watch)
            child.send({"type": "ask", "id": number, "kind": "limited", "request": dict(request)})
            return self._wait(child, number, on_part or _ignore, watch)

    def close(self) -> None:
        """End the worker and delete its folder.

        An open request in another thread raises JobFailed there.
        """
        self._closed.set()
        child = self._child
        if child is not None:
            child.kill()
            child.wait(5)
        self._child = None
        if self._folder is not None:
            scratch.remove(self._folder)

    # ------------------------------------------------------------ the worker

    @contextmanager
    def _turn(self, watch: Watch) -> Iterator[None]:
        while not self._lock.acquire(timeout=INTERVAL):
            self._check(watch)
        try:
            self._check(watch)
            yield
        finally:
            self._lock.release()

    def _check(self, watch: Watch) -> None:
        if watch.cancelled:
            raise Cancelled()
        if self._closed.is_set():
            raise _closed()

    def _started(self, watch: Watch) -> Child:
        """The worker, ready for a request.

        A starting worker continues even if the caller stops waiting.
        """
        child = self._child if self._child and not self._child.ended else self._start()
        if not self._ready:
            self._wait_until_ready(child, watch)
            self._ready = True
        return child

    def _start(self) -> Child:
        if self._folder is None:
            self._folder = scratch.make("limited")
            JobSpec(self._target, self._params, limits=self.limits).write(
                self._folder / "host.json"
            )
        self._messages = queue.SimpleQueue()
        child = Child(
            [str(self._folder)],
            on_message=self._messages.put,
            on_end=partial(_report_end, self._messages),
            log=self._folder / "log.txt",
        )
        self._ready, self._child = False, child.start()
        if self._closed.is_set():  # close() ran meanwhile and has not seen this child
            child.kill()
        return child

    def _wait_until_ready(self, child: Child, watch: Watch) -> None:
        end = time.monotonic() + START_LIMIT
        while True:
            message = self._next(child)
            if watch.cancelled:
                raise Cancelled()
            if message is None and time.monotonic() > end:
                self._end(child)
                raise JobFailed(_("The worker did not start in {n:.0f} s.", n=START_LIMIT))
            if message is not None and message["type"] == "ready":
                return
            if message is not None and message["type"] == "failed":
                self._end(child)
                raise JobFailed(message["message"], hint=message["hint"])

    def _end(self, child: Child) -> None:
        child.kill()
        child.wait(5)
        self._child = None

    # ------------------------------------------------------------ one request

    def _wait(self, child: Child, number: int, on_part: Callable[[Any], None], watch: Watch) -> Any:
        usage, began = _Watch(child, self.limits), time.monotonic()
        while True:
            message = self._next(child)
            if message is None:
                if watch.cancelled and time.monotonic() - began > PATIENCE:
                    self._end(child)
                    raise Cancelled()
                if reason := usage.exceeded():
                    self._end(child)
                    raise self._over(reason)
            elif message.get("id") != number:
                continue  # a line of the log
            elif message["type"] == "part":
                on_part(message["part"])
                usage.restart()
            elif message["type"] == "answer":
                return self._answer(child, message)

    def _next(self, child: Child) -> dict[str, Any] | None:
        """The next message of the worker, None if none arrived in time.

        Raises JobFailed if the worker has ended.
        """
        try:
            message = self._messages.get(timeout=INTERVAL)
        except queue.Empty:
            if self._closed.is_set():
                self._end(child)
                raise _closed() from None
            return None
        if message["type"] == "end":
            self._child = None
            raise _closed() if self._closed.is_set() else self._ended(child, message["code"])
        return message

    def _answer(self, child: Child, message: dict[str, Any]) -> Any:
        error = message.get("error")
        if error is None:
            return message.get("answer")
        if error["status"] == MEMORY:
            self._end(child)  # a new process returns the memory to the system
        if error["status"] in (TIME, MEMORY):
            raise self._over(error["status"])
        raise JobFailed(error["message"], hint=error["hint"])

    def _over(self, reason: str) -> JobFailed:
        if reason == TIME:
            seconds = self.limits.seconds
            return OutOfTime(_("The request took too long (limit {seconds:g} s).", seconds=seconds))
        megabytes = self.limits.memory // 2**20
        return OutOfMemory(_("The request needs too much memory (limit {n} MB).", n=megabytes))

    def _ended(self, child: Child, code: int | None) -> JobFailed:
        """Why a worker ended unexpectedly."""
        import signal

        if code is not None and -code == getattr(signal, "SIGXCPU", None):
            return self._over(TIME)
        reason = child.problem or _("return code {code}", code=code)
        log = last_lines(self._folder / "log.txt", 1) if self._folder else ""
        return JobFailed(
            _("The worker ended unexpectedly: {reason}. {log}", reason=reason, log=log)
        )


class _Watch:
    """Compares the resources a worker has used since its last message with its limits."""

    def __init__(self, child: Child, limits: Limits):
        import psutil

        self._limits = limits
        self._gone = psutil.Error
        try:
            self._process = psutil.Process(child.pid)
            self._memory = self._process.memory_info().rss
        except psutil.Error:  # it has ended; its end is among the messages
            self._process = None
        self.restart()

    def restart(self) -> None:
        self._began, self._used = time.monotonic(), self._seconds()

    def exceeded(self) -> str:
        """TIME, MEMORY, or "" if no limit is exceeded."""
        if self._process is None:
            return ""
        try:
            memory = self._process.memory_info().rss - self._memory
        except self._gone:
            return ""
        if memory > self._limits.memory:
            return MEMORY
        limit = self._limits.seconds
        slow = self._seconds() - self._used > limit + SLACK
        stuck = time.monotonic() - self._began > WALL_FACTOR * (limit + SLACK)
        return TIME if slow or stuck else ""

    def _seconds(self) -> float:
        """Processor time of the worker so far, in seconds; 0 once it has ended."""
        try:
            times = self._process.cpu_times() if self._process else None
        except self._gone:
            return 0.0
        return times.user + times.system if times else 0.0


def _report_end(messages: queue.SimpleQueue[dict[str, Any]], code: int | None) -> None:
    messages.put({"type": "end", "code": code})


def _closed() -> JobFailed:
    return JobFailed(_("The worker has been closed."))


def _ignore(_part: Any) -> None:
    pass
