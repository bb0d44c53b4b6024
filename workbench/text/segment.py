"""Words and graphemes of a text, as code point borders."""

from __future__ import annotations

import regex

from workbench.text.document import TEXT, Document

# Scripts written without spaces between words: each letter (with its marks) is a word of its own.
SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(
    rf"[{SPACELESS}--[\p{{M}}\p{{P}}\p{{Nd}}]]\p{{M}}*"  # one letter of a spaceless script
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{SPACELESS}]](?:[[\p{{L}}\p{{N}}\p{{M}}_\u200c\u200d]--[{SPACELESS}--[\p{{M}}\p{{Nd}}]]])*"  # a run of letters and digits
    r"|\p{Extended_Pictographic}(?:[\ufe0f\p{Emoji_Modifier}]|\u200d\p{Extended_Pictographic})*"  # an emoji with its parts
    r"|\S",  # any other sign stands alone
    regex.V1,
)


def words(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of every word, number and sign, in order; white space belongs to none.

    Letters, digits, marks and underscores run together; Chinese, Japanese, Thai, Lao, Khmer and Burmese letters stand alone.
    """
    return tuple(match.span() for match in _WORD.finditer(text))


def tokens_of(document: Document, field: str = TEXT) -> list[tuple[int, int]]:
    """The tokens that came with a text, white space and empty ones left out, else its words."""
    text, given = document.content(field), document.tokens.get(field)
    if not given:
        return list(words(text))
    return [(start, end) for start, end in sorted(given) if text[start:end].strip()]


def graphemes(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of every grapheme cluster: what a reader takes for one character."""
    return tuple(match.span() for match in regex.finditer(r"\X", text))
