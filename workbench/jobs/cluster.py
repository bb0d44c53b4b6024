"""Jobs on a Ray cluster. The worker that the queue has started sends the files of a job, follows
it on a node, and brings back what it has written.

What leaves this computer: the description of the job and the files that `JobSpec.files` names.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench.base import extras, owned_folder, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.sizes import size
from workbench.jobs import events, node
from workbench.jobs.node import CHUNK, File, Node, Receiver, relocated
from workbench.jobs.spec import JobSpec
from workbench.version import __version__

ATTEMPTS = 3  # on other nodes, if one is lost
STATES = 5.0  # seconds between the states of a job that are brought, and how many times as long as
SHARE = 20.0  # it takes to bring one
REACHED = 10.0  # seconds in which an address answers
CPUS = 4  # of a job on a node that has as many
PARTS = "parts"  # folder of a divided job, with a folder for each part
LEAST_LINES = 100  # of a part: its process takes seconds to start
Events = Generator[dict[str, Any], str | None, Any]
Input = tuple[str, str, list[File]]  # path here, name, and its files


class EndedThere(Exception):
    """The job has ended on its node, otherwise than well."""

    def __init__(self, finished: events.Finished):
        super().__init__(finished.message)
        self.finished = finished


class NodeLost(Exception):
    """The node of a job is gone, or cannot be reached any more."""


def run(spec: JobSpec, folder: Path) -> Events:
    """A job target: run a job on the cluster of `spec.run_on`; "stop" is forwarded, and closing
    cancels.

    Raises WorkbenchError if the cluster cannot be used, EndedThere if the job ended otherwise than
    well.
    """
    yield _log(_("Connecting to the Ray cluster at {address}", address=spec.run_on))
    with closing(Cluster(spec.run_on)) as cluster:
        inputs = [(path, Path(path).name, node.listed(Path(path))) for path in spec.files]
        if spec.divided:
            return (yield from _run_divided(cluster, spec, folder, inputs))
        return (yield from _run_on_any(cluster, spec, folder, inputs))


def _run_on_any(cluster: Cluster, spec: JobSpec, folder: Path, inputs: list[Input]) -> Events:
    """Run a job on a node; on another one if that is lost, from the last state if it has one."""
    for attempt in range(1, ATTEMPTS + 1):
        state, others = folder / (spec.state or "state"), list[Input]()
        resumes = spec.params.get("resume") or attempt > 1
        if spec.state and resumes and state.is_dir():
            spec = replace(spec, params={**spec.params, "resume": True})
            others = [(str(state), state.name, node.listed(state))]
        try:
            return (yield from FarJob(cluster, spec, folder, [*inputs, *others]).go())
        except NodeLost as error:
            if attempt == ATTEMPTS:
                raise WorkbenchError(
                    _("The node of the cluster was lost: {error}.", error=error),
                    hint=_("Start again, or run on this computer."),
                ) from error
            line = _("The node of the cluster was lost. Starting again on another one.")
            if spec.state and (folder / spec.state).is_dir():
                line = _("The node of the cluster was lost. Continuing on another one.")
            yield _log(line)


# ---------------------------------------------------------------- one job on many nodes


def _run_divided(cluster: Cluster, spec: JobSpec, folder: Path, inputs: list[Input]) -> Events:
    """Run a job in parts, as many as the cluster has places for; see `JobSpec.divided`."""
    source, target = (Path(spec.params[name]) for name in spec.divided)
    jobs, outputs = list[Events](), list[Path]()
    for part, lines in divide(source, folder / PARTS, cluster.places):
        own_folder = part.with_suffix("")
        outputs.append(own_folder / target.name)
        paths = dict(zip(spec.divided, (str(part), str(outputs[-1])), strict=True))
        own = replace(spec, params={**spec.params, **paths, "total": lines})
        own_inputs = [*inputs, (str(part), part.name, node.listed(part))]
        jobs.append(_run_on_any(cluster, own, own_folder, own_inputs))
    results = yield from _together(jobs)
    with open(target, "wb") as joined:
        for output in outputs:
            with open(output, "rb") as file:
                shutil.copyfileobj(file, joined)
    return added(results)


def divide(source: Path, folder: Path, most: int) -> list[tuple[Path, int]]:
    """The lines of a file in at most so many files of about equal length, each behind the first
    line: (path, number of lines). Few lines are not divided.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(source, "rb") as file:
        first, begin = file.readline(), file.tell()
        count = sum(1 for _line in file)
        n, length = max(1, min(most, count // LEAST_LINES)), source.stat().st_size - begin
        paths, lines, done = [folder / f"{number}.jsonl" for number in range(n)], [0] * n, 0
        file.seek(begin)
        with ExitStack() as stack:
            parts = [stack.enter_context(open(path, "wb")) for path in paths]
            for part in parts:
                part.write(first)
            for line in file:
                number = min(n - 1, done * n // max(1, length))
                parts[number].write(line)
                lines[number], done = lines[number] + 1, done + len(line)
    return [pair for pair in zip(paths, lines, strict=True) if pair[1] or pair[0] is paths[0]]


def _together(jobs: Sequence[Events]) -> Generator[dict[str, Any], str | None, list[Any]]:
    """Follow jobs in turn; what they have done is reported as a sum. Their results, in order."""
    results: dict[int, Any] = {}
    done: dict[int, float] = {}
    commands: list[str | None] = [None] * len(jobs)
    try:
        while len(results) < len(jobs):
            for number in [n for n in range(len(jobs)) if n not in results]:
                command = None  # as it must be for the first value
                if number in done:
                    command, commands[number] = commands[number], None
                try:
                    payload = jobs[number].send(command)
                except StopIteration as end:
                    results[number] = end.value
                    continue
                done[number] = payload.get("done", done.get(number, 0))
                if "done" in payload:
                    payload = {**payload, "done": sum(done.values())}
                payload = {name: payload[name] for name in payload if name != "part"}
                if (command := (yield payload)) is not None:
                    commands = [command] * len(jobs)
        return [results[number] for number in range(len(jobs))]
    finally:
        for job in jobs:
            job.close()


def added(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The results of parts as one: numbers are added, the rest is that of the first."""
    whole = dict(results[0])
    for result in results[1:]:
        for name, value in result.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                whole[name] = whole.get(name, 0) + value
    return whole


def places(params: Mapping[str, Any], _folder: Path) -> Events:
    """A job target: how many jobs the cluster at `address` has room for, as {"places"}."""
    yield {}
    with closing(Cluster(params["address"])) as cluster:
        return {"places": cluster.places}


class Cluster:
    """A connection to a Ray cluster, in this process alone."""

    def __init__(self, address: str):
        try:
            import ray
        except ImportError as error:
            raise WorkbenchError(_("Ray is not installed."), hint=extras.advice("ray")) from error
        self.ray: Any = ray
        os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "30")
        try:  # ray itself tries for half a minute
            socket.create_connection(_place(address), REACHED).close()
        except OSError as error:
            raise self.unusable(address, error) from error
        for attempt in range(1, ATTEMPTS + 1):
            try:
                ray.init(address, namespace="glossbench", log_to_driver=False)
                return
            except Exception as error:  # also of libraries that ray uses
                if attempt == ATTEMPTS or not isinstance(error, ConnectionAbortedError):
                    raise self.unusable(address, error) from error

    @staticmethod
    def unusable(address: str, error: Exception) -> WorkbenchError:
        return WorkbenchError(
            _(
                "The Ray cluster at {address} cannot be used: {error}",
                address=address,
                error=str(error).strip().splitlines()[0][:300],
            ),
            hint=_(
                "It needs the same versions of Ray, Python and Glossbench, and a Ray client "
                "server: ray start --head --ray-client-server-port=10001."
            ),
        )

    def close(self) -> None:
        with suppress(Exception):
            self.ray.shutdown()

    def node(self, spec: JobSpec) -> Any:
        """An actor for a job, on a node that has room for it."""
        cpus, gpus = self.room
        wants_gpu = gpus and not _asks_for_cpu(spec.params)
        return (
            self.ray.remote(Node)
            .options(
                num_cpus=max(1, min(CPUS, int(min(cpus, default=1)))),
                num_gpus=min(max(gpus), spec.processes) if wants_gpu else 0,
                max_concurrency=3,
            )
            .remote()
        )

    @property
    def room(self) -> tuple[list[float], list[float]]:
        """Processors and GPUs of the nodes that have some."""
        nodes = [each["Resources"] for each in self.ray.nodes() if each["Alive"]]
        cpus, gpus = ([each[name] for each in nodes if each.get(name)] for name in ("CPU", "GPU"))
        return cpus, gpus

    @property
    def places(self) -> int:
        """How many jobs of one process run at a time, on GPUs where there are some."""
        cpus, gpus = self.room
        each = max(1, min(CPUS, int(min(cpus, default=1))))
        return int(sum(gpus)) or max(1, sum(int(cpu // each) for cpu in cpus))

    def get(self, reference: Any, seconds: float | None = None) -> Any:
        """The answer of a node; None if there is none after so many seconds. Raises NodeLost."""
        from ray import exceptions

        try:
            return self.ray.get(reference, timeout=seconds)
        except exceptions.GetTimeoutError:
            return None
        except (exceptions.RayActorError, exceptions.ObjectLostError) as error:
            raise NodeLost(str(error).strip().splitlines()[0]) from error
        except ConnectionError as error:
            raise WorkbenchError(_("The connection to the Ray cluster was lost.")) from error
        except exceptions.RayTaskError as error:
            there: Any = error
            raise there.as_instanceof_cause() from error


class FarJob:
    """A job on one node."""

    def __init__(
        self,
        cluster: Cluster,
        spec: JobSpec,
        folder: Path,
        inputs: list[Input],
    ):
        self.cluster, self.spec, self.folder, self.inputs = cluster, spec, folder, inputs
        self.actor = cluster.node(spec)
        self.stopped = False
        self.next_state = time.monotonic() + STATES

    def go(self) -> Events:
        try:
            about = yield from self.call("about")
            self.check(about)
            yield _log(_("On node {name} of the cluster", name=about["host"] or "–"))
            yield from self.send()
            away = yield from self.call("start", self.there(), self.inputs, str(self.folder))
            finished = yield from self.follow({away: str(self.folder)})
            yield from self.bring()
            if finished.status not in ("done", "stopped"):
                raise EndedThere(finished)
            return finished.result
        finally:
            self.leave()

    def check(self, about: Mapping[str, Any]) -> None:
        if about["version"] != __version__:
            raise WorkbenchError(
                _(
                    "The node has Glossbench {there}, this computer {here}.",
                    there=about["version"],
                    here=__version__,
                ),
                hint=_("Install the same version on both."),
            )

    def there(self) -> dict[str, Any]:
        """The job as the node gets it: without what concerns this computer alone."""
        own = replace(
            self.spec, folder=str(self.folder), run_on="", files=(), divided=(), env={}, project=""
        )
        return own.to_json()

    def call(self, method: str, *values: Any) -> Events:
        """The answer of a method of the node; the cluster may first have to find room."""
        reference = getattr(self.actor, method).remote(*values)
        while (answer := self.cluster.get(reference, 1.0)) is None:
            self.stopped = (yield {}) == "stop" or self.stopped
        return answer

    # ------------------------------------------------------------ files

    def send(self) -> Events:
        """Send the files that the node does not have; other jobs may be sent the same ones."""
        files = {
            sha256: (Path(path) / relative if relative else Path(path), bytes_)
            for path, _name, listed in self.inputs
            for relative, bytes_, sha256 in listed
        }
        rest = list(files)
        while rest:
            missing, rest = yield from self.call("claim", rest)
            if missing:
                total = sum(files[sha256][1] for sha256 in missing)
                yield _log(_("Sending {size} to the cluster", size=size(total)))
            for sha256 in missing:
                yield from self.send_file(sha256, *files[sha256])

    def send_file(self, sha256: str, path: Path, length: int) -> Events:
        for offset in range(0, max(1, length), CHUNK):
            part, last = node.chunk(path, offset), offset + CHUNK >= length
            # one after another: the node answers several calls at once, in any order
            self.cluster.get(self.actor.receive.remote(sha256, part, last))
            self.stopped = (yield {}) == "stop" or self.stopped

    def bring(self) -> Events:
        """Bring the files that the job has written; each is compared with its checksum."""
        files = yield from self.call("files")
        yield from self.fetch(files, "", self.folder)

    def fetch(self, files: list[File], below: str, target: Path) -> Events:
        """Bring files that lie `below` in the folder of the job."""
        for path, length, sha256 in files:
            receiver = Receiver(target / path, sha256)
            for offset in range(0, length, CHUNK):
                receiver.add((yield from self.call("read", below + path, offset)))
            receiver.finish()

    def bring_state(self) -> Events:
        """Bring the latest state of the job, if there is one and it is time."""
        if not self.spec.state or time.monotonic() < self.next_state:
            return
        begun, name = time.monotonic(), self.spec.state
        if files := (yield from self.call("state", name)):
            with scratch.folder("state") as arriving:
                yield from self.fetch(files, f"inputs/{name}/", arriving)

                def fill(draft: Path) -> None:
                    shutil.copytree(arriving, draft, dirs_exist_ok=True)

                owned_folder.replace(self.folder / name, fill)
            self.cluster.get(self.actor.forget_state.remote(name))
        took = time.monotonic() - begun
        self.next_state = time.monotonic() + max(STATES, SHARE * took)

    # ------------------------------------------------------------ the job

    def follow(self, moved: Mapping[str, str]) -> Generator[dict[str, Any], str | None, Any]:
        """Pass on what the job reports, and stop it when asked; its last event."""
        if self.stopped:
            self.cluster.get(self.actor.stop.remote())
        finished: events.Finished | None = None
        while True:
            for message in self.cluster.get(self.actor.heard.remote()):
                if message["type"] == "ended":
                    return finished or self.without_result(message["code"])
                event = _event(relocated(message, moved))
                if isinstance(event, events.Finished):
                    finished = event
                elif isinstance(event, events.Output):
                    yield from self.pass_on(dict(event.payload))
            yield from self.pass_on({})
            yield from self.bring_state()

    def pass_on(self, payload: dict[str, Any]) -> Events:
        command = yield payload
        if command == "stop" and not self.stopped:
            self.stopped = True
            self.cluster.get(self.actor.stop.remote())

    def without_result(self, code: int | None) -> events.Finished:
        return events.Finished(
            "crashed",
            message=_("The worker process ended without a result: {code}.", code=code),
            details=self.cluster.get(self.actor.log.remote()),
        )

    def leave(self) -> None:
        """End the job, and the node's process."""
        with suppress(Exception):
            self.cluster.get(self.actor.close.remote(), 15)
        with suppress(Exception):
            self.cluster.ray.kill(self.actor)


def _place(address: str) -> tuple[str, int]:
    """Host and port of an address."""
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or 10001


def _asks_for_cpu(params: Any) -> bool:
    if not isinstance(params, Mapping):
        return False
    return params.get("device") == "cpu" or any(map(_asks_for_cpu, params.values()))


def _event(message: Mapping[str, Any]) -> events.Event | None:
    try:
        return events.from_json(message)
    except (KeyError, TypeError):
        return None


def _log(line: str) -> dict[str, Any]:
    return {"kind": "log", "line": line}
