"""Start one child process, exchange lines with it, stop it, kill it with all its descendants.

Three threads per child: one reads its lines, one writes to it, one waits for its end. `stop`,
`cancel`, `send` and `kill` may be called from any thread and never block.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.process_start import TELEMETRY_OFF

OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
TEXT = {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
SAFE = {"PYTHONSAFEPATH": "1"}  # for children of the child, what -P is for the child
LOG_LINES = 40


@dataclass(frozen=True)
class Grace:
    """Timeouts for the end of a child, in seconds."""

    stop: float = 60.0  # terminated after this time without a message since stop
    stop_limit: float = 600.0  # total after stop: long enough to save a large model
    cancel: float = 5.0  # after cancel, then terminated
    kill: float = 3.0  # after terminate, then killed
    linger: float = 10.0  # after its final message, then terminated


class Child:
    """`python -P -m workbench worker …` with a bidirectional channel of JSON lines.

    `on_message(dict)` and `on_end(return code)` are called on threads of this class; `on_end` last
    and
    only once. The return code is negative for a signal, None if the process could not be started.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        on_message: Callable[[dict[str, Any]], None],
        on_end: Callable[[int | None], None],
        log: Path | None = None,
        env: Mapping[str, str] | None = None,
        grace: Grace | None = None,
    ):
        self.arguments, self.log, self.grace = tuple(arguments), log, grace or Grace()
        self.on_message, self.on_end = on_message, on_end
        self.problem = ""  # why it could not be started
        self._env = dict(env or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # None: end of input
        self._lock = threading.Lock()  # never held during a blocking call
        self._unwanted = False  # killed, possibly before the process existed
        self._over = False  # listeners can no longer be replaced
        self._ended = threading.Event()
        self._heard = time.monotonic()
        self._pressing: set[str] = set()
        self._work: dict[str, Any] | None = None  # the work assigned to a running spare

    # ------------------------------------------------------------ from any thread

    def start(self) -> Child:
        """Start the child; a spare that is already running is given its work."""
        if self._work is not None:
            self.send(self._work)
        else:
            threading.Thread(target=self._supervise, name="glossbench-job", daemon=True).start()
        return self

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._ended.wait(timeout)

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue one line for the child's standard input. It is not an error if the child has ended.

        A thread writes it, because a child that is suspended or swapped out may not read for
        minutes.
        """
        self._unsent.put(json.dumps(message).encode() + b"\n")

    def stop(self) -> None:
        """Ask it to keep its best result and end.

        It is terminated if it sends no messages, then killed.
        """
        self.send({"type": "stop"})
        self._escalate("stop", self.grace.stop, self.grace.stop_limit)

    def cancel(self) -> None:
        """Ask it to end without a result. It is terminated soon if it does not."""
        self.send({"type": "cancel"})
        self._escalate("cancel", self.grace.cancel, self.grace.cancel)

    def expect_end(self) -> None:
        """The final message was received; the process is terminated if it does not exit."""
        self._escalate("end", self.grace.linger, self.grace.linger)

    def hand_over(
        self,
        work: dict[str, Any],
        on_message: Callable[[dict[str, Any]], None],
        on_end: Callable[[int | None], None],
    ) -> bool:
        """Replace the listener;

        `start` then assigns the work. Returns False if the child has already ended.
        """
        with self._lock:
            if self._over:
                return False
            self.on_message, self.on_end, self._work = on_message, on_end, work
            return True

    def kill(self) -> None:
        """Kill the process and all its descendants immediately."""
        # read after `_process` is set, so either this thread or the starting one kills it
        self._unwanted = True
        if (process := self._process) and not self.ended:
            _kill_tree(process, force=True)

    # ------------------------------------------------------------ on its own threads

    def _supervise(self) -> None:
        try:
            process = self._start()
        except OSError as error:
            self.problem = f"{error.strerror or error} ({sys.executable})"
            self._finish(None)
            return
        reader = threading.Thread(
            target=self._read, args=(process,), name="glossbench-job-lines", daemon=True
        )
        writer = threading.Thread(
            target=self._write, args=(process,), name="glossbench-job-commands", daemon=True
        )
        reader.start()
        writer.start()
        code = process.wait()
        _kill_group(process.pid)  # a descendant may hold the channel open
        self._unsent.put(None)
        reader.join(10)
        writer.join(10)
        self._finish(code)

    def _start(self) -> subprocess.Popen[bytes]:
        if self.log:
            self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log or os.devnull, "ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "workbench", "worker", *self.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self._environment(),
                **_apart(),
            )
        self._process = process
        if self._unwanted:
            _kill_tree(process, force=True)
        return process

    def _environment(self) -> dict[str, str]:
        """A job may request network access, for example for a download; telemetry is off for every
        job. Libraries that import matplotlib let it keep its cache of fonts in our own folder.
        """
        fonts = {"MPLCONFIGDIR": str(paths.cache_folder() / "matplotlib")}
        own = {**OFFLINE, **TEXT, **self._env, **TELEMETRY_OFF, **SAFE}
        return {**fonts, **os.environ, **own, "PYTHONPATH": _python_path()}

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with suppress(OSError, ValueError), process.stdin as pipe:  # it may have ended
            while (line := self._unsent.get()) is not None:
                pipe.write(line)
                pipe.flush()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._heard = time.monotonic()
                self.on_message(_parsed(line))

    def _finish(self, code: int | None) -> None:
        with self._lock:
            self._over = True
        try:
            self.on_end(code)
        finally:
            self._ended.set()

    def _escalate(self, why: str, silent: float, limit: float) -> None:
        with self._lock:
            if why in self._pressing:
                return
            self._pressing.add(why)
        threading.Thread(
            target=self._press, args=(silent, limit), name="glossbench-job-grace", daemon=True
        ).start()

    def _press(self, silent: float, limit: float) -> None:
        """Terminate, then kill, after the timeout."""
        pressed_at = time.monotonic()
        while not self._ended.wait(0.1):
            now = time.monotonic()
            if now - max(pressed_at, self._heard) >= silent or now - pressed_at >= limit:
                break
        if (process := self._process) and not self._ended.is_set():
            _kill_tree(process, force=False)
            if not self._ended.wait(self.grace.kill):
                _kill_tree(process, force=True)


def is_worker(pid: int) -> bool:
    """Whether a process with this id runs and is a worker, of any window."""
    import psutil

    with suppress(psutil.Error):
        return "worker" in psutil.Process(pid).cmdline()
    return False


def last_lines(log: Path, count: int = LOG_LINES) -> str:
    """The end of a log file, "" if there is none."""
    try:
        with open(log, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64_000))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-count:])


def _parsed(line: bytes) -> dict[str, Any]:
    """A line that is not a JSON object belongs to the log: something wrote to stdout directly."""
    try:
        raw = json.loads(line)
    except ValueError:
        raw = None
    return (
        raw
        if isinstance(raw, dict)
        else {"type": "log", "line": line.decode("utf-8", "replace").rstrip()}
    )


def _python_path() -> str:
    """The folder that contains this package, first in the path, so that the child runs the same
    code.
    """
    here = str(Path(__file__).resolve().parents[2])
    rest = [
        part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != here
    ]
    return os.pathsep.join([here, *rest])


def _apart() -> dict[str, Any]:
    """A process group, so that Ctrl+C in a terminal only reaches us and the tree can be killed as
    one.

    Not a session: Linux schedules sessions as groups (autogroup), which would make niceness
    ineffective.
    """
    if sys.platform == "win32":
        flags = (
            subprocess.CREATE_NEW_PROCESS_GROUP
            | subprocess.BELOW_NORMAL_PRIORITY_CLASS
            | subprocess.CREATE_NO_WINDOW
        )
        return {"creationflags": flags}
    return {"process_group": 0}


def _kill_group(pid: int) -> None:
    if sys.platform != "win32":
        import signal

        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _kill_tree(process: subprocess.Popen[bytes], *, force: bool) -> None:
    """Terminate (or kill) the process and all its descendants, deepest first."""
    import psutil

    try:
        root = psutil.Process(process.pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for item in tree:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if force:
                item.kill()
            else:
                item.terminate()
