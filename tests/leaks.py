"""Detects leaks of tests: threads, child processes, widgets, open project files."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

# Threads that are kept by design: our pool, the monitor of tqdm, the safetensors conversion of
# transformers, debuggers.
KNOWN_THREADS = (
    "glossbench-pool",
    "TMonitor",
    "tqdm_monitor",
    "Thread-auto_conversion",
    "pydevd",
    "asyncio_",
)
KNOWN_WIDGETS = ("QTipLabel", "QDesktopWidget", "QRollEffect", "QAlphaWidget")
PATIENCE = 3.0  # seconds for what is about to end


def snapshot() -> dict[str, dict]:
    """kind → key → words about it."""
    return {
        "thread": _threads(),
        "process": _processes(),
        "widget": _widgets(),
        "open file": _files(),
    }


def left_since(before: dict[str, dict]) -> list[str]:
    """What stands now and did not before, once it has had time to go."""
    end = time.monotonic() + PATIENCE
    while True:
        _let_qt_delete()
        now = snapshot()
        left = [
            f"{kind} {now[kind][key]}"
            for kind in now
            for key in now[kind].keys() - before[kind].keys()
        ]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def _threads() -> dict:
    return {
        thread.ident: thread.name
        for thread in threading.enumerate()
        if not thread.name.startswith(KNOWN_THREADS) and not _is_foreign(thread)
    }


def _is_foreign(thread: threading.Thread) -> bool:
    """Made by C code (torch, Qt) and only passing through Python."""
    return isinstance(thread, threading._DummyThread)


def _processes() -> dict:
    try:
        tasks = os.listdir("/proc/self/task")
        pids = [pid for task in tasks for pid in _children(f"/proc/self/task/{task}/children")]
    except OSError:  # no Linux, or a thread that ended meanwhile
        import psutil

        pids = [child.pid for child in psutil.Process().children()]
    return {pid: f"{pid}: {_command(pid)}" for pid in pids}


def _children(path: str) -> list[int]:
    """Read without buffers and paths of objects: two times in each test, for each thread."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return [int(pid) for pid in os.read(descriptor, 1 << 16).split()]
    finally:
        os.close(descriptor)


def _command(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode(errors="replace")
            .strip()[-200:]
        )
    except OSError:
        return "?"


def _widgets() -> dict:
    if "PySide6.QtWidgets" not in sys.modules:
        return {}
    from PySide6.QtWidgets import QApplication
    from shiboken6 import getCppPointer, isValid

    if QApplication.instance() is None:
        return {}
    result = {}
    for widget in QApplication.topLevelWidgets():
        if (
            isValid(widget)
            and widget.parent() is None
            and type(widget).__name__ not in KNOWN_WIDGETS
        ):
            result[getCppPointer(widget)[0]] = (
                f"{type(widget).__module__}.{type(widget).__name__} "
                f"{widget.objectName() or widget.windowTitle()!r}"
            )
    return result


def _let_qt_delete() -> None:
    if "PySide6.QtWidgets" not in sys.modules:
        return
    from PySide6.QtCore import QEvent
    from PySide6.QtWidgets import QApplication

    if (app := QApplication.instance()) is not None:
        app.processEvents()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _files() -> dict:
    """Open project files with their companions, by descriptor (Linux; nothing elsewhere)."""
    result = {}
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return {}
    for name in names:
        try:
            path = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if ".glossbench" in path.rpartition("/")[2]:
            result[name, path] = path
    return result
