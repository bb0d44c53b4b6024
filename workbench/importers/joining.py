"""Tokens → text: a space between words, except in scripts that are written without spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Han, kana and bopomofo, their punctuation, and fullwidth forms. Not Hangul: Korean uses spaces.
_CJK = re.compile(
    "[\u2e80-\u2fff\u3000-\u312f\u31a0-\u31ff\u3220-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def join(
    tokens: Sequence[str], glued: Sequence[bool] | None = None
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text, and the offsets of each token in it.

    `glued[n]`: no space follows token n. No space is put between Chinese or Japanese letters.
    """
    parts: list[str] = []
    offsets: list[tuple[int, int]] = []
    position = 0
    for n, token in enumerate(tokens):
        if n and not (glued and glued[n - 1]) and not _both_cjk(tokens[n - 1], token):
            parts.append(" ")
            position += 1
        parts.append(token)
        offsets.append((position, position + len(token)))
        position += len(token)
    return "".join(parts), tuple(offsets)


def _both_cjk(text: str, other: str) -> bool:
    return (
        not text.isascii()
        and not other.isascii()
        and bool(_CJK.match(text[-1]) and _CJK.match(other[0]))
    )
