"""Word and sentence boundaries."""

import pytest

from workbench.ui.widgets.text.bounds import Bounds
from workbench.ui.widgets.text.offsets import DisplayText


def bounds(text: str, tokens=()) -> Bounds:
    return Bounds(DisplayText(text), tokens)


def words(text: str) -> list[str]:
    it, collected, place = bounds(text), [], 0
    while (after := it.word_end_after(place)) != place:
        start, end = it.word_at(after - 1)
        collected.append(text[start:end])
        place = after
    return collected


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Don’t stop, it’s 12.30 now.", ["Don’t", "stop", ",", "it", "’s", "12.30", "now", "."]),
        ("well-known", ["well", "-", "known"]),
        ("نصف ساعة، ثم", ["نصف", "ساعة", "،", "ثم"]),
        ("公共汽车", ["公", "共", "汽", "车"]),
        ("a 👩\u200d👩\u200d👧 b", ["a", "👩\u200d👩\u200d👧", "b"]),
    ],
)
def test_words_are_those_of_unicode(qapp, text, wanted):
    assert words(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the U.S. has", ["the", "U.S.", "has"]),
        ("U.S, e.g. J.K. Rowling", ["U.S", ",", "e.g.", "J.K.", "Rowling"]),
        ("U.S.A. W. Bush.", ["U.S.A.", "W", ".", "Bush", "."]),
        ("see a.txt or 1.2.3 and U.S.A", ["see", "a", ".", "txt", "or", "1.2.3", "and", "U.S.A"]),
        ("Б.Н. Ельцин", ["Б.Н.", "Ельцин"]),
    ],
)
def test_letters_between_full_stops_are_one_word(qapp, text, wanted):
    assert words(text) == wanted


@pytest.mark.parametrize("name", ["America's", "Kerry’s", "AMERICA'S"])
def test_a_possessive_is_no_part_of_a_name(qapp, name):
    it = bounds(f"In {name} south")
    end = 3 + len(name) - 2

    assert it.word_at(5) == (3, end) and it.snap(4, end - 1) == (3, end)
    assert it.next_word(3) == end and it.snap(4, end + 1) == (3, 3 + len(name))
    assert bounds("yes").word_at(0) == (0, 3)


def test_a_caret_behind_a_word_still_means_it_and_one_in_space_the_next(qapp):
    it = bounds("alpha  beta")

    assert [it.word_at(place) for place in (0, 3, 5, 6, 7, 11)] == [
        (0, 5),
        (0, 5),
        (0, 5),
        (7, 11),
        (7, 11),
        (7, 11),
    ]


def test_snapping_grows_to_words_and_leaves_space_out(qapp):
    it = bounds("alpha beta gamma")

    assert it.snap(2, 8) == (0, 10)
    assert it.snap(5, 11) == (6, 10)
    assert it.snap(5, 6) == (5, 6)  # blank text stays unchanged
    assert it.snap(3, 3) == (3, 3)


def test_steps_by_word_cross_paragraphs(qapp):
    it = bounds("one two\r\n\r\nthree")

    assert it.word_end_after(7) == 16 and it.word_start_before(11) == 4
    assert it.next_word(4) == 7 and it.next_word(7) == 9
    assert it.previous_word(11) == 9 and it.previous_word(4) == 0


def test_tokens_of_an_import_go_before_the_rules(qapp):
    it = bounds("can't do", ((0, 2), (2, 5), (6, 8)))

    assert it.word_at(3) == (2, 5) and it.snap(1, 7) == (0, 8)


def test_a_sentence_is_found_within_its_paragraph(qapp):
    text = "One came. Two went home!\nThree stayed."
    it = bounds(text)

    start, end = it.sentence_at(12)
    assert text[start:end] == "Two went home!"
    start, end = it.sentence_at(len(text))
    assert text[start:end] == "Three stayed."


def test_far_into_a_long_line_only_its_surroundings_are_looked_at(qapp):
    text = "word " * 40_000
    it = bounds(text)

    assert it.word_at(100_002) == (100_000, 100_004)
    assert it.snap(100_002, 150_001) == (100_000, 150_004)


@pytest.mark.parametrize(
    "snap, expected",
    [("word", "met Bob"), ("grapheme", "et B"), ("off", "et B"), ("sentence", "Ada met Bob.")],
)
def test_a_selection_snaps_to_what_its_layer_says(snap, expected):
    text = "Ada met Bob. Then left."
    start, end = bounds(text).of(snap).snap(5, 9)

    assert text[start:end] == expected


def test_no_character_of_a_reader_is_cut_unless_snapping_is_off():
    text = "👨‍👩‍👧 cafe\u0301"

    assert bounds(text).of("grapheme").snap(1, 10) == (0, 11)
    assert bounds(text).of("off").snap(1, 10) == (1, 10)


def test_letters_of_scripts_without_spaces_are_words_of_their_own():
    found = bounds("東京へ行く。สวัสดี")

    assert found.snap(1, 2) == (1, 2)
    assert found.snap(6, 7) == (6, 7)
    assert found.snap(7, 8) == (7, 9)  # with its vowel


def test_ends_move_by_what_spans_snap_to():
    found = bounds("Ada met. Bob left. Ok")

    assert found.of("sentence").word_end_after(8) == 18
    assert found.of("grapheme").word_end_after(8) == 10
    assert found.of("sentence").word_at(10) == (9, 18)
    assert found.of("grapheme").word_at(10) == (9, 12)


def test_a_sentence_goes_on_after_an_abbreviation():
    assert bounds("Dr. Smith left. Ok").sentence_at(1) == (0, 15)
