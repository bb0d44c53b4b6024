"""Offsets of the stored text against Qt's positions."""

import random

import pytest
from PySide6.QtGui import QTextLayout

from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map, has_rtl, is_rtl

PIECES = [
    "a",
    "ß",
    "e\u0301",
    "क्षि",
    "😀",
    "👩\u200d👩\u200d👧",
    "🇩🇪",
    "\U00012000",
    "م",
    "ש",
    "\t",
    "\u200b",
    "\u00ad",
    " ",
    "\ufeff",
    "文",
]


def random_text(
    seed: int, breaks=("\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\f", "\v")
) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice((*PIECES, *breaks)) for _ in range(draw.randrange(60)))


@pytest.mark.parametrize("seed", range(40))
def test_positions_go_to_units_and_back_and_agree_with_utf16(seed):
    text = random_text(seed)
    units = Utf16Map(text)

    for point in range(len(text) + 1):
        unit = units.to_units(point)
        assert unit == len(text[:point].encode("utf-16-le")) // 2
        assert units.to_point(unit) == point
    assert units.units == units.to_units(len(text))


def test_the_second_half_of_a_surrogate_pair_belongs_to_its_character():
    units = Utf16Map("a😀b")

    assert [units.to_point(unit) for unit in range(5)] == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("seed", range(40))
def test_qt_finds_in_a_paragraph_the_very_characters_that_are_stored(qapp, seed):
    text = DisplayText(random_text(seed))

    for start, end in zip(text.starts, text.ends, strict=True):
        shown = text.shown[start:end]
        layout, units = QTextLayout(shown), Utf16Map(shown)
        unit = 0
        while unit < units.units:
            after = layout.nextCursorPosition(unit)
            here, there = start + units.to_point(unit), start + units.to_point(after)
            assert text.text[here:there].encode("utf-16-le", "surrogatepass")
            assert len(text.shown[here:there].encode("utf-16-le")) // 2 == after - unit
            unit = after


def test_qt_takes_every_displayed_character_as_it_is_wherever_it_stands(qapp):
    characters = [
        chr(code)
        for code in range(0x110000)
        if code < 0x3000 or code % 97 == 0 or 0xD7F0 <= code <= 0x10010
    ]

    for char in characters:
        shown = DisplayText(char).shown
        if DisplayText(char).ends[0]:
            assert QTextLayout(shown).text() == shown, hex(ord(char))


def test_every_kind_of_break_parts_paragraphs_and_crlf_is_one_break():
    text = DisplayText("a\r\nb\nc\rd\u2028e\u2029f\x85g\fh\vi")

    assert [text.text[a:b] for a, b in zip(text.starts, text.ends, strict=True)] == list(
        "abcdefghi"
    )


def test_a_text_that_ends_in_a_break_has_an_empty_last_paragraph():
    assert (DisplayText("a\n").starts, DisplayText("a\n").ends) == ([0, 2], [1, 2])
    assert (DisplayText("").starts, DisplayText("").ends) == ([0], [0])


def test_a_caret_is_never_between_cr_and_lf_nor_outside():
    text = DisplayText("a\r\nb")

    assert [text.legal(position) for position in (-3, 0, 1, 2, 3, 4, 9)] == [0, 0, 1, 1, 3, 4, 4]


def test_control_characters_are_shown_as_pictures_and_the_stored_text_stays():
    stored = "a\x07\x00\x7f\x9f\ud800\ufffcb\t"
    text = DisplayText(stored)

    assert text.shown == "a\u2407\u2400\u2421\ufffd\ufffd\ufffdb\t"
    assert text.text == stored and len(text.shown) == len(stored)


def test_the_first_strong_character_gives_the_direction():
    assert is_rtl("… 12 שלום abc") and is_rtl("«وصل» the bus")
    assert not is_rtl("the وصل") and not is_rtl("12 — 3") and not is_rtl("")
    assert is_rtl("\u2066abc\u2069 שלום")  # the contents of an isolate do not count
    assert has_rtl("the وصل") and not has_rtl("the tram 😀")
