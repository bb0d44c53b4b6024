"""Garbage collection on the main thread only.

Python collects in whatever thread allocates. A Qt object in a reference cycle would be destroyed
there, and Qt may crash when an object with a timer is destroyed in another thread than its own
(QObject documentation, "Thread affinity").
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QTimer

INTERVAL = 1000  # milliseconds
OLDEST_EVERY = 50  # collections of the second generation between two of the oldest


class Collector:
    """Collects when the thresholds of `gc` are reached, as Python does, until `stop` is called."""

    def __init__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer()
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(collect_if_due)
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()
        if self._was_enabled:
            gc.enable()


def collect_if_due() -> None:
    youngest, middle, oldest = gc.get_count()
    often, seldom, _rarely = gc.get_threshold()
    if youngest <= often:
        return
    generation = 0 if middle <= seldom else 1 if oldest <= OLDEST_EVERY else 2
    gc.collect(generation)
