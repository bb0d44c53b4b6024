"""JobSpec: what a child process is asked to do, as one readable file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = ("done", "stopped", "cancelled", "failed", "out_of_memory", "crashed", "interrupted")


@dataclass(frozen=True)
class JobSpec:
    """`target` is "module:function".

    For a job the function is a generator function `target(params, folder)`: it yields JSON objects (dicts with a "kind"),
    may be sent "stop" (save the best and end) or closed (write nothing more), and returns a JSON object, its result.
    For a host it is a plain function `target(params)` that loads and returns `answer(request) -> dict`.
    `device` names the queue: jobs of one device run one after the other; "" means none, start at once.
    """

    target: str
    params: Mapping = field(default_factory=dict)
    folder: str = ""  # where it writes; made if missing
    device: str = "cpu"
    title: str = ""
    env: Mapping[str, str] = field(default_factory=dict)  # added to the child's environment

    def to_json(self) -> dict:
        return {
            "target": self.target,
            "params": dict(self.params),
            "folder": self.folder,
            "device": self.device,
            "title": self.title,
            "env": dict(self.env),
        }

    @classmethod
    def from_json(cls, raw: Mapping) -> JobSpec:
        return cls(
            raw["target"],
            raw.get("params", {}),
            raw.get("folder", ""),
            raw.get("device", "cpu"),
            raw.get("title", ""),
            raw.get("env", {}),
        )

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> JobSpec:
        return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
