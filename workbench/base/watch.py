"""Progress and cancellation of a long operation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from workbench.base.errors import Cancelled

EVERY = 0.1  # minimum seconds between two progress reports
STEP = 0.02  # seconds of a pause between two questions whether to stop

Item = TypeVar("Item")


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
    transaction around it is rolled back.
    """

    def __init__(
        self,
        report: Callable[[float], None] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.share = 0.0
        self.cancelled = False
        self._report, self._clock = report, clock
        self._last = -EVERY

    def cancel(self) -> None:
        self.cancelled = True

    def at(self, share: float) -> None:
        """Report that `share` of the operation, in [0, 1], is done. Raises Cancelled."""
        if self.cancelled:
            raise Cancelled()
        self.share = max(self.share, min(share, 1.0))
        if self._report is not None and self._clock() - self._last >= EVERY:
            self._last = self._clock()
            self._report(self.share)

    def part(self, start: float, end: float) -> Watch:
        """A watch for a step that covers `start` to `end` of the whole operation."""
        return _Part(self, start, end)

    def over(self, items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
        """Slices of `size` items; calls `at` before each slice and after the last."""
        for start in range(0, len(items), size):
            self.at(start / len(items))
            yield items[start : start + size]
        self.at(1.0)


class _Part(Watch):
    def __init__(self, whole: Watch, start: float, end: float):
        super().__init__()
        self._whole, self._start, self._end = whole, start, end

    def at(self, share: float) -> None:
        self._whole.at(self._start + (self._end - self._start) * min(max(share, 0.0), 1.0))


class _Quiet(Watch):
    def cancel(self) -> None:
        raise TypeError("an operation without a watcher cannot be cancelled")

    def at(self, share: float) -> None:
        pass


QUIET = _Quiet()
"""No watcher: the operation cannot be cancelled and reports no progress."""
