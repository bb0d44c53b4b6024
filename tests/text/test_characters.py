"""Sets of characters against `regex`, and the words that are made with them."""

import random
import re

import pytest
import regex

from workbench.text import characters, segment

SPACELESS = segment.SPACELESS
NAMED = {
    "LETTERS": r"\p{L}",
    "MARKS": r"\p{M}",
    "NUMBERS": r"\p{N}",
    "DIGITS": r"\p{Nd}",
    "PICTOGRAPHS": r"\p{Extended_Pictographic}",
    "SPACE": r"\s",
    "SPACELESS": rf"[{SPACELESS}]",
    "SPACELESS_PUNCTUATION": rf"[[{SPACELESS}]&&\p{{P}}]",
}
EVERY = "".join(map(chr, range(characters.END)))
# The words as they were defined before the sets: models have been trained with them.
WORD = regex.compile(
    rf"[{SPACELESS}--[\p{{M}}\p{{P}}\p{{Nd}}]]\p{{M}}*"
    rf"|[[\p{{L}}\p{{N}}\p{{M}}_]--[{SPACELESS}]]"
    rf"(?:[[\p{{L}}\p{{N}}\p{{M}}_\u200c\u200d]--[{SPACELESS}--[\p{{M}}\p{{Nd}}]]])*"
    r"|\p{Extended_Pictographic}(?:[\ufe0f\p{Emoji_Modifier}]|\u200d\p{Extended_Pictographic})*"
    r"|\S",
    regex.V1,
)


@pytest.mark.parametrize("name", NAMED)
def test_a_set_is_that_of_the_property(name):
    runs = regex.finditer(rf"(?:{NAMED[name]})+", EVERY, regex.V1)

    assert getattr(characters, name) == tuple(match.span() for match in runs)


def test_sets_are_united_and_taken_from_each_other():
    digits, low = characters.single(*"0123456789"), characters.single(*"56")

    assert characters.without(digits, low) == ((48, 53), (55, 58))
    assert characters.united(((1, 3),), ((2, 5), (7, 8)), ((5, 6),)) == ((1, 6), (7, 8))
    assert re.findall(characters.pattern(low), "4567") == ["5", "6"]
    assert re.findall(characters.pattern(low, other=True), "4567") == ["4", "7"]


def test_the_words_of_any_characters_are_those_of_the_properties():
    draw = random.Random(0)
    ends = sorted({edge for name in NAMED for item in getattr(characters, name) for edge in item})
    pool = [chr(edge - back) for edge in ends[:-1] for back in (0, 1)] + list(
        "_ \u200c\u200d\ufe0f"
    )
    texts = ["".join(draw.choices(pool, k=40)) for _number in range(5000)]

    for text in (*texts, *map(chr, range(128))):
        assert segment.words(text) == tuple(match.span() for match in WORD.finditer(text))
