"""Worker processes that are forked from a process in which torch is already imported.

Starting a worker takes about five seconds of processor time, nearly all of it for importing torch
and transformers, and journeys start dozens of workers. Here one process imports these libraries
once and forks on request. A forked worker has its own pipes, process group, environment and working
folder, and runs `python -m workbench` from its first line: no module of the program is imported
before the fork. The journey by mouse and the tests of jobs/ start workers as the program does.

    python -m tests.forks SOCKET               the process that forks
    python -m tests.forks -c SOCKET ARGUMENTS  `python -m workbench ARGUMENTS` with forked workers
    python -m tests.forks -r SOCKET CODE ARGUMENTS  `python -c CODE ARGUMENTS`, forked
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
LOG = "log.txt"  # beside the socket
START_LIMIT = 200  # seconds
STREAMS = 3  # stdin, stdout, stderr
# What workers import of other authors; classes of transformers are imported when named.
MODULES = (
    *"numpy onnxruntime psutil regex safetensors.torch torch torch._dynamo tokenizers".split(),
    *("onnxscript.function_libs.torch_lib.ops", "torch.onnx._internal.exporter._core"),
    *("captum.attr", "jinja2.sandbox", "matplotlib.pyplot", "platformdirs.unix", "torch.export"),
    *("huggingface_hub.hf_api", "huggingface_hub.file_download"),
)
SETTINGS = "huggingface_hub.constants"  # reads the environment when it is imported
CLASSES = "AutoConfig AutoTokenizer BertForMaskedLM GPT2LMHeadModel".split()


class Process:
    """What `workbench.jobs.process` uses of `subprocess.Popen`."""

    def __init__(self, address, command, *, stdin, stdout, stderr, env, process_group):
        assert command[:4] == [sys.executable, "-P", "-m", "workbench"], command
        assert (stdin, stdout, process_group) == (subprocess.PIPE, subprocess.PIPE, 0)
        their_input, our_input = os.pipe()
        our_output, their_output = os.pipe()
        self.stdin, self.stdout = os.fdopen(our_input, "wb"), os.fdopen(our_output, "rb")
        self._code: int | None = None
        self._lock = threading.Lock()
        request = {"arguments": command[4:], "env": dict(env), "cwd": os.getcwd()}
        self._line = _ask(address, request, [their_input, their_output, stderr.fileno()])
        for descriptor in (their_input, their_output):
            os.close(descriptor)
        self.pid = int(self._line.recv(100))

    def wait(self) -> int:
        with self._lock:
            if self._code is None:
                answer = self._line.recv(100)
                self._code = int(answer) if answer else -signal.SIGKILL
                self._line.close()
        return self._code


def _ask(address: str, request: dict, descriptors: list[int]) -> socket.socket:
    """Request a process with these streams; it sends its id, and its return code at the end."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(address)
    socket.send_fds(line, [b"fork"], descriptors)
    body = io.BytesIO(json.dumps(request).encode())
    while chunk := body.read(60_000):
        line.send(chunk)
    line.send(b"run")
    return line


def _run(address: str, code: str, arguments: list[str]) -> int:
    """Run the code in a forked process with the streams of this one; returns its return code."""
    request = {"code": code, "arguments": arguments, "env": dict(os.environ), "cwd": os.getcwd()}
    with _ask(address, request, [0, 1, 2]) as line:
        line.recv(100)
        return int(line.recv(100) or -signal.SIGKILL)


def use(address: str) -> SimpleNamespace:
    """What takes the place of the module `subprocess` in `workbench.jobs.process`."""

    def start(command, **named):
        return Process(address, command, **named)

    return SimpleNamespace(Popen=start, PIPE=subprocess.PIPE)


def script(address: str, code: str) -> list[str]:
    """`python -c CODE`, forked if there is an address."""
    if not address:
        return [sys.executable, "-c", code]
    return [sys.executable, "-m", "tests.forks", "-r", address, code]


def command(address: str) -> list[str]:
    """`python -m workbench`, with forked workers if there is an address."""
    if not address:
        return [sys.executable, "-m", "workbench"]
    return [sys.executable, "-m", "tests.forks", "-c", address]


