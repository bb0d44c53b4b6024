"""Places of one text found again in a similar one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from difflib import SequenceMatcher

from workbench.text.segment import words
from workbench.text.spans import Span

MAX_WORDS = 5_000  # of a text that is compared word by word; the comparison is quadratic


class Carrying:
    """Carries offsets from `source` to `target`, by the words that both have in the same order."""

    def __init__(self, source: str, target: str):
        self.source, self.target = source, target
        self._words = words(source)
        self._starts = [start for start, _end in self._words]
        self._moves: list[int | None] = [None] * len(self._words)
        if source != target:
            self._match()

    def _match(self) -> None:
        others = words(self.target)
        if max(len(self._words), len(others)) > MAX_WORDS:
            return
        mine = [self.source[start:end] for start, end in self._words]
        theirs = [self.target[start:end] for start, end in others]
        matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
        for matching_block, other, length in matcher.get_matching_blocks():
            for at in range(length):
                self._moves[matching_block + at] = (
                    others[other + at][0] - self._starts[matching_block + at]
                )

    def range(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the text [start, end) is in the target, with all of its words; else None."""
        if self.source == self.target:
            return start, end
        first = max(0, bisect_right(self._starts, start) - 1)
        last = bisect_left(self._starts, end)
        moves = set(self._moves[first:last])
        if len(moves) != 1 or (move := moves.pop()) is None or start + move < 0:
            return None
        moved = start + move, end + move
        return moved if self.target[slice(*moved)] == self.source[start:end] else None

    def span(self, span: Span) -> Span | None:
        """The span in the target, with all of its parts; else None."""
        ranges = [self.range(*part) for part in span.ranges]
        if not all(ranges):
            return None
        known = tuple(range_ for range_ in ranges if range_ is not None)
        parts = known if span.parts else ()
        return replace(span, start=known[0][0], end=known[-1][1], parts=parts, id=None)


def differences(source: str, target: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Ranges of the words of `source` that `target` does not have there, and the reverse."""
    mine, theirs = words(source), words(target)
    if source == target or max(len(mine), len(theirs)) > MAX_WORDS:
        return [], []
    matcher = SequenceMatcher(
        None,
        [source[start:end] for start, end in mine],
        [target[start:end] for start, end in theirs],
        autojunk=False,
    )
    removed, added = list[tuple[int, int]](), list[tuple[int, int]]()
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            continue
        if a < b:
            removed.append((mine[a][0], mine[b - 1][1]))
        if c < d:
            added.append((theirs[c][0], theirs[d - 1][1]))
    return removed, added
