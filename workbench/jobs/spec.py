"""JobSpec: the description of a job for a child process, as one readable file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.records import JsonRecord, json_text

ENDINGS = ("done", "stopped", "cancelled", "failed", "out_of_memory", "crashed", "interrupted")


@dataclass(frozen=True)
class Limits:
    """Resource limits of a host. `seconds` of processor time for one part of an answer; `memory` in
    bytes,
    in addition to what the process uses once its target is loaded.
    """

    seconds: float
    memory: int


@dataclass(frozen=True)
class JobSpec(JsonRecord):
    """`target` is "module:function".

    For a job the function is a generator function `target(params, folder)`: it yields JSON objects
    (dicts with a "kind"; {} reports nothing), may be sent "stop" (save the best result and end) or
    closed (write nothing more), and returns a JSON object, its result. For a host it is a plain
    function `target(params)` that loads the model and returns `answer(request) -> dict`; an
    `answer` that is a generator sends what it yields to the parent as parts, and what it returns as
    the answer.
    `device` names the queue: jobs of one device run one after another; "" means no device, start
    at once. `silent`: the worker exits if the target yields nothing for so many seconds, and its
    log shows what it was running; 0 for no limit. A `short` job need not wait for a long one on the
    CPU (`jobs.turns`); `threads` is then set by the queue. Nobody waits for a `background` job: on
    the CPU no other job waits for it, it gives way to all of them, and closing ends it without
    asking. A `foreground` job has the priority of the application. `forget`: one of many small
    jobs, which is not listed any more once it is done.
    `processes` run the target together, the worker as the first of them (`jobs.peers`).
    `run_on`: the address of a Ray cluster that runs the job, "" for this computer; `files` are the
    files and folders that it then reads, and that are sent there (`jobs.cluster`). `divided`: the
    names of two parameters, of a file of lines and of the file of lines that the target writes from
    it; on a cluster, each node gets a part of the lines, behind the first one.
    `state`: the name of a folder that the target replaces as a whole in the folder of the job, and
    continues from with the parameter `resume`; on a cluster, if a node is lost.
    `scratch`: temporary folders that the job reads, deleted when it has ended.
    """

    target: str
    params: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""  # output folder, created if missing
    device: str = "cpu"
    title: str = ""
    name: str = ""  # name of the run, shown to waiting jobs; the title by default
    env: Mapping[str, str] = field(default_factory=dict)  # added to the child's environment
    project: str = ""  # path of the project file, "" if the job needs none
    stoppable: bool = False  # "stop" keeps a usable result; other jobs can only be cancelled
    limits: Limits | None = None  # of a host
    silent: float = 0.0
    short: bool = False
    background: bool = False
    foreground: bool = False
    forget: bool = False
    scratch: tuple[str, ...] = ()
    processes: int = 1
    run_on: str = ""
    files: tuple[str, ...] = ()
    divided: tuple[str, ...] = ()
    state: str = ""
    threads: int = 0  # maximum number of compute threads; 0: one per physical core

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(self.to_json(), indent=1), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> JobSpec:
        return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
