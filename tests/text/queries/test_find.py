"""Find in a text: expected places are counted by hand."""

import random
import unicodedata

import pytest

from workbench.text.queries.find import _without_marks, find, marks


def places(text: str, wanted: str, **options) -> list[str]:
    matches = find(text, wanted, **options)
    spans = list(zip(matches.starts, matches.ends, strict=True))
    assert all(text[start:end] for start, end in spans)
    return [f"{start}-{end}" for start, end in spans]


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("abcabc", "bc", ["1-3", "4-6"]),
        ("aaaa", "aa", ["0-2", "2-4"]),  # matches do not overlap
        ("The tram, the bus", "THE", ["0-3", "10-13"]),
        ("", "a", []),
        ("abc", "", []),
        ("a.c abc", "a.c", ["0-3"]),  # no pattern
        ("👍 ok 👍🏽 ok", "ok", ["2-4", "8-10"]),  # code points, not UTF-16 units
        ("x👨‍👩‍👧y👨‍👩‍👧", "👨‍👩‍👧", ["1-6", "7-12"]),
        ("נסענו באוטובוס 42 הביתה", "42", ["15-17"]),
        ("وصل الباص رقم ٧", "الباص", ["4-9"]),
        ("ΟΔΟΣ οδός οδοσ", "οδος", ["0-4", "10-14"]),  # the last sigma of a word
        ("İstanbul istanbul", "istanbul", ["0-8", "9-17"]),  # its lower case has two code points
        ("a\u00a0b a\nb a b", "a b", ["0-3", "4-7", "8-11"]),
        ("cafe\u0301 caf\u00e9", "caf\u00e9", ["0-5", "6-10"]),  # decomposed and composed
        ("cafe\u0301 caf\u00e9", "cafe\u0301", ["0-5", "6-10"]),
        ("公共汽车公共", "公共", ["0-2", "4-6"]),
    ],
)
def test_all_places_are_found(text, wanted, expected):
    assert places(text, wanted) == expected


def test_the_case_can_count():
    assert places("The tram, the bus", "the", match_case=True) == ["10-13"]


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("art start part art", "art", ["0-3", "15-18"]),
        ("art_1 art-1 1art", "art", ["6-9"]),
        ("cafe cafe\u0301", "cafe", ["0-4"]),  # an accent belongs to the letter before it
        ("(£5) £5", "£5", ["1-3", "5-7"]),
        ("公共汽车", "共汽", ["1-3"]),  # no spaces between words: every place is one
        ("🚋tram🚋", "tram", ["1-5"]),
    ],
)
def test_whole_words_alone_can_be_found(text, wanted, expected):
    assert places(text, wanted, whole_words=True) == expected


def test_the_search_ends_after_so_many_matches():
    matches = find("a" * 50, "a", most=20)

    assert len(matches) == 20 and matches.cut and matches.ends[-1] == 20
    assert not find("a" * 20, "a", most=20).cut


def test_matches_across_the_blocks_of_a_long_text_are_found(monkeypatch):
    from workbench.text.queries import find as module

    text = "aXabab " * 9
    whole = find(text, "xab")
    assert list(whole.starts) == [7 * n + 1 for n in range(9)]
    for block in range(1, 20):
        monkeypatch.setattr(module, "BLOCK", block)
        assert find(text, "xab") == whole
        assert len(find(text, "abab", whole_words=True)) == 0
        assert list(find("aaaaa", "aa").starts) == [0, 2]


def test_a_long_search_pauses_between_its_blocks():
    pauses = []
    find("x" * 120_000, "y", pause=lambda: pauses.append(1))
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The tram started late", "tram star", ["tram", "star"]),  # the last as a beginning
        ("The tram started late", "star tram", ["tram"]),
        ("The tram started late", "star ", []),  # a space: the word has ended
        ("restart art", "art", ["art"]),
        ("Größe und Übermut", "uber", ["Über"]),
        ("cafe\u0301s", "cafe", ["cafe\u0301"]),
        ("שָׁלוֹם לכולם", "שלום", ["שָׁלוֹם"]),
        ("我们昨天去了北京大学", "北京", ["北京"]),
        ("so 👍🏽 today", "👍", ["👍"]),
        ("It's e-mail", "it's e-mail", ["It's", "e-mail"]),
        ('say "yes"', '"yes"', ["yes"]),
        ("price: $$$ !!!", "$$$", ["$$$"]),
        ("", "a", []),
        ("abc", "", []),
    ],
)
def test_the_words_of_a_search_are_marked_as_it_found_them(text, query, expected):
    assert [text[start:end] for start, end in marks(text, query)] == expected


def test_letters_without_marks_are_those_of_each_code_point():
    """Against the definition, code point by code point."""
    draw = random.Random(1)
    ranges = (range(128), range(128), range(0x80, 0x3000), range(0xAC00, 0x11000))
    for _ in range(3000):
        text = "".join(chr(draw.choice(draw.choice(ranges))) for _ in range(draw.randrange(12)))
        expected = [
            (part.lower(), place)
            for place, char in enumerate(text)
            for part in unicodedata.normalize("NFD", char)
            if unicodedata.category(part) not in ("Mn", "Cf")
        ]

        letters, places = _without_marks(text)
        assert letters == "".join(part for part, _place in expected)
        assert list(places) == [place for _part, place in expected] + [len(text)]
