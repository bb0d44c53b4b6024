"""Word n-grams that texts share with other texts.

Source: Brown et al. 2020, appendix C: a text overlaps with training text if they share an n-gram of
13 words, in lower case and without punctuation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

SIZE = 13  # words of an n-gram
_WORDS = regex.compile(r"[\p{L}\p{N}\p{M}]+")


@dataclass(frozen=True)
class Shared:
    """number: of the text. share: of its n-grams that occur elsewhere. words: the first of them."""

    number: int
    share: float
    words: str


class Grams:
    """The n-grams of texts. short: the number of texts with fewer words, which have none."""

    def __init__(self, texts: Iterable[str], size: int = SIZE):
        self.size, self.count, self.short = size, 0, 0
        self._texts: list[tuple[int, ...]] = []  # hashes of the n-grams of each text
        for text in texts:
            grams = tuple(dict.fromkeys(_hashes(words_of(text), size)))
            self._texts.append(grams)
            self.count += 1
            self.short += not grams
        self._known = {gram for grams in self._texts for gram in grams}
        self._words_by_hash: dict[int, str] = {}  # hash → the words

    def read(self, text: str) -> None:
        """Look for the n-grams in another text."""
        words = words_of(text)
        for at, gram in enumerate(_hashes(words, self.size)):
            if gram in self._known and gram not in self._words_by_hash:
                self._words_by_hash[gram] = " ".join(words[at : at + self.size])

    def shared(self) -> list[Shared]:
        """The texts with an n-gram that was read, in order."""
        rows = []
        for number, grams in enumerate(self._texts):
            here = [gram for gram in grams if gram in self._words_by_hash]
            if here:
                rows.append(Shared(number, len(here) / len(grams), self._words_by_hash[here[0]]))
        return rows


def words_of(text: str) -> list[str]:
    words: list[str] = _WORDS.findall(text.casefold())
    return words


def _hashes(words: Sequence[str], size: int) -> Iterator[int]:
    """64 bits of each n-gram: with a million of them, two are equal by chance once in 10^7."""
    for start in range(len(words) - size + 1):
        yield hash(tuple(words[start : start + size]))
