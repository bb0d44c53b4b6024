"""The far side of `jobs.cluster`: an actor on a node of a Ray cluster that runs one job in a worker
process, as on the computer of the user.

Files that a job reads are kept by the SHA-256 of their bytes, so that they travel to a node once,
also when several jobs begin there at the same time.
"""

from __future__ import annotations

import hashlib
import os
import queue
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.base import file_lock, paths, scratch
from workbench.base.i18n import _
from workbench.jobs.process import Child, Grace
from workbench.jobs.spec import JobSpec
from workbench.version import __version__

CHUNK = 4 << 20  # bytes of a file that travel together
MOST_BYTES = 20 << 30  # of all kept files
WAIT = 0.5  # seconds for the next message
OWN_FILES = ("job.json", "events.jsonl", "result.json", "log.txt")  # of the far worker
File = tuple[str, int, str]  # path relative to the folder, bytes, SHA-256


def contents() -> Path:
    return paths.cache_folder() / "cluster"


def digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed(path: Path) -> list[File]:
    """Every file of a folder, or the file itself, whose relative path is empty."""
    if path.is_file():
        return [("", path.stat().st_size, digest(path))]
    every = sorted(item for item in path.rglob("*") if item.is_file())
    return [
        (item.relative_to(path).as_posix(), item.stat().st_size, digest(item)) for item in every
    ]


