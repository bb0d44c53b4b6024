"""Spans found again in a similar text, and the words that differ."""

import pytest

from workbench.text.similar.carrying import Carrying, differences
from workbench.text.spans import Span


@pytest.mark.parametrize(
    ("source", "target", "span", "expected"),
    [
        ("Ada met Bob", "Ada met Bob", (8, 11), (8, 11)),
        ("Ada met Bob", "Yes, Ada met old Bob", (0, 3), (5, 8)),
        ("Ada met Bob", "Yes, Ada met old Bob", (8, 11), (17, 20)),
        ("Ada met Bob", "Ada saw Eve", (8, 11), None),
        ("New York is big", "New big York is", (0, 8), None),  # its words are apart
        ("New York is big", "New  York is big", (0, 8), None),  # another space
        ("pre-war Paris", "In pre-war Paris", (0, 7), (3, 10)),
        ("Straßenbahn 42", "Die Straßenbahn 42", (0, 7), (4, 11)),  # a part of a word
        ("עדה לוי נסעה", "אתמול עדה לוי נסעה", (0, 7), (6, 13)),
        ("我住在北京", "他说我住在北京", (3, 5), (5, 7)),
        ("a 👩‍👩‍👧 b", "x a 👩‍👩‍👧 b", (2, 7), (4, 9)),
    ],
)
def test_a_range_is_found_by_its_words(source, target, span, expected):
    assert Carrying(source, target).range(*span) == expected


def test_a_span_in_parts_needs_all_of_them():
    span = Span(0, 11, "PER", parts=((0, 3), (8, 11)), id=5)

    found = Carrying("Ada met Bob", "So Ada met Bob").span(span)

    assert found == Span(3, 14, "PER", parts=((3, 6), (11, 14)))
    assert Carrying("Ada met Bob", "So Ada met Eve").span(span) is None


def test_an_empty_span_and_an_empty_text():
    assert Carrying("Ada", "So Ada").range(0, 0) is None  # it has no word
    assert Carrying("", "").range(0, 0) == (0, 0)


def test_differences_are_ranges_of_words_in_both_texts():
    assert differences("the red tram", "the very late tram") == ([(4, 7)], [(4, 13)])
    assert differences("same", "same") == ([], [])
    assert differences("a b", "a b c") == ([], [(4, 5)])
