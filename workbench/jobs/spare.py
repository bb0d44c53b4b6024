"""A prestarted worker: it has imported slow modules and waits for a job or a host request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.jobs import machine
from workbench.jobs.process import Child, Grace

LEAST_MEMORY = 4 * 1024**3  # free bytes below which no spare is kept
REPLACE_AFTER = 15.0  # seconds; leaves the processor to the one just taken


@dataclass(frozen=True)
class Warm:
    """Modules that a spare imports, and the "module:function" of a report (JSON object) that it
    sends when ready.
    """

    modules: tuple[str, ...]
    report: str = ""


class Spare:
    """At most one idle worker.

    `prepare` and `take` run on the main thread; `on_report` is called on a thread.
    """

    def __init__(
        self,
        warm: Warm,
        *,
        on_report: Callable[[dict[str, Any]], None] | None = None,
        free_memory: Callable[[], int] | None = None,
    ):
        self.warm, self._on_report = warm, on_report
        self.ahead: tuple[str, str] | None = None  # target and argument of `load_ahead`
        self._free_memory = free_memory or (lambda: machine.memory()[1])
        self._child: Child | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def standing(self) -> bool:
        return self._child is not None and not self._child.ended

    def prepare(self, delay: float = 0.0) -> None:
        """Start one in `delay` seconds unless it is already running or memory is low."""
        with self._lock:
            if self._closed or self._timer is not None or self.standing:
                return
            self._timer = threading.Timer(delay, self._begin)
            self._timer.name, self._timer.daemon = "glossbench-spare", True
            self._timer.start()

    def load_ahead(self, target: str, argument: str) -> None:
        """Have the next spare call "module:function" with a string, to load what the next job will
        probably need. An exception is ignored.
        """
        self.ahead = target, argument

    def take(
        self,
        folder: Path,
        on_message: Callable[[dict[str, Any]], None],
        on_end: Callable[[int | None], None],
        grace: Grace,
    ) -> Child | None:
        """The spare, which `start()` runs on this folder;

        None if there is none. A replacement is started later.
        """
        with self._lock:
            child, self._child = self._child, None
        if child is None or not child.hand_over(
            {"type": "work", "folder": str(folder)}, on_message, on_end
        ):
            return None
        child.grace, child.log = grace, folder / "log.txt"
        self.prepare(REPLACE_AFTER)
        return child

    def close(self) -> None:
        with self._lock:
            self._closed = True
            timer, child = self._timer, self._child
            self._timer = self._child = None
        if timer:
            timer.cancel()
        if child:
            child.kill()
            child.wait(5)

    def _begin(self) -> None:
        short = self._free_memory() < LEAST_MEMORY
        with self._lock:
            self._timer = None
            if self._closed or short:
                return
            arguments = [
                "--spare",
                ",".join(self.warm.modules),
                *(["--report", self.warm.report] if self.warm.report else []),
                *(["--ahead", *self.ahead] if self.ahead else []),
            ]
            self._child = Child(arguments, on_message=self._heard, on_end=lambda code: None).start()

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "spare" and message.get("report") and self._on_report:
            self._on_report(message["report"])
