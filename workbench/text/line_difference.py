"""Two versions of a text compared line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

SAME, REMOVED, ADDED = "same", "removed", "added"


@dataclass(frozen=True)
class DifferenceLine:
    """kind: SAME, REMOVED or ADDED."""

    kind: str
    text: str


def compared(before: str, after: str) -> tuple[DifferenceLine, ...]:
    """All lines of both; () if they are equal. An end of line that only one has is a line."""
    return tuple(_lines(before.split("\n"), after.split("\n"))) if before != after else ()


def _lines(old: list[str], new: list[str]) -> Iterator[DifferenceLine]:
    for kind, *(first, end, begin, last) in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            yield from (DifferenceLine(SAME, line) for line in old[first:end])
            continue
        yield from (DifferenceLine(REMOVED, line) for line in old[first:end])
        yield from (DifferenceLine(ADDED, line) for line in new[begin:last])
