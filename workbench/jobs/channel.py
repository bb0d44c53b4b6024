"""The child's end of the channel: writes events to the original stdout, reads commands from the
original stdin.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from workbench.jobs import events, steps

OFTEN = ("step", "tick", "progress")  # rate-limited kinds
# seconds; steps in between are sent in one message, of ticks and progress only the last
INTERVAL = 0.1
ORPHAN_LIMIT = 600.0  # seconds that a worker without a parent may take to save its best checkpoint
DISCARD_LIMIT = 10.0  # the same for a worker whose result can no longer be used


class Channel:
    """Writes one JSON object per line to the parent and to `events.jsonl`.

    A missing parent or a full disk is not an error.
    """

    def __init__(self, descriptor: int, record: Path | None = None):
        self._descriptor: int | None = descriptor
        self._record = _opened(record)
        self._steps: list[Mapping[str, Any]] = []  # payloads since the last message
        self._latest: events.Output | None = None  # latest unsent tick or progress
        self._sent = 0.0
        self._lock = threading.Lock()

    def send(self, event: events.Event) -> None:
        kind = event.payload.get("kind") if isinstance(event, events.Output) else ""
        if kind not in OFTEN or not isinstance(event, events.Output):
            self._flush()
            self.write(events.to_json(event))
            return
        if kind == "step":
            self._add_step(event.payload)
        else:
            self._latest = event
        if time.monotonic() - self._sent >= INTERVAL:
            self._flush()

    def _add_step(self, payload: Mapping[str, Any]) -> None:
        if self._steps and not steps.same_losses(self._steps[0], payload):
            self._flush()
        self._steps.append(payload)
        self._latest = None  # a tick before this step adds no information

    def _flush(self) -> None:
        """Send unsent events, at most one message of each kind."""
        if self._steps or self._latest is not None:
            self._sent = time.monotonic()
        if self._steps:
            self.write(events.to_json(events.Output(steps.merge(self._steps))))
            self._steps = []
        if self._latest is not None:
            self.write(events.to_json(self._latest))
            self._latest = None

    def write(self, message: Mapping[str, Any]) -> None:
        line = _line(message)
        with self._lock:
            if self._record is not None:
                try:
                    rest = line
                    while rest:
                        rest = rest[self._record.write(rest) :]
                except OSError:  # disk full: still send the final events to the parent
                    self._record.close()
                    self._record = None
            self._tell(line)

    def _tell(self, line: bytes) -> None:
        while line and self._descriptor is not None:
            try:
                line = line[os.write(self._descriptor, line) :]
            except OSError:  # the parent has exited; events.jsonl is still written
                self._descriptor = None

    def close(self) -> None:
        if self._record is not None:
            self._record.close()


def _opened(record: Path | None) -> FileIO | None:
    """The file, ready for the next line: an earlier worker may have left an incomplete one."""
    if record is None:
        return None
    try:
        with open(record, "a+b", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
        return open(record, "ab", buffering=0)
    except OSError:
        return None


def _line(message: Mapping[str, Any]) -> bytes:
    """Write values that JSON does not support (numpy numbers, paths) as text instead of failing the
    run.
    """
    return json.dumps(message, ensure_ascii=True, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


class Commands:
    """Lines from the parent. `ending` is "", stop, cancel, or lost (the parent has exited).

    Cancel overrides the others. A lost parent counts as stop: the best checkpoint is kept.
    `stop` and `cancel` are also called from a signal handler, so they take no lock.
    """

    def __init__(self, descriptor: int):
        self._file = os.fdopen(descriptor, "rb")
        self._lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._ending = ""
        self.finished = threading.Event()
        self.orphaned = False
        self._discard: Callable[[], None] | None = None
        threading.Thread(target=self._read, name="glossbench-commands", daemon=True).start()

    @property
    def ending(self) -> str:
        return self._ending

    def stop(self) -> None:
        self._ending = self._ending or "stop"
        self._lines.put(None)  # a host waits for its next request

    def cancel(self) -> None:
        self._ending = "cancel"
        self._lines.put(None)

    def discard_if_orphaned(self, discard: Callable[[], None]) -> None:
        """Cancel the job if the parent exits: the result is of use to the parent only.

        `discard()` is called if the job does not end soon after; otherwise the caller discards.
        """
        self._discard = discard
        if self.orphaned:
            self.cancel()

    def next(self) -> dict[str, Any] | None:
        """Wait for the next line. Returns None for stop, cancel and a parent that has exited."""
        return self._lines.get()

    def waiting(self, seconds: float = 0.0) -> list[dict[str, Any] | None]:
        """Lines that have arrived and were not read yet; waits up to `seconds` for the first."""
        commands = []
        with suppress(queue.Empty):
            if seconds:
                commands.append(self._lines.get(timeout=seconds))
            while True:
                commands.append(self._lines.get_nowait())
        return commands

    def _read(self) -> None:
        for line in self._file:
            try:
                raw = json.loads(line)
            except ValueError:
                continue
            kind = raw.get("type") if isinstance(raw, dict) else None
            if kind in ("stop", "cancel"):
                self.stop() if kind == "stop" else self.cancel()
            elif kind:
                self._lines.put(raw)
        self.orphaned = True
        self._ending = self._ending or "lost"
        if self._discard is not None:
            self._ending = "cancel"
        self._lines.put(None)
        if not self.finished.wait(DISCARD_LIMIT if self._discard else ORPHAN_LIMIT):
            if self._discard is not None:
                self._discard()
            os._exit(1)  # no parent is left to terminate this process


def take_over() -> tuple[int, int]:
    """Reserve the original standard input and output for the channel; returns their descriptors.

    Other output goes to the log (descriptor 2); other readers of standard input find it empty.
    """
    sys.stdout.flush()
    commands, out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return commands, out