class Server:
    """The process that forks. Libraries are imported in the environment that workers have.

    `prefix` is a command that runs the process, such as strace with its options. The address
    exists as soon as the process is ready.
    """

    def __init__(self, folder: Path, *, env: Mapping[str, str] = os.environ, prefix=(), wait=True):
        from workbench.base.process_start import TELEMETRY_OFF
        from workbench.jobs.process import OFFLINE, TEXT

        self.address = str(folder / "socket")
        log = folder / LOG
        paths = [str(ROOT), env.get("PYTHONPATH", "")]
        own = {**OFFLINE, **TEXT, **TELEMETRY_OFF, "PYTHONPATH": os.pathsep.join(paths)}
        with open(log, "wb") as errors:
            self._process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "tests.forks", self.address],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**env, **own},
                cwd=ROOT,
            )
        assert not wait or self._process.stdout.readline() == b"ready\n", log.read_text()

    def close(self) -> None:
        self._process.stdin.close()  # it ends when nobody holds its input
        self._process.wait(30)
        self._process.stdout.close()


def wait_for(address: str) -> None:
    """Wait until the process that was started by another one is ready to fork."""
    end = time.monotonic() + START_LIMIT
    while not os.path.exists(address):
        log = Path(address).with_name(LOG).read_text()
        assert time.monotonic() < end, f"no process that forks after {START_LIMIT} s: {log}"
        time.sleep(0.05)


# ---------------------------------------------------------------- in the process that forks


def _serve(address: str) -> dict:
    """Fork at each request. Returns the request in the forked process; exits in this one."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(address + "0")
    listening.listen(64)
    os.rename(address + "0", address)
    heard, wake = os.pipe()
    for end in (heard, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    os.write(1, b"ready\n")
    lines: dict[int, socket.socket] = {}  # process id → its client
    while True:
        ready, _, _ = select.select([0, listening, heard], [], [])
        if 0 in ready:
            for pid in lines:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os._exit(0)
        if heard in ready:
            os.read(heard, 4096)
            _report_ends(lines)
        if listening not in ready:
            continue
        line, _ = listening.accept()
        request, descriptors = _receive(line)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setpgid(0, 0)
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
            for descriptor in (heard, wake, *descriptors):
                os.close(descriptor)
            for connection in (listening, line, *lines.values()):
                connection.close()
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        lines[pid] = line
        line.send(str(pid).encode())


def _receive(line: socket.socket) -> tuple[dict, list[int]]:
    _word, descriptors, _flags, _ = socket.recv_fds(line, 100, STREAMS)
    body = b""
    while (chunk := line.recv(65_536)) != b"run":
        body += chunk
    return json.loads(body), descriptors


def _report_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        line = lines.pop(pid)
        with contextlib.suppress(OSError):  # the client may have ended
            line.send(str(os.waitstatus_to_exitcode(status)).encode())
        line.close()


def _become(request: dict) -> None:
    """Continue as `python -m workbench …` or `python -c CODE …` would have begun."""
    import importlib
    import runpy

    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    importlib.reload(sys.modules[SETTINGS])
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, 1, encoding="utf-8", closefd=False)
        for number, mode in enumerate("rww")
    )
    code = request.get("code")
    sys.argv = ["-c" if code else "workbench", *request["arguments"]]
    given = request["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [request["cwd"], *(folder for folder in given if folder not in sys.path)]
    if code:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_module("workbench", run_name="__main__", alter_sys=True)


def main(arguments: list[str]) -> None:
    if arguments[0] == "-c":
        from workbench import __main__
        from workbench.jobs import process

        process.subprocess = use(arguments[1])
        sys.exit(__main__.main(arguments[2:]))
    if arguments[0] == "-r":
        sys.exit(_run(arguments[1], arguments[2], arguments[3:]))
    import gc
    import importlib

    import transformers

    from tests import operators

    for module in MODULES:
        importlib.import_module(module)
    for name in CLASSES:
        getattr(transformers, name)
    operators.make()
    gc.freeze()  # the collector would copy every page of the parent
    _become(_serve(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
