"""The child's side of a host: one loaded model, many small requests; of each kind only the newest is answered."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.jobs.channel import Channel, Commands
from workbench.jobs.spec import JobSpec
from workbench.jobs.worker import failure, resolve

ARRAY = "$npy"  # key of an array that lies in a file


def serve(folder: Path, channel: Channel, commands: Commands) -> int:
    """Load the target of `host.json`, then answer until the parent stops or goes."""
    try:
        spec = JobSpec.read(folder / "host.json")
        answer = resolve(spec.target)(spec.params)
    except BaseException as error:
        channel.write({"type": "failed", **_told(error)})
        return 1
    channel.write({"type": "ready", "pid": os.getpid()})
    _answer_all(answer, folder, channel, commands)
    commands.finished.set()
    return 0


def _answer_all(
    answer: Callable[[Mapping], Mapping], folder: Path, channel: Channel, commands: Commands
) -> None:
    waiting: list[dict] = []
    while True:
        arrived = commands.waiting() if waiting else [commands.next(), *commands.waiting()]
        if None in arrived or commands.ending:
            return
        waiting = newest([*waiting, *(one for one in arrived if one is not None)])
        request = waiting.pop(0)
        channel.write(
            {
                "type": "answer",
                "id": request["id"],
                **_answered(answer, request["request"], folder, request["id"]),
            }
        )


def newest(requests: list[dict]) -> list[dict]:
    """Without those that have a younger one of their kind; the order stays."""
    last = {one["kind"]: one["id"] for one in requests}
    return [one for one in requests if last[one["kind"]] == one["id"]]


def _answered(answer: Callable, request: Mapping, folder: Path, number: int) -> dict:
    try:
        return {"answer": _with_arrays_in_files(answer(request), folder, f"{number}")}
    except Exception as error:
        return {"error": _told(error)}


def _told(error: BaseException) -> dict:
    found = failure(error)
    return {
        "status": found.status,
        "message": found.message,
        "hint": found.hint,
        "details": found.details,
    }


def _with_arrays_in_files(value: object, folder: Path, stem: str) -> object:
    """The same value with each numpy array written to a .npy file of the folder."""
    counter = itertools.count()

    def visit(one: object) -> object:
        if isinstance(one, Mapping):
            return {str(key): visit(item) for key, item in one.items()}
        if isinstance(one, list | tuple):
            return [visit(item) for item in one]
        if type(one).__module__ == "numpy" and hasattr(one, "shape") and one.shape:
            import numpy

            path = folder / f"{stem}-{next(counter)}.npy"
            numpy.save(path, numpy.asarray(one), allow_pickle=False)
            return {ARRAY: path.name}
        return one

    return visit(value)
