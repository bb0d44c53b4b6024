"""Mailbox: posts calls to the main thread where there is no event loop (command line, tests)."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

SLICE = 0.25  # seconds; an unlimited wait cannot be interrupted by Ctrl+C on Windows


class Mailbox:
    """`mailbox(fn)` from any thread or signal handler; `fn()` runs on the thread that calls `wait`
    or `drain`, in the order posted. (`SimpleQueue.put` is reentrant.)
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def __call__(self, function: Callable[[], None]) -> None:
        self._calls.put(function)

    def drain(self, timeout: float = 0.0) -> int:
        """Run the posted calls; wait up to `timeout` seconds for the first.

        Returns how many were run.
        """
        count = 0
        while True:
            try:
                function = (
                    self._calls.get(timeout=timeout)
                    if timeout > 0 and not count
                    else self._calls.get_nowait()
                )
            except queue.Empty:
                return count
            function()
            count += 1

    def wait(self, until: Callable[[], bool], timeout: float | None = None) -> bool:
        """Run posted calls until `until()` is true.

        Returns False if `timeout` seconds pass first.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not until():
            left = SLICE if end is None else min(SLICE, end - time.monotonic())
            if left <= 0:
                return False
            self.drain(left)
        return True
