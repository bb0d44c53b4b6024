"""Entry point of the child: `python -P -m workbench worker FOLDER`, a job (`job.json`) or a host
(`host.json`).

`--spare MODULES [--report TARGET] [--ahead TARGET ARGUMENT]` instead of a folder imports the
modules, loads what is asked, and waits for work.
To run a job by hand: `python -P -m workbench worker runs/0012` (keep standard input open: its end
means stop).
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from workbench.base import peers, processors, scratch
from workbench.base.i18n import _
from workbench.jobs import events, serving
from workbench.jobs.channel import Channel, Commands, take_over
from workbench.jobs.peers import Peers
from workbench.jobs.spec import JobSpec
from workbench.jobs.target import failure, resolve

NICE, LOWEST = 10, 19  # of every job; of one in the background
Send = Callable[[events.Event], None]


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0 unless the job failed."""
    if not arguments:
        print(_("worker needs the folder of a job"), file=sys.stderr)
        return 2
    incoming, outgoing = take_over()
    _behave(Path(arguments[0]))
    commands = Commands(incoming)
    _listen_to_interrupts(commands)
    scratch.sweep()
    if arguments[0] == "--spare":
        return _spare(arguments[1:], outgoing, commands)
    return _serve(Path(arguments[0]), outgoing, commands)


def _behave(folder: Path) -> None:
    """Run at lower priority than the window, unless the job is a server that others wait for, with
    one compute thread per physical core.
    """
    if hasattr(os, "nice") and not _is_foreground(folder):
        with suppress(OSError):
            os.nice(NICE)
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = str(processors.physical_cores())
    # Passive waiting: on a busy machine, spinning threads took 3 times the CPU and wall time of a
    # training step.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")


def _is_foreground(folder: Path) -> bool:
    try:
        return JobSpec.read(folder / "job.json").foreground
    except (OSError, ValueError, TypeError):  # a spare, or reported when it runs
        return False


def _listen_to_interrupts(commands: Commands) -> None:
    """Handle Ctrl+C: the first stops and keeps the best result, the second cancels."""

    def heard(_number: int, _frame: object) -> None:
        commands.cancel() if commands.ending else commands.stop()

    signal.signal(signal.SIGINT, heard)


def _serve(folder: Path, outgoing: int, commands: Commands) -> int:
    if scratch.join(folder):
        commands.discard_if_orphaned(partial(scratch.remove, folder))
    try:
        if peers.number():
            return _peer(folder, Channel(outgoing), commands)
        if (folder / "host.json").is_file():
            return serving.serve(folder, Channel(outgoing), commands)
        return _job(folder, Channel(outgoing, _record(folder)), commands)
    finally:
        if commands.orphaned:
            scratch.remove(folder)


def _record(folder: Path) -> Path | None:
    return folder / "events.jsonl" if folder.is_dir() else None


# ---------------------------------------------------------------- running a job


def _job(folder: Path, channel: Channel, commands: Commands) -> int:
    channel.send(events.Started(os.getpid(), datetime.now(UTC).isoformat(timespec="seconds")))
    _give_way(folder)
    finished = run_target(folder, channel.send, commands, limited=_exits_when_silent)
    faulthandler.cancel_dump_traceback_later()
    with suppress(OSError):
        write_result(folder, finished)
    channel.send(finished)
    commands.finished.set()
    channel.close()
    return 0 if finished.status in ("done", "stopped", "cancelled") else 1


def _peer(folder: Path, channel: Channel, commands: Commands) -> int:
    """Run the job as one of several processes: only a failure is reported, and to the first."""
    commands.discard_if_orphaned(lambda: None)
    finished = run_target(folder, lambda _event: None, commands)
    channel.send(finished)
    commands.finished.set()
    return 0 if finished.status in ("done", "stopped") else 1


def _give_way(folder: Path) -> None:
    """Run a background job of a device at the lowest priority, so that others get the processor."""
    with suppress(OSError, ValueError, KeyError):  # a damaged job file is reported when it runs
        spec = JobSpec.read(folder / "job.json")
        if spec.background and spec.device and hasattr(os, "nice"):
            os.nice(LOWEST - os.nice(0))


