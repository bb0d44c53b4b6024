"""Words and graphemes of a text, as code point offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import takewhile

import regex

from workbench.text.document import TEXT, Document

# Scripts written without spaces between words: each letter (with its marks) is a word of its own.
SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SPACELESS = regex.compile(rf"[{SPACELESS}]", regex.V1)
_LETTERS = regex.compile(r"[\p{L}\p{M}]+", regex.V1)
_WORD = regex.compile(
    rf"[{SPACELESS}--[\p{{M}}\p{{P}}\p{{Nd}}]]\p{{M}}*"  # one letter of a spaceless script
    # A sequence of letters and digits.
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{SPACELESS}]]"
    rf"(?:[[\p{{L}}\p{{N}}\p{{M}}_\u200c\u200d]--[{SPACELESS}--[\p{{M}}\p{{Nd}}]]])*"
    # An emoji with its modifiers and joined emoji.
    r"|\p{Extended_Pictographic}(?:[\ufe0f\p{Emoji_Modifier}]|\u200d\p{Extended_Pictographic})*"
    r"|\S",  # any other character is a word of its own
    regex.V1,
)


def words(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of every word, number and symbol, in order, without white space.

    Letters, digits, marks and underscores form words; Chinese, Japanese, Thai, Lao, Khmer and
    Burmese letters are words of their own.
    """
    return tuple(match.span() for match in _WORD.finditer(text))


def has_spaceless(text: str) -> bool:
    """Whether there is a letter of a script without spaces in a text."""
    return not text.isascii() and _SPACELESS.search(text) is not None


def is_spaceless(text: str) -> bool:
    """Whether at least half of the letters of a text are of scripts without spaces."""
    if not has_spaceless(text):
        return False
    letters = "".join(_LETTERS.findall(text))
    return 2 * len(_SPACELESS.findall(letters)) >= max(len(letters), 1)


def tokens_of(document: Document, field: str = TEXT) -> list[tuple[int, int]]:
    """The imported tokens of a text, without white space and empty ones, else its words."""
    return tokens_in(document.content(field), document.tokens.get(field))


def tokens_in(text: str, tokens: Iterable[tuple[int, int]] | None) -> list[tuple[int, int]]:
    """The given tokens of a text in order, without white space and empty ones, else its words."""
    if not tokens:
        return list(words(text))
    return [(start, end) for start, end in sorted(tokens) if text[start:end].strip()]


def covered(tokens: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The tokens that lie within a range as a whole. tokens: in order, apart from each other."""
    first = bisect_left(tokens, (start, start))
    return list(takewhile(lambda token: token[1] <= end, tokens[first:]))


def graphemes(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of every grapheme cluster: a character as the user perceives it."""
    return tuple(match.span() for match in regex.finditer(r"\X", text))
