"""Progress and cancellation of a long operation."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from workbench.base.errors import Cancelled

EVERY = 0.1  # minimum seconds between two progress reports
STEP = 0.02  # seconds of a pause between two questions whether to stop

Item = TypeVar("Item")
OnEvent = Callable[[Mapping[str, Any]], None]


def pause(seconds: float, stop: Callable[[], bool]) -> None:
    """Wait, off the main thread. Raises Cancelled soon after `stop()` is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(min(STEP, seconds))
        if stop():
            raise Cancelled()


class Watch:
    """Created by the caller of a long operation, which calls `at` at regular intervals.

    `report(share)` is called on the thread of the operation, at most ten times per second. `cancel`
    may be called from any thread; the operation then raises `Cancelled` at its next `at`, and the
    transaction around it is rolled back. `on_event(payload)` is called on the main thread with each
    object that a job of the operation reports; `progress` are their fields, the latest of each.
    `behind` is the name of the job that this job waits for, "" for none. `report` is also called
    when these change.
    """

    def __init__(
        self,
        report: Callable[[float], None] | None = None,
        *,
        on_event: OnEvent | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.share, self.behind = 0.0, ""
        self.progress: Mapping[str, Any] = {}
        self._cancelled = False
        self._report, self._on_event, self._clock = report, on_event, clock
        self._last = -EVERY

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        self._cancelled = True

    def at(self, share: float) -> None:
        """Report that `share` of the operation, in [0, 1], is done. Raises Cancelled."""
        if self.cancelled:
            raise Cancelled()
        self.share = max(self.share, min(share, 1.0))
        if self._report is not None and self._clock() - self._last >= EVERY:
            self._last = self._clock()
            self._report(self.share)

    def event(self, payload: Mapping[str, Any]) -> None:
        """Take an object that a job of the operation has reported."""
        self.progress = {**self.progress, **payload}
        if self._on_event is not None:
            self._on_event(payload)
        if self._report is not None:
            self._report(self.share)

    def wait_behind(self, name: str) -> None:
        """The job of the operation waits for another one, or no longer if `name` is ""."""
        if name != self.behind:
            self.behind = name
            if self._report is not None:
                self._report(self.share)

    def part(self, start: float, end: float, on_event: OnEvent | None = None) -> Watch:
        """A watch for a step that covers `start` to `end` of the whole operation.

        `on_event` gets what a job of the step reports, before this watch does.
        """
        return _Part(self, start, end, on_event)

    def over(self, items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
        """Slices of `size` items; calls `at` before each slice and after the last."""
        for start in range(0, len(items), size):
            self.at(start / len(items))
            yield items[start : start + size]
        self.at(1.0)


class _Part(Watch):
    def __init__(self, whole: Watch, start: float, end: float, on_event: OnEvent | None):
        super().__init__(on_event=on_event)
        self._whole, self._start, self._end = whole, start, end

    @property
    def cancelled(self) -> bool:
        return self._whole.cancelled

    def cancel(self) -> None:
        self._whole.cancel()

    def at(self, share: float) -> None:
        self._whole.at(self._start + (self._end - self._start) * min(max(share, 0.0), 1.0))

    def event(self, payload: Mapping[str, Any]) -> None:
        super().event(payload)
        self._whole.event(payload)

    def wait_behind(self, name: str) -> None:
        self._whole.wait_behind(name)


class _Quiet(Watch):
    def cancel(self) -> None:
        raise TypeError("an operation without a watcher cannot be cancelled")

    def at(self, share: float) -> None:
        pass

    def event(self, payload: Mapping[str, Any]) -> None:
        pass

    def wait_behind(self, name: str) -> None:
        pass

    def part(self, start: float, end: float, on_event: OnEvent | None = None) -> Watch:
        return self if on_event is None else Watch(on_event=on_event)


QUIET = _Quiet()
"""No watcher: the operation cannot be cancelled and reports no progress."""


def takes_watch(work: Callable[..., Any]) -> bool:
    """Whether an operation can be watched: it has a parameter named `watch`."""
    try:
        return "watch" in inspect.signature(work).parameters
    except (TypeError, ValueError):  # a function of C without a signature
        return False
