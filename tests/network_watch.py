"""Record what a process and its children ask of the network, and which files they create.

Python code is observed through an audit hook in a `sitecustomize` module, native code through
strace if it is permitted.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOOK = """
import os, sys

_log = os.open(os.environ["NETWORK_WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKUPS = (
    "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"
)
_LOCAL = (None, "", "localhost", "127.0.0.1", "::1", b"localhost", b"127.0.0.1", b"::1")

def _hook(event, args):
    if event in _CONNECTS and isinstance(args[1], tuple) and args[0].family in (2, 10):
        host = args[1][0]
    elif event in _LOOKUPS:
        host = args[0][0] if isinstance(args[0], tuple) else args[0]
    else:
        return
    if host not in _LOCAL:
        os.write(_log, f"{event} {host} in {sys.argv}\\n".encode())

sys.addaudithook(_hook)
"""
# Set on build servers and by some users; they disable telemetry or the network and would hide bugs.
HIDING = (
    "CI",
    "GITHUB_ACTIONS",
    "TF_BUILD",
    "ORT_RUNNING_UNIT_TESTS",
    "ORT_DISABLE_TELEMETRY",
    "DO_NOT_TRACK",
    "HF_HUB_DISABLE_TELEMETRY",
    "DISABLE_TELEMETRY",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "HF_HOME",
    "HF_HUB_CACHE",
)
_CALL = re.compile(r"\b(?:connect|sendto|sendmsg|sendmmsg)\(")
_INET = re.compile(
    r"sin6?_port=htons\((?P<port>\d+)\).*?"
    r'(?:inet_addr\("(?P<v4>[^"]+)"\)|inet_pton\(AF_INET6, "(?P<v6>[^"]+)")'
)


class Watch:
    """Runs programs with a private home folder below `folder` and records what they do."""

    def __init__(self, folder: Path):
        self.home, self.audit_log, self.trace = (
            folder / "home",
            folder / "audit.log",
            folder / "trace.log",
        )
        self.home.mkdir(parents=True)
        (folder / "tmp").mkdir()
        (folder / "hook").mkdir()
        (folder / "hook" / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
        plain = {name: value for name, value in os.environ.items() if name not in HIDING}
        self.env = {
            **plain,
            "HOME": str(self.home),
            **{
                f"XDG_{name}_HOME": str(self.home / name.lower())
                for name in ("CONFIG", "DATA", "CACHE", "STATE")
            },
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": os.pathsep.join([str(folder / "hook"), str(ROOT)]),
            "NETWORK_WATCH_LOG": str(self.audit_log),
            "QT_QPA_PLATFORM": "offscreen",
        }
        self.folder = folder

    def python(self, *arguments: object, timeout: float = 240) -> str:
        """Run this Python with `arguments`; returns its standard output. Fails if it exits with an
        error.
        """
        done = subprocess.run(
            [*self.tracing(), sys.executable, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def tracing(self) -> list[str]:
        """The command that traces another; empty if tracing is not possible here."""
        return [] if why_no_trace() else [*STRACE, "-A", "-o", str(self.trace)]

    def from_python(self) -> list[str]:
        """Connections and look-ups that Python code made, one line each."""
        if not self.audit_log.exists():
            return []
        return self.audit_log.read_text(encoding="utf-8").splitlines()

    def from_native_code(self) -> list[str]:
        """System calls that reach beyond this computer or ask a name server, one line each."""
        if not self.trace.exists():
            return []
        lines = self.trace.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if _CALL.search(line) and leaves_the_computer(line)]

    def files(self) -> set[str]:
        """Files below the home folder and the folder for temporary files, relative to `folder`."""
        result = [*self.home.rglob("*"), *(self.folder / "tmp").rglob("*")]
        return {item.relative_to(self.folder).as_posix() for item in result if not item.is_dir()}


def leaves_the_computer(line: str) -> bool:
    """Whether a line of strace names an address other than loopback, or any name server."""
    if "AF_UNIX" in line:
        return "resolve" in line  # systemd-resolved answers name look-ups on sockets with this name
    match = _INET.search(line)
    if match is None:
        return False
    address = ipaddress.ip_address(match["v4"] or match["v6"])
    return match["port"] == "53" or not (address.is_loopback or address.is_unspecified)


STRACE = (
    "strace",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-s",
    "200",
    "-e",
    "trace=connect,sendto,sendmsg,sendmmsg",
)


@cache
def why_no_trace() -> str:
    """Why native code cannot be traced here; empty if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run([*STRACE, "-o", os.devnull, "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()}"
