"""Words and graphemes of a text, as code point offsets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from workbench.text import characters as sets
from workbench.text.document import TEXT, Document

# Scripts written without spaces between words: each letter (with its marks) is a word of its own.
SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_ASCII_WORD = re.compile(r"[0-9A-Za-z_]+|[^\t-\r ]")


@lru_cache(maxsize=1)
def _spaceless() -> re.Pattern[str]:
    return re.compile(sets.pattern(sets.SPACELESS))


@lru_cache(maxsize=1)
def _letters() -> re.Pattern[str]:
    return re.compile(f"{sets.pattern(sets.united(sets.LETTERS, sets.MARKS))}+")


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """The words of any text. Compiled for the first one that is not ASCII, in 30 ms."""
    marks, emoji = sets.pattern(sets.MARKS), sets.pattern(sets.PICTOGRAPHS)
    letter = sets.without(
        sets.SPACELESS, sets.MARKS, sets.SPACELESS_PUNCTUATION, sets.DIGITS
    )  # of a script without spaces
    letters = sets.united(sets.LETTERS, sets.NUMBERS, sets.MARKS, sets.single("_"))
    begin = sets.without(letters, sets.SPACELESS)
    inside = sets.without(
        sets.united(letters, sets.single("\u200c", "\u200d")),
        sets.without(sets.SPACELESS, sets.MARKS, sets.DIGITS),
    )
    # An emoji with its modifiers and joined emoji.
    more_emoji = f"(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d{emoji})*"

    def alternatives(low: int, high: int) -> str:
        part = [sets.pattern(item, low, high) for item in (begin, letter, sets.PICTOGRAPHS)]
        return f"{part[0]}{rest}|{part[1]}{marks}*|{part[2]}{more_emoji}"

    near, far = sets.pattern(inside, high=sets.ASTRAL), sets.pattern(inside, sets.ASTRAL)
    astral = sets.pattern(((sets.ASTRAL, sets.END),))
    rest = f"{near}*(?:(?={astral}){far}+{near}*)*"
    other = sets.pattern(sets.SPACE, other=True)  # any other character is a word of its own
    return re.compile(
        f"{alternatives(0, sets.ASTRAL)}"
        f"|(?={astral})(?:{alternatives(sets.ASTRAL, sets.END)})|{other}"
    )


def words(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of every word, number and symbol, in order, without white space.

    Letters, digits, marks and underscores form words; Chinese, Japanese, Thai, Lao, Khmer and
    Burmese letters are words of their own.
    """
    pattern = _ASCII_WORD if text.isascii() else _word()
    return tuple(match.span() for match in pattern.finditer(text))


def has_spaceless(text: str) -> bool:
    """Whether there is a letter of a script without spaces in a text."""
    return not text.isascii() and _spaceless().search(text) is not None


def is_spaceless(text: str) -> bool:
    """Whether at least half of the letters of a text are of scripts without spaces."""
    if not has_spaceless(text):
        return False
    letters = "".join(_letters().findall(text))
    return 2 * len(_spaceless().findall(letters)) >= max(len(letters), 1)


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
    import regex  # 12 ms, and nothing else needs it here

    return tuple(match.span() for match in regex.finditer(r"\X", text))
