"""Features of the words of a text: the words themselves, their form, and their neighbours.

The set is the usual one for named entities and chunks without a dictionary or other models
(Ratinov and Roth 2009, section 3; Lafferty et al. 2001, section 5.3 for affixes and capitals).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from unicodedata import category

from workbench.text.document import Document
from workbench.text.sentences import SENTENCE, unit_at, units_of

AFFIX = 4  # code points of the longest prefix and suffix
NEAR = (-2, -1, 1, 2)  # places of the neighbours
LONG = 12  # code points: the shape of a longer word is written without repetitions only
CACHED = 100_000  # words


def word_features(document: Document, words: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The features of each word, all binary.

    words: (start, end) in order. Neighbours do not extend beyond the sentence.
    """
    text, sentences = document.text, units_of(document, SENTENCE)
    found: list[list[str]] = []
    for _number, group in groupby(words, lambda word: unit_at(sentences, word[0])):
        found += _sentence([text[start:end] for start, end in group])
    return found


def _sentence(words: Sequence[str]) -> list[list[str]]:
    found = [["bias", *_own(word)] for word in words]
    for at, features in enumerate(found):
        for step in NEAR:
            if 0 <= at + step < len(words):
                features += _near(words[at + step], step)
    for (first, after), (left, right) in zip(pairwise(found), pairwise(words), strict=True):
        pair = f"{left.lower()} {right.lower()}"
        first.append(f"pair+1={pair}")
        after.append(f"pair-1={pair}")
    found[0].append("begin")
    found[-1].append("end")
    return found


@lru_cache(CACHED)
def _own(word: str) -> tuple[str, ...]:
    lower = word.lower()
    sizes = range(1, min(AFFIX, len(lower)) + 1)
    found = [f"word={lower}", f"short={short_shape(word)}"]
    found += [f"prefix={lower[:size]}" for size in sizes]
    found += [f"suffix={lower[-size:]}" for size in sizes]
    if len(word) <= LONG:
        found.append(f"shape={shape(word)}")
    return (*found, *_flags(word))


@lru_cache(CACHED)
def _near(word: str, step: int) -> tuple[str, ...]:
    found = (f"word={word.lower()}", f"short={short_shape(word)}", *_flags(word))
    return tuple(f"{step:+}:{feature}" for feature in found)


def _flags(word: str) -> list[str]:
    answers = {
        "upper": word.isupper(),
        "title": word[:1].isupper() and not word[1:].isupper(),
        "digits": word.isdecimal(),
        "digit": any(letter.isdecimal() for letter in word),
        "mark": not any(letter.isalnum() for letter in word),
        "hyphen": "-" in word[1:-1],
    }
    return [name for name, answer in answers.items() if answer]


def shape(word: str) -> str:
    """Upper-case letters as X, other letters as x, digits as d; other characters as they are."""
    return "".join(map(_kind, word))


def _kind(letter: str) -> str:
    if letter.isupper():
        return "X"
    if letter.isalpha() or category(letter).startswith("M"):
        return "x"
    return "d" if letter.isdecimal() else letter


def short_shape(word: str) -> str:
    """The shape without repetitions: Xx for "Tram", Xd for "A380"."""
    return "".join(mark for mark, _group in groupby(shape(word)))