class StopRequest(Protocol):
    """Reports whether the job was asked to end."""

    @property
    def ending(self) -> str:
        """ "", "stop", "cancel" or "lost" (the parent has exited, which counts as stop)."""
        ...


def _exits_when_silent(send: Send, seconds: float) -> Send:
    """`send`; the process exits if it is not called for so many seconds.

    The lines that its threads are running are then in its log. This works without the GIL, so it
    ends a target that waits in a library as well.
    """

    def sent(event: events.Event) -> None:
        send(event)
        faulthandler.dump_traceback_later(seconds, exit=True)

    faulthandler.dump_traceback_later(seconds, exit=True)
    return sent


def run_target(
    folder: Path,
    send: Send,
    commands: StopRequest,
    *,
    limited: Callable[[Send, float], Send] = lambda send, _seconds: send,
) -> events.Finished:
    """Run the job of `folder` to its end; every exception becomes a Finished event.

    `commands.ending` is checked after each object. `limited(send, seconds)` applies the time limit
    of the job, if it has one.
    """

    def abort(finished: events.Finished) -> None:
        with suppress(OSError):
            write_result(folder, finished)
        send(finished)
        os._exit(1)

    try:
        spec = JobSpec.read(folder / "job.json")
        if spec.threads:
            os.environ["OMP_NUM_THREADS"] = str(spec.threads)
        send = limited(send, spec.silent) if spec.silent else send
        if spec.run_on:
            return _run_far(spec, folder, send, commands)
        with Peers(folder, 1 if peers.number() else spec.processes, abort) as others:
            try:
                return _drive(resolve(spec.target)(spec.params, folder), send, commands)
            except BaseException as error:
                return others.failure(error) or failure(error)
    # includes SystemExit raised by a library: the parent must be informed
    except BaseException as error:
        return failure(error)


def _run_far(spec: JobSpec, folder: Path, send: Send, commands: StopRequest) -> events.Finished:
    from workbench.jobs import cluster

    try:
        return _drive(cluster.run(spec, folder), send, commands)
    except cluster.EndedThere as end:
        return end.finished


def _drive(
    target: Generator[dict[str, Any], str | None, dict[str, Any] | None],
    send: Callable[[events.Event], None],
    commands: StopRequest,
) -> events.Finished:
    stopping = ""  # reason for stopping: "stop" or "lost"
    try:
        item = next(target)
        while True:
            if item:
                send(events.Output(item))
            if commands.ending == "cancel":
                target.close()
                return events.Finished("cancelled")
            if commands.ending and not stopping:
                stopping = commands.ending
                item = target.send("stop")
            else:
                item = next(target)
    except StopIteration as end:
        status = {"": "done", "lost": "interrupted"}.get(stopping, "stopped")
        return events.Finished(status, end.value or {})


def write_result(folder: Path, finished: events.Finished) -> None:
    """Write `result.json` atomically."""
    draft = folder / f"result.{os.getpid()}.tmp"
    draft.write_text(json.dumps(events.to_json(finished), indent=1, default=str), encoding="utf-8")
    os.replace(draft, folder / "result.json")


# ---------------------------------------------------------------- spare workers


def _spare(arguments: list[str], outgoing: int, commands: Commands) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="?", default="")
    parser.add_argument("--report", default="")
    parser.add_argument("--ahead", nargs=2, default=())
    options = parser.parse_args(arguments)
    channel = Channel(outgoing)
    for module in filter(None, options.modules.split(",")):
        with suppress(Exception):  # reported by the job that needs it
            importlib.import_module(module)
    try:
        report = resolve(options.report)() if options.report else {}
    except Exception as error:
        channel.write({"type": "spare", "problem": failure(error).message})
        return 1
    if options.ahead:
        with suppress(Exception):  # reported by the job that needs it
            resolve(options.ahead[0])(options.ahead[1])
    channel.write({"type": "spare", "report": report})
    setup = commands.next()
    if setup is None:
        return 0
    return _serve(_move_into(setup), outgoing, commands)


def _move_into(setup: Mapping[str, Any]) -> Path:
    """Redirect output to the log of that folder."""
    folder = Path(setup["folder"])
    log = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 2)
    os.dup2(log, 1)
    os.close(log)
    return folder