def chunk(path: Path, offset: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(CHUNK)


class Receiver:
    """A file that arrives in chunks, in order. `finish` puts it into its place if it is whole."""

    def __init__(self, target: Path, sha256: str):
        self.target, self.sha256, self._hash = target, sha256, hashlib.sha256()
        target.parent.mkdir(parents=True, exist_ok=True)
        self.draft = target.with_name(f"{target.name}.{os.getpid()}.part")
        self.draft.write_bytes(b"")

    def add(self, part: bytes) -> None:
        self._hash.update(part)
        with open(self.draft, "ab") as file:
            file.write(part)

    def finish(self) -> None:
        """Raises OSError if bytes are missing or differ."""
        if self._hash.hexdigest() != self.sha256:
            self.draft.unlink(missing_ok=True)
            raise OSError(
                _("{file} was damaged on its way between the computers", file=self.target.name)
            )
        os.replace(self.draft, self.target)


class Node:
    """One job on a node. Its methods are called from the computer of the user, `heard` and the
    others at the same time.
    """

    def __init__(self) -> None:
        self.folder = scratch.make("cluster")
        self._receiver: Receiver | None = None
        self._claims: dict[str, int] = {}  # SHA-256 of a file that is sent here → its lock
        self._messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._child: Child | None = None

    def about(self) -> dict[str, Any]:
        return {"version": __version__, "host": os.uname().nodename if os.name == "posix" else ""}

    # ------------------------------------------------------------ files

    def claim(self, digests: Iterable[str]) -> tuple[list[str], list[str]]:
        """Of the files that are not kept here, those that are to be sent to this job, and those
        that are on their way to another one.
        """
        absent, elsewhere = list[str](), list[str]()
        for sha256 in dict.fromkeys(digests):
            if sha256 in self._claims:
                absent.append(sha256)
            elif not self._is_kept(sha256):
                (absent if self._lock(sha256) else elsewhere).append(sha256)
        if elsewhere and not absent:
            time.sleep(WAIT)
        return absent, elsewhere

    def _is_kept(self, sha256: str) -> bool:
        try:
            os.utime(contents() / sha256)  # used now
        except OSError:
            return False
        return True

    def _lock(self, sha256: str) -> bool:
        """Claim a file, unless another job has. The lock ends with this process at the latest."""
        path = contents() / f"{sha256}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not file_lock.try_lock(lock) or self._is_kept(sha256):
            os.close(lock)
            return False  # it is kept, or will be: the next call says so
        self._claims[sha256] = lock
        return True

    def _unlock(self, sha256: str) -> None:
        os.close(self._claims.pop(sha256))
        with suppress(OSError):
            (contents() / f"{sha256}.lock").unlink()

    def receive(self, sha256: str, part: bytes, last: bool) -> None:
        if self._receiver is None:
            self._receiver = Receiver(contents() / sha256, sha256)
        self._receiver.add(part)
        if last:
            receiver, self._receiver = self._receiver, None
            receiver.finish()
            self._unlock(sha256)

    def files(self) -> list[File]:
        """What the job has written."""
        return [file for file in listed(self.folder) if _is_result(file[0])]

    def state(self, name: str) -> list[File]:
        """The files of the latest state of the job, which may be replaced meanwhile; [] if there is
        none, or none that was whole.
        """
        source, target = self.folder / name, self.folder / "inputs" / name
        try:
            begun = source.stat().st_ino
            shutil.copytree(source, target, copy_function=os.link, dirs_exist_ok=False)
            return listed(target) if source.stat().st_ino == begun else []
        except OSError:
            return []

    def forget_state(self, name: str) -> None:
        for path, _size, _sha256 in listed(self.folder / "inputs" / name):
            (self.folder / "inputs" / name / path).unlink()
        for folder in sorted((self.folder / "inputs" / name).rglob("*"), reverse=True):
            folder.rmdir()
        (self.folder / "inputs" / name).rmdir()

    def read(self, path: str, offset: int) -> bytes:
        return chunk(self.folder / path, offset)

    # ------------------------------------------------------------ the job

    def start(
        self,
        job: Mapping[str, Any],
        inputs: Sequence[tuple[str, str, Sequence[File]]],
        away: str,
    ) -> str:
        """Run a job. inputs: path on the computer of the user, name, and files of each input.
        away: the folder of the job there. Returns the folder here.
        """
        moved = {}
        for number, (path, name, files) in enumerate(inputs):
            place = self.folder / "inputs" / str(number) / name
            if path.startswith(away):  # of the folder of the job
                place = self.folder / Path(path).name
            for relative, _size, sha256 in files:
                _place(contents() / sha256, place / relative if relative else place)
            moved[path] = str(place)
        moved[away] = str(self.folder)
        spec = JobSpec.from_json(relocated(dict(job), moved))
        spec.write(self.folder / "job.json")
        prune(contents(), MOST_BYTES)
        self._child = Child(
            [str(self.folder)],
            on_message=self._messages.put,
            on_end=lambda code: self._messages.put({"type": "ended", "code": code}),
            log=self.folder / "log.txt",
            env=spec.env,
            grace=Grace(),
        ).start()
        return str(self.folder)

    def heard(self) -> list[dict[str, Any]]:
        """The messages of the worker since the last call; waits a little for the first."""
        messages = []
        with suppress(queue.Empty):
            messages.append(self._messages.get(timeout=WAIT))
            while True:
                messages.append(self._messages.get_nowait())
        return messages

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop()

    def log(self) -> str:
        with suppress(OSError):
            return (self.folder / "log.txt").read_text("utf-8", "replace")[-20_000:]
        return ""

    def close(self) -> None:
        """End the worker, and delete what belongs to this job alone."""
        if self._child is not None:
            self._child.kill()
            self._child.wait(10)
        for sha256 in list(self._claims):
            self._unlock(sha256)
        scratch.remove(self.folder)


def _is_result(path: str) -> bool:
    return path not in OWN_FILES and not path.startswith(("inputs/", "log-"))


def _place(content: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(content, target)
    except OSError:  # another disk, or a file system without links
        shutil.copyfile(content, target)


def relocated(value: Any, moved: Mapping[str, str]) -> Any:
    """JSON with the paths of `moved`, and those below them, in their new places."""
    if isinstance(value, Mapping):
        return {name: relocated(item, moved) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [relocated(item, moved) for item in value]
    if isinstance(value, str):
        for before in sorted(moved, key=len, reverse=True):
            if value == before or value.startswith((f"{before}/", f"{before}\\")):
                return moved[before] + value[len(before) :].replace("\\", "/")
    return value


def prune(folder: Path, most: int) -> None:
    """Delete the files that were not used for longest until the rest has at most `most` bytes."""
    total, now = 0, time.time()
    every = [(item.stat(), item) for item in folder.glob("*")] if folder.is_dir() else []
    for status, item in sorted(every, key=lambda pair: -pair[0].st_mtime):
        total += status.st_size
        if total > most and now - status.st_mtime > 3600:  # a job may be about to link it
            item.unlink(missing_ok=True)
