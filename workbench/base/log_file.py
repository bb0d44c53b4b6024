"""Append tracebacks to the log file, for processes that have no logger of their own."""

from __future__ import annotations

from pathlib import Path

from workbench.base import paths


def append(text: str) -> Path | None:
    """Append a text; returns the path of the log, or None if it cannot be written."""
    path = paths.log_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except OSError:
        return None
    return path
