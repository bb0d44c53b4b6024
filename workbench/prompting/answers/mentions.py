"""Quoted strings → code point ranges of the text that they are quoted from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import regex

from workbench.text.segment import words

ALL, FIRST, ORDER = "all", "first", "order"  # which occurrences, `prompting.spec.MENTIONS`
MAX_QUOTE_CHARS = 2_000  # of a quoted string; longer ones are not looked for
MAX_OCCURRENCES = 1_000  # of one quoted string that become spans

Range = tuple[int, int]


class Places:
    """Finds quoted strings in a text.

    White space is compared as one space; everything else exactly, then, if nothing is equal,
    without case. Occurrences that begin and end at word boundaries are preferred: others count only
    if there are none of these.
    """

    def __init__(self, text: str):
        self.text = text
        offsets = words(text)
        self._starts = sorted({start for start, _end in offsets})
        self._ends = sorted({end for _start, end in offsets})
        self._known: dict[str, tuple[Range, ...]] = {}

    def of(self, quote: str) -> tuple[Range, ...]:
        """All occurrences that do not overlap, in order."""
        if quote not in self._known:
            self._known[quote] = self._search(quote)
        return self._known[quote]

    def _search(self, quote: str) -> tuple[Range, ...]:
        parts = quote.split()
        if not parts or len(quote) > MAX_QUOTE_CHARS:
            return ()
        pattern = r"\s+".join(map(regex.escape, parts))
        for flags in (0, regex.IGNORECASE):
            inside: list[Range] = []
            whole: list[Range] = []
            for match in regex.finditer(pattern, self.text, flags):
                (whole if self._is_whole(*match.span()) else inside).append(match.span())
                if len(whole) == MAX_OCCURRENCES:
                    break
            if whole or inside:
                return tuple(whole or inside[:MAX_OCCURRENCES])
        return ()

    def _is_whole(self, start: int, end: int) -> bool:
        return _has(self._starts, start) and _has(self._ends, end)


def place(
    places: Places, quotes: Sequence[tuple[str, str]], mentions: str = ALL
) -> tuple[tuple[tuple[int, int, str], ...], tuple[str, ...]]:
    """The ranges of quoted strings, each with its label, and the strings that are not in the text.

    quotes: (string, label) in the order of the reply. mentions: ALL occurrences of a string; FIRST;
    or ORDER, where a string stands for its first occurrence after that of the string before it, and
    a repeated one for the next one.
    """
    ranges: dict[tuple[int, int, str], None] = {}
    unplaced: list[str] = []
    at = 0  # where the string before begins
    for quote, label in quotes:
        occurrences = places.of(quote)
        if not occurrences:
            unplaced.append(quote)
            continue
        chosen: Iterator[Range] | Sequence[Range] = occurrences
        if mentions == FIRST:
            chosen = occurrences[:1]
        elif mentions == ORDER:
            free = [pair for pair in occurrences if (*pair, label) not in ranges]
            later = next((pair for pair in free if pair[0] >= at), None)
            # A string that was forgotten and added at the end is before the others.
            chosen = [later or next(iter(free), occurrences[0])]
            at = chosen[0][0]
        ranges |= dict.fromkeys((*pair, label) for pair in chosen)
    return tuple(sorted(ranges)), tuple(unplaced)


def _has(offsets: Sequence[int], offset: int) -> bool:
    at = bisect_left(offsets, offset)
    return at < len(offsets) and offsets[at] == offset
