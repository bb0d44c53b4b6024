"""Run functions on the main thread of a Qt application."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QObject, Qt, Signal


class Dispatch(QObject):
    """`dispatch(fn)` from any thread: the main thread's event loop calls `fn()`, in the order
    posted.
    """

    _posted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def __call__(self, fn: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the application has ended
            self._posted.emit(fn)

    def _call(self, fn: Callable[[], None]) -> None:
        fn()
