"""Quoted strings are placed in the text: which occurrences, which boundaries, what is missing."""

import pytest

from workbench.prompting.answers.mentions import Places, place

TEXT = "Ada met Adam. Ada left the University of Rome, and Rome."


def spans(quotes, mentions="all", text=TEXT):
    ranges, unplaced = place(Places(text), quotes, mentions)
    return [(start, end) for start, end, _label in ranges], unplaced


@pytest.mark.parametrize(
    ("mentions", "ranges"),
    [("all", [(0, 3), (14, 17)]), ("first", [(0, 3)]), ("order", [(0, 3)])],
)
def test_whole_words_come_first(mentions, ranges):
    assert spans([("Ada", "PER")], mentions) == (ranges, ())


def test_a_part_of_a_word_counts_if_there_is_no_whole_one():
    assert spans([("Univers", "ORG")]) == ([(27, 34)], ())


def test_by_order_of_mention_a_repeated_string_is_the_next_one():
    quotes = [("Ada", "PER"), ("Adam", "PER"), ("Ada", "PER")]

    assert spans(quotes, "order") == ([(0, 3), (8, 12), (14, 17)], ())


def test_nested_mentions_are_both_placed_and_order_goes_on_within():
    quotes = [("University of Rome", "ORG"), ("Rome", "LOC"), ("Rome", "LOC")]

    assert spans(quotes, "order") == ([(27, 45), (41, 45), (51, 55)], ())


def test_one_that_was_added_at_the_end_is_before_the_others():
    assert spans([("Rome", "LOC"), ("Adam", "PER")], "order") == ([(8, 12), (41, 45)], ())


def test_white_space_is_compared_as_one_space_and_nothing_else_is_changed():
    text = "New\n  York and New-York"

    assert spans([("New York", "LOC")], text=text) == ([(0, 10)], ())
    assert spans([("NewYork", "LOC")], text=text) == ([], ("NewYork",))


def test_case_counts_unless_nothing_is_equal():
    text = "us and US and Us"

    assert spans([("US", "LOC")], text=text)[0] == [(7, 9)]
    assert spans([("uS", "LOC")], text=text)[0] == [(0, 2), (7, 9), (14, 16)]


def test_what_the_text_lacks_is_listed():
    assert spans([("Eve", "PER"), ("Ada", "PER"), ("", "PER")], "first") == ([(0, 3)], ("Eve", ""))


def test_offsets_are_code_points_in_scripts_without_spaces_too():
    assert spans([("东京", "LOC")], text="😀我在东京") == ([(3, 5)], ())
