"""Features of the words of a text: the words themselves, their form, and their neighbours.

The set is the usual one for named entities and chunks without a dictionary or other models
(Ratinov and Roth 2009, section 3; Lafferty et al. 2001, section 5.3 for affixes and capitals).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from unicodedata import category

from workbench.base.i18n import N_, _, ngettext
from workbench.text.document import Document
from workbench.text.sentences import SENTENCE, unit_at, units_of

AFFIX = 4  # code points of the longest prefix and suffix
NEIGHBOURS = (-2, -1, 1, 2)  # places of the neighbours
LONG = 12  # code points: the shape of a longer word is written without repetitions only
CACHED = 100_000  # words
# Features for display; {text} is what follows "=" in the name.
_FLAGS = {
    "upper": N_("in capitals"),
    "title": N_("capitalized"),
    "digits": N_("only digits"),
    "digit": N_("with a digit"),
    "mark": N_("without letters and digits"),
    "hyphen": N_("with a hyphen"),
    "bias": N_("every word"),
    "begin": N_("first word of a sentence"),
    "end": N_("last word of a sentence"),
}
_VALUES = {
    "word": N_("word {text}"),
    "short": N_("short shape {text}"),
    "shape": N_("shape {text}"),
    "prefix": N_("prefix {text}"),
    "suffix": N_("suffix {text}"),
    "pair+1": N_("this and the next word: {text}"),
    "pair-1": N_("the word before and this one: {text}"),
}


def word_features(document: Document, words: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The features of each word, all binary.

    words: (start, end) in order. Neighbours do not extend beyond the sentence.
    """
    text, sentences = document.text, units_of(document, SENTENCE)
    features: list[list[str]] = []
    for _number, group in groupby(words, lambda word: unit_at(sentences, word[0])):
        features += _sentence([text[start:end] for start, end in group])
    return features


def _sentence(words: Sequence[str]) -> list[list[str]]:
    word_features = [["bias", *_own(word)] for word in words]
    for at, features in enumerate(word_features):
        for step in NEIGHBOURS:
            if 0 <= at + step < len(words):
                features += _near(words[at + step], step)
    for (first, after), (left, right) in zip(pairwise(word_features), pairwise(words), strict=True):
        pair = f"{left.lower()} {right.lower()}"
        first.append(f"pair+1={pair}")
        after.append(f"pair-1={pair}")
    word_features[0].append("begin")
    word_features[-1].append("end")
    return word_features


@lru_cache(CACHED)
def _own(word: str) -> tuple[str, ...]:
    lower = word.lower()
    sizes = range(1, min(AFFIX, len(lower)) + 1)
    features = [f"word={lower}", f"short={short_shape(word)}"]
    features += [f"prefix={lower[:size]}" for size in sizes]
    features += [f"suffix={lower[-size:]}" for size in sizes]
    if len(word) <= LONG:
        features.append(f"shape={shape(word)}")
    return (*features, *_flags(word))


@lru_cache(CACHED)
def _near(word: str, step: int) -> tuple[str, ...]:
    features = (f"word={word.lower()}", f"short={short_shape(word)}", *_flags(word))
    return tuple(f"{step:+}:{feature}" for feature in features)


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


def described(feature: str) -> str:
    """A feature for display, such as "suffix am" or "1 word before: capitalized"."""
    place, mark, rest = feature.partition(":")
    if mark and place in (f"{step:+}" for step in NEIGHBOURS):
        far = abs(int(place))
        message = ngettext("{n} word after: {feature}", "{n} words after: {feature}", far)
        if place.startswith("-"):
            message = ngettext("{n} word before: {feature}", "{n} words before: {feature}", far)
        return message.format(n=far, feature=described(rest))
    name, _equals, text = feature.partition("=")
    if name in _VALUES:
        return _(_VALUES[name], text=text)
    return _(_FLAGS[name]) if name in _FLAGS else name
