"""Recorded lines in `records/`: read, write, compare."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / "records"
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 2e-3  # floats differ in the last digits between processors and builds of torch
HINT = "If this change is intended: python -m tests.golden.make {name}"


def write(name: str, lines: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


def read(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def difference(name: str, lines: Sequence[str]) -> str:
    """What differs from the record, one line each, "-" recorded, "+" now; "" if nothing does."""
    recorded = read(name)
    known = {_without_numbers(line): line for line in recorded}
    now = [_recorded_if_close(line, known) for line in lines]
    changed = [
        line
        for line in difflib.unified_diff(recorded, now, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    return "\n".join([*changed, HINT.format(name=name)]) if changed else ""


def _without_numbers(line: str) -> str:
    return NUMBER.sub("#", line)


def _recorded_if_close(line: str, known: dict[str, str]) -> str:
    """The recorded line if it differs from `line` only by rounding."""
    recorded = known.get(_without_numbers(line), line)
    pairs = zip(NUMBER.findall(line), NUMBER.findall(recorded), strict=True)
    close = all(abs(float(now) - float(then)) <= TOLERANCE for now, then in pairs)
    return recorded if close else line
