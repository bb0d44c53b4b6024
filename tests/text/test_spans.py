"""Spans: what overlaps, nests and crosses, and which are kept where only flat ones fit."""

from workbench.text.spans import Span, crossing, flatten, nested, overlap


def test_spans_that_only_touch_do_not_overlap():
    assert not overlap(Span(0, 3, "A"), Span(3, 5, "A")) and overlap(
        Span(0, 4, "A"), Span(3, 5, "A")
    )
    assert not overlap(Span(0, 4, "A"), Span(0, 4, "A", field="text_b"))


def test_crossing_spans_overlap_and_neither_lies_within_the_other():
    outer, inner, across = Span(0, 8, "A"), Span(2, 8, "B"), Span(6, 10, "C")

    assert nested(inner, outer) and not crossing(inner, outer)
    assert crossing(outer, across) and not nested(across, outer)


def test_of_overlapping_spans_the_longest_is_kept_and_the_earliest_on_a_tie():
    long, within, tie, apart, empty = (
        Span(0, 6, "A"),
        Span(1, 3, "B"),
        Span(4, 10, "C"),
        Span(10, 12, "D"),
        Span(12, 12, "E"),
    )

    assert flatten([apart, tie, within, long, empty]) == ((long, apart), 3)


def test_flattening_many_spans_equals_the_plain_comparison_of_all_with_all():
    from random import Random

    draw = Random(3)
    for _round in range(50):
        given = []
        for _number in range(30):
            start = draw.randrange(60)
            given.append(
                Span(
                    start,
                    start + draw.randrange(9),
                    draw.choice("AB"),
                    draw.choice(("text", "text_b")),
                )
            )
        kept = []
        for span in sorted(given, key=lambda s: (s.start - s.end, s.start, s.label)):
            if span.start < span.end and not any(overlap(span, other) for other in kept):
                kept.append(span)

        flat, left_out = flatten(given)
        assert set(flat) == set(kept) and left_out == len(given) - len(flat)
        assert list(flat) == sorted(flat, key=lambda s: (s.field, s.start, s.end))
