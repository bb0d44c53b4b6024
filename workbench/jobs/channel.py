"""The child's end of the channel: events out on the real standard output, commands in on the real standard input."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path

from workbench.jobs import events

OFTEN = ("step", "tick", "progress")  # kinds that are sent at most ten times a second
INTERVAL = 0.1
ORPHAN_LIMIT = 600.0  # seconds that a worker without a parent may take to save its best


class Channel:
    """Writes one JSON object a line to the parent and to `events.jsonl`. A parent that has gone is no error, nor is a full disk."""

    def __init__(self, descriptor: int, record: Path | None = None):
        self._descriptor: int | None = descriptor
        self._record = _opened(record)
        self._held: events.Output | None = None
        self._sent = 0.0
        self._lock = threading.Lock()

    def send(self, event: events.Event) -> None:
        if isinstance(event, events.Output) and event.payload.get("kind") in OFTEN:
            if time.monotonic() - self._sent < INTERVAL:
                self._held = event
                return
            self._sent = time.monotonic()
        elif self._held is not None:  # the last step before a score belongs to the curve
            self.write(events.to_json(self._held))
        self._held = None
        self.write(events.to_json(event))

    def write(self, message: Mapping) -> None:
        line = _line(message)
        with self._lock:
            if self._record is not None:
                try:
                    self._record.write(line)
                except OSError:  # the disk is full: the parent at least shall hear how it ends
                    self._record.close()
                    self._record = None
            self._tell(line)

    def _tell(self, line: bytes) -> None:
        while line and self._descriptor is not None:
            try:
                line = line[os.write(self._descriptor, line) :]
            except OSError:  # the parent has gone; the record in the folder goes on
                self._descriptor = None

    def close(self) -> None:
        if self._record is not None:
            self._record.close()


def _opened(record: Path | None) -> FileIO | None:
    try:
        return open(record, "ab", buffering=0) if record else None
    except OSError:
        return None


def _line(message: Mapping) -> bytes:
    """Values that JSON does not know (numpy numbers, paths) go as text rather than end a run."""
    return json.dumps(message, ensure_ascii=True, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


class Commands:
    """Lines from the parent. End of file counts as stop: the parent has gone, the best is kept."""

    def __init__(self, descriptor: int):
        self._file = os.fdopen(descriptor, "rb")
        self._lines: queue.SimpleQueue[dict | None] = queue.SimpleQueue()
        self._ending = ""  # "", stop, cancel: cancel wins
        self.finished = threading.Event()
        threading.Thread(target=self._read, name="glossbench-commands", daemon=True).start()

    @property
    def ending(self) -> str:
        return self._ending

    def stop(self) -> None:
        self._ending = self._ending or "stop"

    def cancel(self) -> None:
        self._ending = "cancel"

    def next(self) -> dict | None:
        """Waits for the next line; None for stop, cancel and when the parent has gone."""
        return self._lines.get()

    def waiting(self) -> list[dict | None]:
        """What has arrived and not been taken."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._lines.get_nowait())
        return found

    def _read(self) -> None:
        for line in self._file:
            try:
                raw = json.loads(line)
            except ValueError:
                continue
            kind = raw.get("type") if isinstance(raw, dict) else None
            if kind in ("stop", "cancel"):
                self.stop() if kind == "stop" else self.cancel()
                self._lines.put(None)  # a host waits for its next request
            elif kind:
                self._lines.put(raw)
        self.stop()
        self._lines.put(None)
        if not self.finished.wait(ORPHAN_LIMIT):  # nobody is left who could end it
            os._exit(1)


def take_over() -> tuple[int, int]:
    """Keep the real standard input and output for the channel; returns their descriptors.

    Whatever else prints goes to the log (descriptor 2), and whoever reads from standard input finds it empty.
    """
    sys.stdout.flush()
    commands, out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return commands, out
