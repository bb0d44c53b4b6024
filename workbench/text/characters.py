"""Sets of characters by their Unicode properties, for patterns of `re`, which has none of its own.

Words depend on them, and a trained model on words: so they are those of Unicode 17 whatever the
version of Python and of the library `regex`, with which `tests/text/test_characters.py` creates
them. Patterns with them are also several times faster than those of `regex`.

A set is a sequence of ranges [start, end) of code points, in order and apart from each other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

Characters = tuple[tuple[int, int], ...]
ASTRAL, END = (
    0x10000,
    0x110000,
)  # code points from here on need more than 16 bits; one past the last


def united(*sets: Characters) -> Characters:
    """The characters of any of the sets."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(item for characters in sets for item in characters):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def without(characters: Characters, *others: Characters) -> Characters:
    """The characters of the first set that are in none of the others."""
    return _inverted(united(_inverted(characters), *others))


def pattern(characters: Characters, low: int = 0, high: int = END, *, other: bool = False) -> str:
    """The set as `[…]` of a pattern, of its code points from `low` to below `high`.

    other: the characters that are not in it. `re` looks a code point below ASTRAL up in a table,
    but compares one from there on with each range.
    """
    parts = ((max(start, low), min(end, high) - 1) for start, end in characters)
    ranges = "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in parts if a <= b)
    return f"[{'^' if other else ''}{ranges}]"


@lru_cache(maxsize=32)
def compiled(text: str) -> re.Pattern[str]:
    r"""A pattern in which \w, \s, \p{L} and \p{Nd} are those of Unicode 17; each within […]."""
    names = {r"\w": WORD, r"\s": SPACE, r"\p{L}": LETTERS, r"\p{Nd}": DIGITS}
    for name, characters in names.items():
        if name in text:
            text = text.replace(name, pattern(characters)[1:-1])
    return re.compile(text)


def _inverted(characters: Characters) -> Characters:
    edges = (0, *(edge for item in characters for edge in item), END)
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((start, end) for start, end in pairs if start < end)


def _read(gaps: str) -> Characters:
    """Hexadecimal numbers of characters: left out, in the set, left out, in the set …"""
    edges = list(accumulate(int(gap, 16) for gap in gaps.split()))
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def single(*characters: str) -> Characters:
    return united(tuple((ord(item), ord(item) + 1) for item in characters))


