"""The child's side of a host: one loaded model, many small requests.

Only the newest of each kind is answered.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.errors import TimeLimitExceeded, WorkbenchError
from workbench.jobs import limits
from workbench.jobs.channel import Channel, Commands
from workbench.jobs.spec import JobSpec, Limits
from workbench.jobs.target import failure, resolve

ARRAY = "$npy"  # key of an array that is stored as a file
QUIET = 2.0  # seconds; a step may take as long, and the user may be typing


def serve(folder: Path, channel: Channel, commands: Commands) -> int:
    """Load the target of `host.json`, then answer requests until the parent stops it or exits.

    What the target returns may have an iterator `idle_steps`: work that makes later answers faster,
    one step at a time, each after QUIET seconds without a request, from the first answer on.
    """
    try:
        spec = JobSpec.read(folder / "host.json")
        answer = resolve(spec.target)(spec.params)
        if spec.limits:
            limits.restrict_memory(spec.limits)
    except BaseException as error:
        channel.write({"type": "failed", **_describe(error)})
        return 1
    channel.write({"type": "ready", "pid": os.getpid()})
    _answer_all(answer, _Server(folder, channel, spec.limits), channel, commands)
    commands.finished.set()
    return 0


def _answer_all(
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    server: _Server,
    channel: Channel,
    commands: Commands,
) -> None:
    waiting: list[dict[str, Any]] = []
    steps: Iterator[object] | None = None
    while True:
        arrived = commands.waiting(QUIET if steps is not None and not waiting else 0.0)
        if not waiting and not arrived:
            if steps is not None:
                steps = _after_one(steps)
                continue
            arrived = [commands.next(), *commands.waiting()]
        if None in arrived or commands.ending:
            return
        waiting = newest([*waiting, *(entry for entry in arrived if entry is not None)])
        request = waiting.pop(0)
        number = request["id"]
        reply = server.answer(answer, request["request"], number)
        channel.write({"type": "answer", "id": number, **reply})
        steps = iter(getattr(answer, "idle_steps", ()))


def _after_one(steps: Iterator[object]) -> Iterator[object] | None:
    """Take one step; None after the last one, or after one that fails: it is reported in the log,
    and answers only take longer.
    """
    try:
        for _step in steps:
            return steps
    except BaseException as error:
        failure(error)
    return None


def newest(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests without those that are followed by a newer one of the same kind; order is kept."""
    last = {request["kind"]: request["id"] for request in requests}
    return [request for request in requests if last[request["kind"]] == request["id"]]


class _Server:
    """Converts the output of a target into messages, within the limits of the host."""

    def __init__(self, folder: Path, channel: Channel, limits: Limits | None):
        self._folder, self._channel, self._limits = folder, channel, limits

    def answer(
        self,
        answer: Callable[[Mapping[str, Any]], object],
        request: Mapping[str, Any],
        number: int,
    ) -> dict[str, Any]:
        """{"answer": …} or {"error": …}; parts yielded by a generator are sent as they are
        produced.
        """
        try:
            with limits.time_limit(self._limits):
                result = answer(request)
            if isinstance(result, Generator):
                result = self._stream(result, number)
            return {"answer": _with_arrays_in_files(result, self._folder, f"{number}")}
        except TimeLimitExceeded:
            return {"error": {"status": "out_of_time", "message": "", "hint": "", "details": ""}}
        except WorkbenchError as error:
            return {"error": {**_describe(error), "details": ""}}  # its message is enough
        except BaseException as error:  # a panic of a library must not end the process
            return {"error": _describe(error)}

    def _stream(self, parts: Generator[object, None, object], number: int) -> object:
        while True:
            try:
                with limits.time_limit(self._limits):
                    part = next(parts)
            except StopIteration as end:
                return end.value
            self._channel.write({"type": "part", "id": number, "part": part})


def _describe(error: BaseException) -> dict[str, object]:
    described = failure(error)
    return {
        "status": described.status,
        "message": described.message,
        "hint": described.hint,
        "details": described.details,
    }


def _with_arrays_in_files(value: object, folder: Path, stem: str) -> object:
    """The value with each numpy array replaced by a reference to a .npy file in the folder."""
    counter = itertools.count()

    def visit(entry: object) -> object:
        if isinstance(entry, Mapping):
            return {str(key): visit(item) for key, item in entry.items()}
        if isinstance(entry, list | tuple):
            return [visit(item) for item in entry]
        if type(entry).__module__ == "numpy" and hasattr(entry, "shape") and entry.shape:
            import numpy

            path = folder / f"{stem}-{next(counter)}.npy"
            numpy.save(path, numpy.asarray(entry), allow_pickle=False)
            return {ARRAY: path.name}
        return entry

    return visit(value)
