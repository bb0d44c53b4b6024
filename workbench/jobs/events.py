"""Events that a child process sends to its parent: frozen dataclasses, one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Queued:
    """The job is in the queue. Created by the parent; a child never sends it.

    Emitted again when `behind` changes: the name of the job it waits for, "" if it starts now.
    """

    behind: str = ""


@dataclass(frozen=True)
class Started:
    pid: int
    at: str  # ISO 8601, UTC


@dataclass(frozen=True)
class Output:
    """An object that the target yielded, unchanged."""

    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Log:
    line: str


@dataclass(frozen=True)
class Finished:
    """The last event of every job.

    `status` is one of `spec.ENDINGS`; `result` only for done, stopped and interrupted.
    """

    status: str
    result: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    hint: str = ""
    details: str = ""  # traceback, or the last lines of the log


Event = Queued | Started | Output | Log | Finished
_TYPES = {"queued": Queued, "started": Started, "output": Output, "log": Log, "finished": Finished}
_NAMES = {kind: name for name, kind in _TYPES.items()}


def to_json(event: Event) -> dict[str, object]:
    return {"type": _NAMES[type(event)], **asdict(event)}


def from_json(raw: Mapping[str, Any]) -> Event:
    """Raises KeyError or TypeError for an unknown event."""
    values = dict(raw)
    event: Event = _TYPES[values.pop("type")](**values)
    return event


def recorded(path: Path) -> Iterator[Event]:
    """The events of an `events.jsonl`.

    Incomplete and unknown lines are skipped; a missing file gives none.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    yield from_json(json.loads(line))
                except (ValueError, KeyError, TypeError, AttributeError):
                    continue
    except OSError:
        return
