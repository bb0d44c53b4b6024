"""The segmenters of Glossbench: its own rules, characters, and those of libraries for languages
without spaces.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.text import segment
from workbench.text.segmenters.base import Words

LOCALE = "en"  # ICU chooses the dictionary by the script of the text


class Icu:
    """Unicode Standard Annex 29 with ICU's dictionaries."""

    def __init__(self) -> None:
        from icu4py.breakers import WordBreaker

        self._breaker = WordBreaker

    def words(self, text: str) -> Words:
        return offsets(self._breaker(text, LOCALE))


class Newmm:
    """PyThaiNLP's engine "newmm"."""

    def __init__(self) -> None:
        from pythainlp.tokenize import word_tokenize

        self._tokenize = word_tokenize

    def words(self, text: str) -> Words:
        return offsets(self._tokenize(text, engine="newmm", keep_whitespace=True))


def offsets(parts: Iterable[str]) -> Words:
    """Offsets of parts that are the text when joined; parts of white space are left out."""
    words, at = [], 0
    for part in parts:
        start, at = at, at + len(part)
        if part.strip():
            words.append((start, at))
    return words


class Rules:
    """White space and punctuation; letters of scripts without spaces are words of their own."""

    def words(self, text: str) -> Words:
        return segment.words(text)


class Characters:
    """Every character, as the user perceives it, is a word."""

    def words(self, text: str) -> Words:
        return [(start, end) for start, end in segment.graphemes(text) if text[start:end].strip()]