# \p{L}
LETTERS = _read(
    "41 1a 6 1a 2f 1 a 1 4 1 5 17 1 1f 1 1ca 4 c e 5 7 1 1 1 81 5 1 2 2 4 1 1 6 1 1 3 1 1 1 14 1 "
    "53 1 8b 8 a6 1 26 1 2 6 29 2 2 43 1b 4 4 2d 2b 23 2 1 63 1 1 f 2 7 2 a 3 2 1 10 1 1 1e 1d 59 "
    "b 1 18 21 9 2 4 1 5 16 4 1 9 1 3 1 17 19 7 b 5 18 1 7 10 2a 3a 36 3 1 12 1 7 a f 10 4 8 2 2 "
    "2 16 1 7 1 1 3 4 3 1 10 1 d 2 1 3 e 2 a 1 8 6 4 2 2 16 1 7 1 2 1 2 1 2 1f 4 1 1 13 3 10 9 1 "
    "3 1 16 1 7 1 2 1 5 3 1 12 1 f 2 17 1 b 8 2 2 2 16 1 7 1 2 1 5 3 1 1e 2 1 3 f 1 11 1 1 6 3 3 "
    "1 4 3 2 1 1 1 2 3 2 3 3 3 c 16 1 34 8 1 3 1 17 1 10 3 1 1a 3 1 2 2 2 1e 1 4 8 1 3 1 17 1 a 1 "
    "5 3 1 1e 3 1 2 f 2 11 9 1 3 1 29 2 1 10 1 5 3 8 3 18 6 5 12 3 18 1 9 1 1 2 7 3a 30 1 2 c 7 "
    "3a 2 1 1 1 5 1 18 1 1 1 a 1 2 9 1 2 5 1 1 15 4 20 1 3f 8 1 24 1b 5 73 2b 14 1 10 6 4 4 3 1 3 "
    "2 7 3 4 d c 1 11 26 1 1 5 1 2 2b 1 14d 1 4 2 7 1 1 1 4 2 29 1 4 2 21 1 4 2 7 1 1 1 4 2 f 1 "
    "39 1 4 2 43 25 10 10 56 2 6 3 26c 2 11 1 1a 5 4b 6 8 7 12 d 13 e 12 e d 1 3 f 34 23 1 4 1 43 "
    "59 7 5 2 22 1 1 5 46 a 1f 31 1e 2 5 b 2c 4 1a 36 17 9 35 52 1 5d 2f 11 8 36 1e d 2 a 2c 1a "
    "24 29 3 a 24 2 b 5 2b 2 3 29 4 1 6 1 2 3 1 5 c0 40 116 2 6 2 26 2 6 2 8 1 1 1 1 1 1 1 1f 2 "
    "35 1 7 1 1 3 3 1 7 3 4 2 6 4 d 5 3 1 7 74 1 d 1 f 11 62 1 4 1 2 a 1 1 3 5 6 1 1 1 1 1 1 4 1 "
    "b 2 4 5 5 4 1 34 2 a7b e5 6 4 3 2 c 26 1 1 5 1 2 38 7 1 10 17 9 7 1 7 1 7 1 7 1 7 1 7 1 7 1 "
    "7 50 1 1d5 2 2a 5 5 2 4 56 6 3 1 5a 1 4 5 2b 1 5e 11 20 30 10 200 19c0 40 568d 43 2e 2 10d 3 "
    "10 a 2 14 2f 10 1f 2 46 31 9 2 67 2 53 4 1 e 11 1 3 1 4 1 17 1d 34 e 32 3e 6 3 1 1 2 b 1c a "
    "17 19 1d 7 2f 1c 1 10 5 1 a a 5 1 29 17 3 1 8 14 17 3 1 3 32 1 1 3 2 2 5 2 1 1 1 18 3 2 b 7 "
    "3 c 6 2 6 2 6 9 7 1 7 1 2b 1 e 2 2 2 73 1d 2ba4 c 17 4 31 2104 16e 2 6a 26 7 c 5 5 1 1 a 1 d "
    "1 5 1 1 1 2 1 2 1 6c 21 16b 12 40 2 36 28 c 74 5 1 87 24 1a 6 1a b 59 3 6 2 6 2 6 2 3 23 c 1 "
    "1a 1 13 1 2 1 f 2 e 22 7b 185 1d 3 31 2f 20 d 14 1 8 6 26 a 1e 2 24 4 8 30 9e 12 24 4 24 4 "
    "28 8 34 c b 1 f 1 7 1 2 1 b 1 f 1 7 1 2 3 34 c 137 9 16 a 8 18 6 1 2a 1 e 40 6 2 1 1 2c 1 2 "
    "3 1 2 17 a 17 9 1f 41 13 1 2 a 16 a 1a 6 1a 26 38 6 2 40 1 f 4 1 3 1 1d 2a 1d 3 1d 23 8 1 1c "
    "1b 36 a 16 a 13 d 12 6e 49 37 33 d 33 d 24 26 1c 9 17 fa 2a 6 2 10 6 11 16 11 1d a 1 8 16 2a "
    "12 2e 15 1b 17 c 35 39 2 2 1 d 2d 20 19 1a 24 1d 1 2 1 8 23 3 1 c 30 e 4 15 1 1 1 23 12 1 19 "
    "13 2 3f 7 1 1 1 4 1 f 1 a 7 2f 26 8 2 2 2 16 1 7 1 2 1 5 3 1 12 1 c 5 1e a 1 1 2 1 1 26 1 1 "
    "19 1 1 1 2c 35 12 4 14 3 1e 30 14 2 1 1 b8 2f 29 4 24 30 14 1 3b 2b d 1 47 1b 25 7 b9 2c 74 "
    "40 1f 8 2 1 2 8 1 2 1 18 f 1 1 1 5e 8 2 27 10 1 1 1 1c 1 a 28 7 1 15 1 b 2e 13 1 12 49 11 1 "
    "b5 21 1f 9 1 25 11 1 31 1e 70 7 1 2 1 26 15 1 19 6 1 2 1 20 e 1 17 2c 15 1 ee 13 f 1 1 d 1 "
    "22 7c 1 4f 39a e6 c4 a4c 61 f 430 11 6 19 f9b 5 247 1ab9 1e 6e2 239 7 1f 11 4f 11 1e 12 30 "
    "10 4 1f 15 5 13 1b0 2d d3 40 20 19 2 19 2c 4b 5 1 42 d 40 2 1 1 e 2 c 1cdb 24 22 5f 73 d 392 "
    "e 33 1e1d 4 1 7 1 2 1 129 9 1 1d 3 2 1 e 5 7 18c 904 6b 5 d 3 9 7 a 1766 55 1 47 1 2 2 1 2 2 "
    "2 4 1 c 1 1 1 7 1 41 1 4 2 8 1 7 1 1c 1 4 1 5 1 1 3 7 1 155 1 19 1 19 1 1f 1 19 1 1f 1 19 1 "
    "1f 1 19 1 1f 1 19 1 8 734 82 e 7 36 33 30 3e 92 2d a 7 10 1 141 1e 12 2c 1e4 1c e4 1e 2 1 cf "
    "1f 1 3 1 2 1 7 2 5 9 2 e0 7 1 4 1 2 1 f 1 c5 3b 44 7 1 4b4 4 1 1b 1 2 1 1 2 1 1 a 1 4 1 1 1 "
    "1 6 1 4 1 1 1 1 1 1 3 1 2 1 1 2 1 1 1 1 1 1 1 1 1 1 2 1 1 2 4 1 7 1 4 1 4 1 1 1 a 1 11 5 3 1 "
    "5 1 11 1144 a6e0 20 111f 1 168e 2 1d31 f 26e 9a2 21e 5e2 134b 5 212a 9b86 2c40"
)
# \p{M}
MARKS = _read(
    "300 70 113 7 107 2d 1 1 1 2 1 2 1 3 46 b 30 15 10 1 65 7 2 6 2 2 1 4 23 1 1e 1b 5b b 3a 9 9 "
    "1 18 4 1 9 1 3 1 5 2b 3 3b 9 2a 18 1 21 36 3 1 12 1 7 a 2 1d 3 38 1 1 7 2 2 2 3 9 1 a 2 1a 1 "
    "2 3 38 1 1 5 4 2 2 3 3 1 1e 2 3 1 b 3 38 1 1 8 1 3 1 3 14 2 16 6 1 3 38 1 1 7 2 2 2 3 5 5 a "
    "2 1e 1 3b 5 3 3 1 4 9 1 28 5 37 1 1 7 1 3 1 4 7 2 b 2 1d 3 38 1 1 7 1 3 1 4 7 2 b 2 f 1 c 4 "
    "37 2 1 7 1 3 1 4 9 1 a 2 1d 3 46 1 4 6 1 1 1 8 12 2 3d 1 2 7 c 8 62 1 2 9 b 7 49 2 1b 1 1 1 "
    "1 1 4 2 31 14 1 2 5 b 1 24 9 1 64 14 17 4 4 3 1 3 2 7 3 4 d c 1 1 a 4 2bf 3 3b2 4 1c 3 1d 2 "
    "1e 2 40 20 9 1 2d 3 1 1 75 2 22 1 76 c 4 c db 5 39 a 1 1d 2 1 30 41 f 5 2f 11 26 9 c 3 1e d "
    "38 e 30 14 98 3 1 15 4 1 6 1 2 3 c6 40 2d0 21 bfe 3 8d 1 60 20 22a 6 69 2 75d4 4 1 a 20 2 50 "
    "2 110 1 3 1 4 1 17 5 4 1 53 2 32 12 1a 12 d 1 26 8 19 d 2c 4 2f e 24 1 43 e c 1 8 2 2d 3 32 "
    "1 1 3 2 2 5 2 1 1 29 5 5 2 ec 8 1 2 4f30 1 2e1 10 10 10 3cd 1 e2 1 95 5 686 3 1 2 5 4 28 3 4 "
    "1 a5 2 23d 4 41 5 13d 2 1e 5 20 10 46 b 31 4 7a 3 35 f 29 1 2 2 a 4 2d b 7 1 3d 3 24 e 10 2 "
    "2c 1 c 3 30 e 8 4 1 2 5c c 6 1 2 1 9d c 15 4 37 2 1 7 2 2 2 3 9 1 a 2 2 7 3 5 43 9 1 1 2 1 1 "
    "4 1 5 1 1 e 2 52 12 17 1 51 14 eb 7 2 9 1b 2 52 11 6a d 65 f 100 f f5 6 1 2 2 4 1 1 1 2 8d 7 "
    "2 7 3 1 1c a 28 7 1 4 8 1 9 b 2e 10 c6 8 c7 8 1 8 52 16 1 e 7a 6 3 1 1 2 1 7 1 1 42 5 1 2 1 "
    "5 58 1 102 4 9 2 1 1 30 7 3 5 17 1 14e5 1 6 f 2cc8 12 9c0 5 3b 7 418 1 1 37 7 4 51 1 b 2 "
    "4cab 2 1261 2e 2 17 1e0 2 3c 5 3 6 8 8 2 7 1e 4 94 3 b 3 8 2 2 1 20 2 77e 37 4 32 8 1 e 1 16 "
    "5 1 f 550 7 1 11 2 7 1 2 1 5 64 1 a0 7 177 1 3d 4 1fc 4 fe 2 f3 1 2 1 7 2 5 1 1da 7 6d 7 "
    "c17b5 f0"
)
# \p{N}
NUMBERS = _read(
    "30 a 78 2 5 1 2 3 5a1 a 86 a c6 a 19c a 76 a 4 6 6c a 76 a 76 a 2 6 6e d 73 a 8 7 67 a 68 7 "
    "7 13 6d a 60 a 76 a 46 14 10c a 46 a 2cf 14 371 3 ef a 6 a 16 a 12c a 80 b a5 a 6 a b6 a 56 "
    "a 86 a 6 a 416 1 3 6 6 a c6 33 2 5 2d6 3c 4e 16 276 1e 569 1 309 1 19 9 e 3 157 4 8a a 1e 8 "
    "1 f 20 a 27 f 7360 a bc a 140 6 9a a 26 a c6 a 16 a 56 a 196 a 5316 a 1ed 2d c 39 11 2 155 "
    "1b 24 4 1d 1 8 1 86 5 ca a 3ae 8 19 7 27 9 4b 5 16 6 a0 2 2 10 2 2e 40 9 34 2 1e 3 4b 5 68 8 "
    "18 8 29 7 14a 6 30 a 6 a 116 1f 9e a 2a 4 70 7 86 1e 80 a 3c a 90 a 7 14 fb a 156 a 76 a 176 "
    "a 66 a 6 14 4c c 1a4 13 5d a 296 a 56 1d e3 a 46 a 36 a 166 a 66 15 42b 70 5 b d0 137 3aa9 a "
    "926 a 56 a 86 a 1 7 20e a 106 17 15d 3 5cf9 a 5c6 14 c 14 6c 19 455 32 940 a 1a6 a 1f6 a f7 "
    "a 2cc 9 80 a 317 3b 1 3 1 4 4c 2d 1 f 3c2 d ae3 a"
)
# \p{Nd}
DIGITS = _read(
    "30 a 626 a 86 a c6 a 19c a 76 a 76 a 76 a 76 a 76 a 76 a 76 a 76 a 76 a 60 a 76 a 46 a 116 a "
    "46 a 746 a 26 a 12c a 80 a a6 a 6 a b6 a 56 a 86 a 6 a 89c6 a 2a6 a 26 a c6 a 16 a 56 a 196 "
    "a 5316 a 586 a 886 a 6 a 31c a 80 a 3c a 90 a 116 a 156 a 76 a 176 a 66 a 6 14 4c a 1a6 a 66 "
    "a 296 a 56 a f6 a 46 a 36 a 166 a 41d6 a 926 a 56 a 86 a 216 a 5f76 a ad4 32 940 a 1a6 a 1f6 "
    "a f7 a 355 a 1296 a"
)
# of the scripts that are written without spaces between words
SPACELESS = _read(
    "e01 3a 5 1c 25 2 1 1 1 5 1 18 1 1 1 17 2 5 1 1 1 7 1 a 2 4 120 a0 6e0 5e 2 a 6 a 1e6 20 1480 "
    "1a 1 59 c d6 2f 1 1 1 19 9 e 4 5 56 6 3 1 5a 2 3 f0 10 d0 2f 1 58 a8 19c0 40 5200 9e0 1f 61 "
    "20 4e80 16e 2 6a 48c a 1 2d 1732 14 58fe 2 c 7 3ff9 4 1 7 1 2 1 129 9 1 1d 3 2 1 e 5 4097 1 "
    "dff a6e0 20 111f 1 168e 2 1d31 f 26e 9a2 21e 5e2 134b 5 212a"
)
# \p{P} of these
SPACELESS_PUNCTUATION = _read("e4f 1 a 2 1ee 6 784 3 1 3 15807 1")
# \p{Extended_Pictographic}
PICTOGRAPHS = _read(
    "a9 1 4 1 1f8d 1 c 1 d8 1 16 1 5a 6 f 2 16f 2 c 1 a6 1 19 b 4 3 c7 1 e7 2 a 1 9 1 3a 4 1 5 9 "
    "1 2 1 2 2 2 1 4 1 2 1 1 2 2 1 3 1 3 2 8 3 5 1 1 1 5 c b 2 2 1 1 2 1 1 12 1 2 2 12 6 1 1 1 2 "
    "3 2 5 1 2 2 4 2 b 2 5 2 2 1 5 2 1 1 1 2 14 2 5 6 1 4 2 1 4 1 2 1 2 6 1 1 2 1 1 1 1 1 6 1 3 1 "
    "6 1 a 2 f 1 2 1 4 1 1 1 4 3 1 1 b 2 30 3 9 1 e 1 e 1 174 2 1cf 3 13 2 33 1 4 1 4da 1 c 1 259 "
    "1 1 1 1bd6a 1 27 4 64 c f 2 f 1 e 2 25 a 70 2 c 2 e 1 2 a 14 37 1b f a 1 14 1 2 9 1 4 9 17 6 "
    "bc 2 70 2 2 1 3 2 53 2 3 1 4 5 fe 1 3f b 6 1 18 7 2 2 8 c 1 2 4 2 1 4 2 d 2 2 1 8 2 9 1 5 3 "
    "c 3 8 3 2 1 1 1 4 1 6 1 3 1 6 56 30 46 5 8 2 11 3 1 1 6 2 d dc 15 1b 4 38 8 a 6 28 8 1e 2 c "
    "4 2 e 9 27 c 2f 1 a 1 b9 58 8 e 92 100 3fe"
)
# \s: white space
SPACE = _read("9 5 12 1 64 1 1a 1 15df 1 97f b 1d 2 5 1 2f 1 fa0 1")
# What is of \w besides letters, marks, numbers and “_”, and what of these is not
_MORE = _read("200c 2 31 2 13 1 461 34 d949 2 18 3 ef 1 f1f0 1a 6 1a 6 1a")
_LESS = _read(
    "b2 2 5 1 2 3 935 6 178 6 78 3 85 7 d9 7 11 9 1b1 a 435 14 473 a 1e0 1 695 1 3 6 6 a c6 10 29 "
    "1 2d6 3c 4e 16 276 1e 569 1 494 4 8a a 1e 8 1 f 20 a 27 f 7570 6 58d1 2d 41 4 11 2 155 1b 24 "
    "4 534 8 19 7 27 9 4b 5 16 6 a0 2 2 10 2 2e 40 9 34 2 1e 3 4b 5 68 8 18 8 29 7 14a 6 160 1f "
    "9e a 2a 4 70 7 86 14 17b 14 545 2 1ae 9 367 13 353 15 4b86 7 31e 17 6429 14 c 14 6c 19 154e "
    "9 3a1 3b 1 3 1 4 4c 2d 1 f 3c2 d"
)
WORD = without(united(LETTERS, MARKS, NUMBERS, single("_"), _MORE), _LESS)  # \w
