"""A persistent child process: one loaded model, many small requests.

Used on the main thread; only `ask_now` may be called from another one.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base import scratch
from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.base.watch import EVERY, QUIET, Watch
from workbench.jobs import threads
from workbench.jobs.dispatch import Mailbox
from workbench.jobs.process import Child, Grace, last_lines
from workbench.jobs.spare import Spare
from workbench.jobs.spec import JobSpec

Dispatch = Callable[[Callable[[], None]], None]
Done = Callable[[Any, WorkbenchError | None], None]
LOADING = 1800.0  # seconds until a model is loaded that is asked without an event loop
CRASHES, WITHIN = 3, 60.0  # more crashes within so many seconds: not restarted


@dataclass(frozen=True)
class PendingRequest:
    kind: str
    done: Done


class Host:
    """Answers requests from one loaded model. `status` is asleep, starting, ready, failed, crashed
    or closed.

    The child starts with the first request (or `start`) and again after a crash.
    `changed(status)` is emitted on the main thread.
    """

    def __init__(
        self,
        spec: JobSpec,
        *,
        dispatch: Dispatch | None = None,
        spare: Spare | None = None,
        grace: Grace | None = None,
        read: Callable[[Any], Any] | None = None,
    ):
        """`read` converts an answer into the argument of `done`, off the main thread."""
        self._read = read
        self.dispatch: Dispatch = dispatch or Mailbox()
        self.status, self.message, self.hint, self.details = "asleep", "", "", ""
        self.changed = Signal("host.changed")
        self.folder = scratch.make("host")
        self.spec = replace(spec, folder=str(self.folder))
        self.spec.write(self.folder / "host.json")
        self._spare, self._grace = spare, grace or Grace(stop=5.0, stop_limit=5.0)
        self._child: Child | None = None
        self._leaving: list[Child] = []  # stopped by `sleep`, still exiting
        self._generation = 0  # messages of earlier children are ignored
        self._numbers = itertools.count(1)
        self._asked: dict[int, PendingRequest] = {}
        self._crashes: list[float] = []
        self._home = threading.get_ident()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    @property
    def busy(self) -> bool:
        """Whether any request is still unanswered."""
        return bool(self._asked)

    def ask(self, kind: str, request: Mapping[str, Any], done: Done) -> int:
        """Send a request. Calls `done(answer, None)` or `done(None, error)` on the main thread.

        An unanswered request of the same kind is dropped: its `done` is never called.
        Arrays in the answer are numpy arrays.
        """
        number = next(self._numbers)
        if refusal := self._refusal():
            self.dispatch(lambda: done(None, refusal))
            return number
        self._asked = {
            number: pending for number, pending in self._asked.items() if pending.kind != kind
        }
        self._asked[number] = PendingRequest(kind, done)
        self.start()
        assert self._child is not None
        self._child.send({"type": "ask", "id": number, "kind": kind, "request": dict(request)})
        return number

    def ask_now(
        self,
        request: Mapping[str, Any],
        timeout: float = 120.0,
        watch: Watch = QUIET,
        *,
        kind: str = "",
    ) -> Any:
        """Send a request and wait `timeout` seconds at most, from when the model is loaded: on a
        busy machine, the imports alone can take minutes. From a task, or without an event loop.

        kind: as for `ask`; of a request that is dropped, `watch` must be cancelled.

        Raises the error of the answer, JobFailed on timeout, or Cancelled in a task.
        """
        if threading.get_ident() != self._home:
            return self._ask_for_task(kind or self._own_kind(), request, timeout, watch)
        if not isinstance(self.dispatch, Mailbox):
            raise RuntimeError("ask_now() would block the event loop; call it from a task")
        got: list[tuple[Any, WorkbenchError | None]] = []
        self.ask(
            kind or self._own_kind(), request, lambda answer, error: got.append((answer, error))
        )
        self.dispatch.wait(lambda: bool(got) or self.status != "starting", LOADING)
        if not self.dispatch.wait(lambda: bool(got), timeout):
            raise _late(timeout)
        answer, error = got[0]
        if error is not None:
            raise error
        return answer

    def _own_kind(self) -> str:
        """The kind of a request that no other one replaces."""
        return f"now {next(self._numbers)}"

    def _ask_for_task(
        self, kind: str, request: Mapping[str, Any], timeout: float, watch: Watch
    ) -> Any:
        answers: list[tuple[Any, Exception | None]] = []
        ended, loaded = threading.Event(), 0.0

        def take(answer: Any, error: Exception | None) -> None:
            answers.append((answer, error))
            ended.set()

        def send() -> None:
            try:
                if not watch.cancelled:  # else a newer request of its kind may have been sent
                    self.ask(kind, request, take)
            except Exception as error:
                take(None, error)

        self.dispatch(send)
        with threads.waiting():
            while not ended.wait(EVERY):
                if watch.cancelled:
                    raise Cancelled()
                if self.status == "closed":  # requests without an answer were dropped
                    raise JobFailed(_("The model has been closed."))
                if self.status == "ready":
                    loaded = loaded or time.monotonic()
                    if time.monotonic() - loaded > timeout:
                        raise _late(timeout)
        answer, error = answers[0]
        if error is not None:
            raise error
        return answer

    def start(self) -> None:
        """Load the model unless it is loaded or loading."""
        if self._child is not None or self.status == "closed":
            return
        self._generation += 1
        heard, ended = (
            partial(self._heard, self._generation),
            partial(self._ended, self._generation),
        )
        if self._spare and not self.spec.env:
            self._child = self._spare.take(self.folder, heard, ended, self._grace)
        if self._child is None:
            log = self.folder / "log.txt"
            self._child = Child(
                [str(self.folder)],
                on_message=heard,
                on_end=ended,
                log=log,
                env=self.spec.env,
                grace=self._grace,
            )
        self._child.start()
        self._become("starting")

    def sleep(self) -> None:
        """Unload the model to free its memory; the next request loads it again."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()
            self._leaving = [item for item in (*self._leaving, child) if not item.ended]
            self._fail_all(JobFailed(_("The model was unloaded.")))
            self._become("asleep")

    def close(self, *, wait: bool = True) -> None:
        """End the child and delete its folder. Unanswered requests are dropped.

        Unless `wait`, a thread does so, because it may take 0.2 s; Python ends after this thread.
        """
        if self.status == "closed":
            return
        child, self._child = self._child, None
        self._asked.clear()
        self.status = "closed"
        end = partial(_end, (*self._leaving, *([child] if child else [])), self.folder)
        if wait:
            end()
        else:
            threading.Thread(target=end, name="glossbench-host-end").start()

    # ------------------------------------------------------------ on threads

    def _heard(self, generation: int, message: dict[str, Any]) -> None:
        if message.get("type") == "answer" and "answer" in message:
            message = self._as_read(message)
        self.dispatch(lambda: self._take(message) if generation == self._generation else None)

    def _as_read(self, message: dict[str, Any]) -> dict[str, Any]:
        """An answer with its arrays loaded, or an error if the answer is not valid."""
        try:
            answer = _with_arrays(message["answer"], self.folder)
            return {**message, "answer": self._read(answer) if self._read is not None else answer}
        except BaseException as error:  # may come from a plugin
            text = _("The response of the model cannot be read: {error!r}.", error=error)
            details = "".join(traceback.format_exception(error))
            refusal = {"message": text, "hint": "", "details": details}
            return {"type": "answer", "id": message["id"], "error": refusal}

    def _ended(self, generation: int, code: int | None) -> None:
        self.dispatch(lambda: self._gone(code) if generation == self._generation else None)

    # ------------------------------------------------------------ on the main thread

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if self.status == "closed":
            return
        if kind == "ready":
            self._become("ready")
        elif kind == "failed":
            self._become("failed", message["message"], message["hint"], message["details"])
            self._fail_all(self._failure())
        elif kind == "answer" and (pending := self._asked.pop(message["id"], None)):
            error = message.get("error")
            pending.done(message.get("answer"), _failed(error) if error else None)

    def _gone(self, code: int | None) -> None:
        if self._child is None:
            return  # unloaded or closed
        problem, self._child = self._child.problem, None
        if self.status != "failed":
            self._crashes.append(time.monotonic())
            reason = problem or _("return code {code}", code=code)
            self._become(
                "crashed",
                _("The model process ended unexpectedly: {reason}.", reason=reason),
                _("The next request loads the model again."),
                last_lines(self.folder / "log.txt"),
            )
            self._fail_all(self._failure())

    def _failure(self) -> JobFailed:
        """Why the child has ended."""
        return JobFailed(self.message, hint=self.hint, details=self.details)

    def _refusal(self) -> WorkbenchError | None:
        if self.status == "closed":
            return JobFailed(_("The model has been closed."))
        recent = [crash for crash in self._crashes if time.monotonic() - crash < WITHIN]
        if self._child is None and len(recent) >= CRASHES:
            return JobFailed(
                ngettext(
                    "{message} It ended {count} time within a minute and will not be restarted for "
                    "now.",
                    "{message} It ended {count} times within a minute and will not be restarted "
                    "for now.",
                    len(recent),
                    message=self.message,
                    count=len(recent),
                ),
                hint=_("Wait a minute and try again, or check its log file."),
                details=self.details,
            )
        return None

    def _fail_all(self, error: WorkbenchError) -> None:
        requests, self._asked = self._asked, {}
        for item in requests.values():
            item.done(None, error)

    def _become(self, status: str, message: str = "", hint: str = "", details: str = "") -> None:
        self.status, self.message, self.hint, self.details = status, message, hint, details
        self.changed.emit(status)


def _failed(error: Mapping[str, str]) -> JobFailed:
    return JobFailed(error["message"], hint=error["hint"], details=error.get("details", ""))


def _late(timeout: float) -> JobFailed:
    return JobFailed(_("The model did not respond within {timeout:.0f} s.", timeout=timeout))


def _end(children: Sequence[Child], folder: Path) -> None:
    for child in children:
        child.kill()
        child.wait(5)
    scratch.remove(folder)


def _with_arrays(value: Any, folder: Path) -> Any:
    """Load the arrays stored as files in `folder`, and delete those files."""
    if isinstance(value, dict):
        if set(value) == {"$npy"}:
            return _array(folder / Path(value["$npy"]).name)
        return {key: _with_arrays(item, folder) for key, item in value.items()}
    return [_with_arrays(item, folder) for item in value] if isinstance(value, list) else value


def _array(path: Path) -> Any:
    import numpy

    array = numpy.load(path, allow_pickle=False)
    path.unlink(missing_ok=True)
    return array
