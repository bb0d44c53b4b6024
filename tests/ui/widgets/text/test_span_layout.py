"""Lanes, visual runs and space for captions."""

import pytest
from PySide6.QtGui import QFont, QFontMetricsF

from workbench.ui.style import theme
from workbench.ui.widgets.text.offsets import DisplayText
from workbench.ui.widgets.text.piece import Measures
from workbench.ui.widgets.text.pieces import Pieces
from workbench.ui.widgets.text.span_layout import (
    GOLD,
    PREDICTED,
    SUGGESTED,
    SpanIndex,
    TextSpan,
    assign_lanes,
)
from workbench.ui.widgets.text.span_painter import abbreviated


def pieces_of(text: str, spans=(), width=800.0, least=1) -> Pieces:
    font = QFont("DejaVu Sans")
    font.setPixelSize(16)
    return Pieces(DisplayText(text), Measures(font, width, 19.0, 6.0, 8.0, least), SpanIndex(spans))


def items_of(text: str, *spans: TextSpan, **how):
    return [item for line in pieces_of(text, spans, **how).ensure(0).lines for item in line.items]


def test_spans_that_meet_go_to_different_lanes_and_others_share_one():
    assert assign_lanes([(0, 10), (2, 4), (3, 6), (10, 12)]) == [0, 1, 2, 0]


def test_a_span_of_zero_length_takes_a_place_of_its_own():
    assert assign_lanes([(3, 3), (3, 5)]) == [0, 1]


def test_a_nested_span_lies_under_the_outer_one_and_only_the_outer_has_a_ground(qapp):
    outer, inner = items_of(
        "The 42 tram came", TextSpan(0, 11, "VEHICLE", 0, 1), TextSpan(4, 6, "LINE", 1, 2)
    )

    assert (outer.lane, inner.lane) == (0, 1)
    assert outer.ground == outer.runs and inner.ground == ()


def test_of_crossing_spans_the_later_one_gets_ground_where_it_stands_out(qapp):
    first, second = items_of(
        "alpha beta gamma", TextSpan(0, 10, "A", 0, 1), TextSpan(6, 16, "B", 1, 2)
    )

    assert second.lane == 1
    assert second.ground[0][0] == first.runs[0][1] and second.ground[0][1] == second.runs[0][1]


def test_gold_is_nearest_to_the_text_whatever_is_suggested(qapp):
    spans = (
        TextSpan(0, 16, "A", 0, 1, SUGGESTED, 0.9),
        TextSpan(6, 10, "B", 1, 2, GOLD),
        TextSpan(0, 5, "C", 2, 3, PREDICTED, 0.5),
    )
    lanes = {item.span.label: item.lane for item in items_of("alpha beta gamma", *spans)}

    assert lanes == {"B": 0, "A": 1, "C": 0}


def test_captions_end_before_the_next_span_of_their_lane(qapp):
    first, second = items_of(
        "of it", TextSpan(0, 2, "A LONG NAME", 0, 1), TextSpan(3, 5, "B", 1, 2)
    )

    assert first.room[1] <= second.runs[0][0]
    assert second.room[1] == 800


@pytest.mark.parametrize("caption", ["PER.NOM", "ORG.NAM", "地名.指称", "บุคคล"])
def test_captions_are_abbreviated_from_their_end(look, caption):
    metrics = QFontMetricsF(theme.font("tiny", 600))
    shown = [abbreviated(caption, room, metrics) for room in range(60)]

    for room, text in enumerate(shown):
        assert caption.startswith(text.removesuffix("…"))
        assert metrics.horizontalAdvance(text) <= room
    assert shown[0] == "" and shown[-1] == caption
    assert len(shown[13]) > 0  # the room beside a Chinese character that a span follows


def test_in_right_to_left_text_a_caption_ends_at_the_start_of_its_span(qapp):
    (item,) = items_of("האוטובוס הגיע מאוחר", TextSpan(9, 13, "T", 0, 1))

    assert item.rtl and item.caption_box[1] == item.runs[-1][1]
    assert item.runs[0][0] > 400  # a short right-to-left line is aligned to the right


def test_a_span_over_a_change_of_direction_has_several_visual_runs(qapp):
    (item,) = items_of("נסענו abc def הביתה", TextSpan(3, 9, "T", 0, 1))

    assert len(item.runs) == 2


def test_a_span_over_a_wrap_is_on_both_lines_and_captioned_once(qapp):
    items = items_of("alpha beta gamma delta epsilon zeta", TextSpan(0, 35, "A", 0, 1), width=120.0)

    assert len(items) > 2 and [item.first for item in items] == [True] + [False] * (len(items) - 1)


def test_a_span_of_zero_length_can_be_seen_even_at_the_end(qapp):
    (item,) = items_of("abc", TextSpan(3, 3, "A", 0, 1))

    assert item.runs[0][1] - item.runs[0][0] == 3.0


def test_the_index_finds_what_touches_a_range():
    index = SpanIndex(
        [
            TextSpan(0, 100, "L", 0, 1),
            TextSpan(10, 20, "A", 0, 2),
            TextSpan(20, 30, "B", 0, 3),
            TextSpan(25, 25, "Z", 0, 4),
        ]
    )

    assert [span.label for span in index.touching(20, 25)] == ["L", "B", "Z"]
    assert [span.label for span in index.at(12)] == ["A", "L"]


def test_a_caption_shows_kind_and_score():
    assert TextSpan(0, 1, "A", 0).caption == "A"
    assert TextSpan(0, 1, "A", 0, 1, SUGGESTED, 0.714).caption == "A · 0.71 ?"
    assert TextSpan(0, 1, "A", 0, 1, PREDICTED, 0.5, "missed").caption == "A · 0.50 · missed"
