"""The time limits of pytest-timeout, watched by one thread.

pytest-timeout starts a thread for each test, which costs more than most tests do.
"""

from __future__ import annotations

import threading
import time

import pytest_timeout

CHECK_EVERY = 1.0  # seconds


class Deadlines:
    """A plugin for the hooks of pytest-timeout. The thread ends with the process."""

    def __init__(self) -> None:
        self._pending = None  # (time, item, settings) of the test that runs
        threading.Thread(target=self._watch, name="test-deadline", daemon=True).start()

    def pytest_timeout_set_timer(self, item, settings):
        self._pending = time.monotonic() + settings.timeout, item, settings
        return True

    def pytest_timeout_cancel_timer(self, item):
        self._pending = None
        return True

    def _watch(self) -> None:
        while True:
            time.sleep(CHECK_EVERY)
            if (pending := self._pending) is not None and pending[0] <= time.monotonic():
                pytest_timeout.timeout_timer(*pending[1:])  # prints all stacks, ends the process
