"""Spans: what overlaps, nests and crosses, and which are kept where only flat ones fit."""

from workbench.text.spans import Span, crossing, flatten, nested, overlap


def test_spans_that_only_touch_do_not_overlap():
    assert not overlap(Span(0, 3, "A"), Span(3, 5, "A")) and overlap(Span(0, 4, "A"), Span(3, 5, "A"))
    assert not overlap(Span(0, 4, "A"), Span(0, 4, "A", field="text_b"))


def test_crossing_spans_overlap_and_neither_lies_within_the_other():
    outer, inner, across = Span(0, 8, "A"), Span(2, 8, "B"), Span(6, 10, "C")

    assert nested(inner, outer) and not crossing(inner, outer)
    assert crossing(outer, across) and not nested(across, outer)


def test_of_overlapping_spans_the_longest_is_kept_and_the_earliest_on_a_tie():
    long, within, tie, apart, empty = Span(0, 6, "A"), Span(1, 3, "B"), Span(4, 10, "C"), Span(10, 12, "D"), Span(12, 12, "E")

    assert flatten([apart, tie, within, long, empty]) == ((long, apart), 3)
