"""Find in a text. Positions are code points of the text as it is stored."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import regex

from workbench.text.segment import SPACELESS

MOST = 100_000  # matches after which the search ends
BLOCK = 50_000  # code points that are searched at a time
# Letters, digits and marks that join a word; those of scripts without spaces never do.
_JOINS = regex.compile(rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{SPACELESS}]]", regex.V1)
_SPACES = ("\u00a0", "\u202f", "\n", "\t")  # found by a space


def _positions() -> array:
    return array("q")


@dataclass(frozen=True)
class Found:
    """Matches in order, none overlapping another: code points [starts[i], ends[i]).

    `cut`: there are more than `MOST`.
    """

    starts: array = field(default_factory=_positions)
    ends: array = field(default_factory=_positions)
    cut: bool = False

    def __len__(self) -> int:
        return len(self.starts)


def find(
    text: str,
    wanted: str,
    *,
    match_case: bool = False,
    whole_words: bool = False,
    most: int = MOST,
    pause: Callable[[], None] = lambda: None,
) -> Found:
    """All places of `wanted`, composed or decomposed; a space also finds a line break or a tab.

    A million characters take about 0.1 s; `pause` is called every few milliseconds.
    """
    spaced = " " in wanted

    def prepared(part: str) -> str:
        return _prepared(part, match_case=match_case, spaced=spaced)

    forms = {unicodedata.normalize(form, wanted) for form in ("NFC", "NFD")} | {wanted}
    forms = {prepared(one) for one in forms} - {""}
    longest = max((len(one) for one in forms), default=0)
    starts, ends, after = array("q"), array("q"), 0
    for first in range(0, len(text) if forms else 0, BLOCK):
        part = prepared(text[first : first + BLOCK + longest - 1])
        for start, end in _in_part(part, forms):
            start, end = first + start, first + end
            if start < after or (whole_words and not _is_whole(text, start, end)):
                continue
            if len(starts) == most:
                return Found(starts, ends, cut=True)
            starts.append(start)
            ends.append(end)
            after = end
        pause()
    return Found(starts, ends)


def _prepared(text: str, *, match_case: bool, spaced: bool) -> str:
    """One code point for each of `text`; `lower` alone would make two of a dotted capital I."""
    if not match_case:
        text = text.replace("İ", "i").lower().replace("ς", "σ")
    if spaced:
        for sign in _SPACES:
            text = text.replace(sign, " ")
    return text


def _in_part(part: str, forms: set[str]) -> list[tuple[int, int]]:
    """All places that begin within a block, in order; they may overlap."""
    places = []
    for one in forms:
        at = part.find(one)
        while 0 <= at < BLOCK:
            places.append((at, at + len(one)))
            at = part.find(one, at + 1)
    return sorted(places) if len(forms) > 1 else places


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on across either end."""
    before = start > 0 and _joins(text[start - 1]) and _joins(text[start])
    after = end < len(text) and _joins(text[end - 1]) and _joins(text[end])
    return not before and not after


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    return _JOINS.match(char) is not None


def marks(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Where a short text has the words of a full-text search, in order, none overlapping another.

    As the search does it: without case and diacritics, whole words, the last one also as the
    beginning of a word. A query without letters is looked for as it is.
    """
    words = [word.replace('"', "") for word in query.split()]
    words = [word for word in words if any(char.isalnum() or char > "\uffff" for char in word)]
    if not words:
        found = find(text, query.strip())
        return tuple(zip(found.starts, found.ends, strict=True))
    plain, places = _without_marks(text)
    open_end = not query[-1].isspace()
    spans: list[tuple[int, int]] = []
    for number, word in enumerate(words):
        wanted = _without_marks(word)[0]
        begins = open_end and number == len(words) - 1
        at = plain.find(wanted) if wanted else -1
        while at >= 0:
            span = places[at], places[at + len(wanted)]
            if _is_word(text, *span, begins=begins):
                spans.append(span)
            at = plain.find(wanted, at + len(wanted))
    return tuple(_apart(sorted(spans)))


def _without_marks(text: str) -> tuple[str, Sequence[int]]:
    """Lower case letters without diacritics, and the place of each in `text`, with its end last."""
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    letters, places = [], []
    for place, char in enumerate(text):
        for part in unicodedata.normalize("NFD", char):
            if unicodedata.category(part) not in ("Mn", "Cf"):
                letters.append(part.lower())
                places.append(place)
    return "".join(letters), [*places, len(text)]


def _is_word(text: str, start: int, end: int, *, begins: bool) -> bool:
    if start > 0 and _joins(text[start - 1]) and _joins(text[start]):
        return False
    return begins or end == len(text) or not (_joins(text[end - 1]) and _joins(text[end]))


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that begin behind the end of the one before them."""
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept
