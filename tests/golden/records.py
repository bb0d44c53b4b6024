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
    changed = _differences(recorded, list(lines))
    return "\n".join([*changed, HINT.format(name=name)]) if changed else ""


def _differences(recorded: list[str], now: list[str]) -> list[str]:
    """Lines are aligned without their numbers, which then differ by more than rounding or not."""
    texts = [[NUMBER.sub("#", line) for line in lines] for lines in (recorded, now)]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    changed = []
    for tag, start, end, now_start, now_end in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(recorded[start:end], now[now_start:now_end], strict=True)
            pairs = [pair for pair in pairs if not _is_close(*pair)]
            changed += [text for pair in pairs for text in (f"- {pair[0]}", f"+ {pair[1]}")]
        else:
            changed += [f"- {line}" for line in recorded[start:end]]
            changed += [f"+ {line}" for line in now[now_start:now_end]]
    return changed


def _is_close(recorded: str, now: str) -> bool:
    pairs = zip(NUMBER.findall(recorded), NUMBER.findall(now), strict=True)
    return all(abs(float(then) - float(value)) <= TOLERANCE for then, value in pairs)
