"""Search within a text. Positions are code points of the stored text."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import regex

from workbench.base import deprecation
from workbench.text.segment import SPACELESS

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Found="TextMatches")

MAX_MATCHES = 100_000  # matches after which the search ends
BLOCK = 50_000  # code points searched at a time
# Letters, digits and marks that join a word; those of scripts without spaces do not.
_JOINS = regex.compile(rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{SPACELESS}]]", regex.V1)
_RUNS = regex.compile(r"[\x00-\x7F]+|[^\x00-\x7F]", regex.DOTALL)
_SPACES = ("\u00a0", "\u202f", "\n", "\t")  # matched by a space


def _positions() -> array[int]:
    return array("q")


@dataclass(frozen=True)
class TextMatches:
    """Matches in order, none overlapping another: code points [starts[i], ends[i]).

    `cut`: there are more than `MAX_MATCHES`.
    """

    starts: array[int] = field(default_factory=_positions)
    ends: array[int] = field(default_factory=_positions)
    cut: bool = False

    def __len__(self) -> int:
        return len(self.starts)


def find(
    text: str,
    query: str,
    *,
    match_case: bool = False,
    whole_words: bool = False,
    most: int = MAX_MATCHES,
    pause: Callable[[], None] = lambda: None,
) -> TextMatches:
    """All matches of `query`, composed or decomposed; a space also matches a line break or tab.

    A million characters take about 0.1 s; `pause` is called every few milliseconds.
    """
    spaced = " " in query

    def prepared(part: str) -> str:
        return folded(part, match_case=match_case, spaced=spaced)

    forms = {unicodedata.normalize(form, query) for form in ("NFC", "NFD")} | {query}
    forms = {prepared(form) for form in forms} - {""}
    longest = max((len(form) for form in forms), default=0)
    starts, ends, after = array("q"), array("q"), 0
    for first in range(0, len(text) if forms else 0, BLOCK):
        part = prepared(text[first : first + BLOCK + longest - 1])
        for start, end in _in_part(part, forms):
            start, end = first + start, first + end
            if start < after or (whole_words and not is_whole(text, start, end)):
                continue
            if len(starts) == most:
                return TextMatches(starts, ends, cut=True)
            starts.append(start)
            ends.append(end)
            after = end
        pause()
    return TextMatches(starts, ends)


def folded(text: str, *, match_case: bool, spaced: bool) -> str:
    """One code point for each of `text`; plain `lower` maps a dotted capital I to two."""
    if not match_case:
        text = text.replace("İ", "i").lower().replace("ς", "σ")
    if spaced:
        for sign in _SPACES:
            text = text.replace(sign, " ")
    return text


def _in_part(part: str, forms: set[str]) -> list[tuple[int, int]]:
    """All matches that begin within a block, in order; they may overlap."""
    places = []
    for form in forms:
        at = part.find(form)
        while 0 <= at < BLOCK:
            places.append((at, at + len(form)))
            at = part.find(form, at + 1)
    return sorted(places) if len(forms) > 1 else places


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether both ends are word boundaries."""
    before = start > 0 and _joins(text[start - 1]) and _joins(text[start])
    after = end < len(text) and _joins(text[end - 1]) and _joins(text[end])
    return not before and not after


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    return _JOINS.match(char) is not None


def marks(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Matches of a full-text query in a short text, in order, without overlaps.

    The same rules as in the full-text search: case and diacritics are ignored, words are matched
    whole, the last one also as a prefix. A query without letters is matched literally.
    """
    words = [word.replace('"', "") for word in query.split()]
    words = [word for word in words if any(char.isalnum() or char > "\uffff" for char in word)]
    if not words:
        matches = find(text, query.strip())
        return tuple(zip(matches.starts, matches.ends, strict=True))
    plain, places = _without_marks(text)
    open_end = not query[-1].isspace()
    spans: list[tuple[int, int]] = []
    for number, word in enumerate(words):
        plain_word = _without_marks(word)[0]
        begins = open_end and number == len(words) - 1
        at = plain.find(plain_word) if plain_word else -1
        while at >= 0:
            span = places[at], places[at + len(plain_word)]
            if _is_word(text, *span, begins=begins):
                spans.append(span)
            at = plain.find(plain_word, at + len(plain_word))
    return tuple(_apart(sorted(spans)))


def _without_marks(text: str) -> tuple[str, Sequence[int]]:
    """Lower-case letters without diacritics, and their positions in `text`, with its end last."""
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    letters: list[str] = []
    places: list[int] = []
    for part in _RUNS.finditer(text):
        start, run = part.start(), part.group()
        if run.isascii():
            letters.append(run.lower())
            places.extend(range(start, part.end()))
        else:
            plain = _plain(run)
            letters.append(plain)
            places.extend([start] * len(plain))
    return "".join(letters), [*places, len(text)]


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    """The letters of a code point in lower case, without diacritics."""
    parts = unicodedata.normalize("NFD", char)
    letters = (part for part in parts if unicodedata.category(part) not in ("Mn", "Cf"))
    return "".join(part.lower() for part in letters)


def _is_word(text: str, start: int, end: int, *, begins: bool) -> bool:
    if start > 0 and _joins(text[start - 1]) and _joins(text[start]):
        return False
    return begins or end == len(text) or not (_joins(text[end - 1]) and _joins(text[end]))


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The matches that begin after the end of the previous one."""
    separate: list[tuple[int, int]] = []
    for span in spans:
        if not separate or span[0] >= separate[-1][1]:
            separate.append(span)
    return separate
