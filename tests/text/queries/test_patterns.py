"""Regular expressions that a user enters."""

import pytest

from workbench.base.errors import SpecError
from workbench.text.queries.patterns import REGEX, WORDS, Pattern, PatternSearch, matcher


def test_an_expression_that_is_slow_on_every_text_is_stopped_after_a_total(monkeypatch):
    monkeypatch.setattr("workbench.text.queries.patterns.TOTAL_SECONDS", 0.05)
    matches = matcher("(.*?,){7}P")

    with pytest.raises(SpecError, match="has taken more than 0 s on the texts so far"):
        for _number in range(2_000):
            matches("1," * 22)


def found(text, *patterns):
    return [
        (text[hit.start : hit.end], hit.pattern) for hit in PatternSearch(patterns).find(text, "d1")
    ]


def test_words_are_found_whole_and_in_any_case_by_default():
    assert found("York, yorks and YORK", Pattern(WORDS, "york")) == [("York", 0), ("YORK", 0)]


def test_case_and_parts_of_words_are_options():
    text = "York yorks"

    assert found(text, Pattern(WORDS, "york", match_case=True)) == []
    assert found(text, Pattern(WORDS, "york", whole_words=False)) == [("York", 0), ("york", 0)]


def test_of_overlapping_matches_for_one_label_the_longest_is_kept():
    words = Pattern(WORDS, "New York\nYork\nnew", label_id=1)
    other = Pattern(WORDS, "York", label_id=2)

    assert found("in New York", words, other) == [("New York", 0), ("York", 1)]


def test_offsets_count_code_points_after_emoji_and_lone_surrogates():
    hits = PatternSearch([Pattern(WORDS, "Zürich")]).find("😀\ud800 Zu\u0308rich, Zürich")

    assert [(hit.start, hit.end) for hit in hits] == [(3, 10), (12, 18)]


def test_words_in_scripts_without_spaces_and_from_right_to_left_are_found():
    patterns = Pattern(WORDS, "北京\nالقاهرة")

    assert found("我在北京住。", patterns) == [("北京", 0)]
    assert found("زرت القاهرة أمس", patterns) == [("القاهرة", 0)]


def test_a_word_in_two_lists_is_found_for_both_and_a_space_matches_a_line_break():
    lists = [Pattern(WORDS, "Elm Park", label_id=1), Pattern(WORDS, "elm park", label_id=2)]

    assert found("at Elm\nPark", *lists) == [("Elm\nPark", 0), ("Elm\nPark", 1)]


def test_a_regular_expression_is_found_without_empty_matches():
    assert found("£12 or £3.50", Pattern(REGEX, r"£\d+(\.\d+)?")) == [("£12", 0), ("£3.50", 0)]
    assert found("abc", Pattern(REGEX, r"\d*")) == []


def test_an_invalid_expression_is_named():
    with pytest.raises(SpecError, match=r"'\(a' is not a regular expression"):
        PatternSearch([Pattern(REGEX, "(a")])


def test_an_expression_that_takes_too_long_is_stopped_with_its_name_and_place(monkeypatch):
    monkeypatch.setattr("workbench.text.queries.patterns.SECONDS", 0.05)
    slow = Pattern(REGEX, "(.*?,){25}P", whole_words=False)

    with pytest.raises(SpecError, match=r"/\(\.\*\?,\)\{25\}P/ takes more than .* on document d1"):
        found("1," * 60, slow)


def test_a_search_that_is_slow_on_every_text_is_stopped_after_a_total(monkeypatch):
    monkeypatch.setattr("workbench.text.queries.patterns.TOTAL_SECONDS", 0.05)
    search = PatternSearch([Pattern(REGEX, "(.*?,){7}P", whole_words=False)])

    with pytest.raises(SpecError, match=r"\{7\}P/ has taken more than 0 s on the documents up to"):
        for number in range(2_000):
            search.find("1," * 22, f"d{number}")


def test_the_title_of_a_pattern_is_one_short_line():
    assert Pattern(WORDS, "Elm Park\nOld Dock").title == "Elm Park, Old Dock"
    assert Pattern(REGEX, r"\d+").title == r"/\d+/"
    assert len(Pattern(WORDS, "word " * 100).title) == 60
