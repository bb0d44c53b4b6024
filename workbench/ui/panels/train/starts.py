"""Tell a double click on Start from the wish to queue another run."""

from __future__ import annotations

import time

AGAIN = 1.0  # seconds


class Starts:
    """The last start: a second one with equal choices within `AGAIN` seconds is a double click."""

    def __init__(self) -> None:
        self._last: tuple[object, float] | None = None  # choices, time

    def begun(self, choices: object) -> None:
        """A run with these choices has been started or queued."""
        self._last = choices, time.monotonic()

    def again(self, choices: object) -> bool:
        """Whether a start with these choices now is a double click."""
        if self._last is None:
            return False
        choices_before, since = self._last
        return choices == choices_before and time.monotonic() < since + AGAIN
