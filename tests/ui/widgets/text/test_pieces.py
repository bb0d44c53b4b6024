"""Pieces of a text: laid out in parts, they give the same lines as in one layout."""

import random

import pytest
from PySide6.QtGui import QFont, QTextLayout, QTextOption

from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map
from workbench.ui.widgets.text.piece import Measures
from workbench.ui.widgets.text.pieces import KEPT, Pieces
from workbench.ui.widgets.text.span_layout import SpanIndex, TextSpan

WORDS = "the tram from Harbour Gate was late 😀 again — wer weiß warum".split()


def font() -> QFont:
    it = QFont("DejaVu Sans")
    it.setPixelSize(16)
    return it


def long_line(length: int, words=WORDS, joint=" ") -> str:
    draw, parts, size = random.Random(3), [], 0
    while size < length:
        parts.append(draw.choice(words) + joint)
        size += len(parts[-1])
    return "".join(parts)[:length]


def make(text: str, width=500.0, spans=()) -> Pieces:
    return Pieces(DisplayText(text), Measures(font(), width, 19.0, 6.0, 8.0, 1), SpanIndex(spans))


def line_starts(pieces: Pieces) -> list[int]:
    return [
        pieces.position(i, line.first)
        for i in range(len(pieces.pieces))
        for line in pieces.ensure(i).lines
    ]


def starts_in_one_layout(text: str, width=500.0) -> list[int]:
    """The reference: the whole line shaped by Qt at once."""
    layout, units, option = QTextLayout(text, font()), Utf16Map(text), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    result = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        result.append(units.to_point(line.textStart()))
    layout.endLayout()
    return result


def settle(pieces: Pieces) -> None:
    while pieces.settle():
        pass


@pytest.mark.parametrize(
    "text",
    [long_line(20_000), long_line(9_000, list("公共汽车晚点了我们在站台"), ""), "x" * 8_000],
    ids=["words", "han", "one word"],
)
def test_a_line_cut_into_pieces_wraps_as_it_does_in_one(qapp, text):
    pieces = make(text)
    settle(pieces)

    assert len(pieces.pieces) > 2
    assert line_starts(pieces) == starts_in_one_layout(text)


def test_a_jump_into_the_middle_starts_at_a_guess_that_gives_way_to_the_true_lines(qapp):
    text = long_line(30_000)
    pieces = make(text)
    pieces.locate(21_000)
    guessed = len(pieces.pieces)
    pieces.locate(9_000)
    settle(pieces)

    assert guessed == 3
    assert line_starts(pieces) == starts_in_one_layout(text)
    assert all(piece.chained for piece in pieces.pieces)


def test_pieces_cover_the_text_without_gap_or_overlap_after_any_jumps(qapp):
    text = long_line(12_000) + "\n\r\n" + long_line(9_000) + "\u2029" + long_line(50)
    pieces, draw = make(text), random.Random(5)
    for _ in range(60):
        place = draw.randrange(len(text) + 1)
        index, line = pieces.locate(place)
        assert pieces.pieces[index].start <= pieces.text.legal(place) <= pieces.pieces[index].end
        if draw.random() < 0.3:
            pieces.settle()

    for number, (start, end) in enumerate(zip(pieces.text.starts, pieces.text.ends, strict=True)):
        own = [piece for piece in pieces.pieces if piece.paragraph == number]
        assert own[0].start == start and own[-1].end == end
        assert all(item.end == other.start for item, other in zip(own, own[1:], strict=False))


def test_a_new_span_shapes_nothing_and_moves_lines_only_where_a_lane_is_added(qapp):
    pieces = make("alpha beta gamma\ndelta", spans=[TextSpan(0, 5, "A", 0, 1)])
    settle(pieces)
    layout, height = pieces.ensure(0).layout, pieces.height

    pieces.respan(SpanIndex([TextSpan(0, 5, "A", 0, 1), TextSpan(6, 10, "B", 0, 2)]), [(6, 10)])
    pieces.ensure(0)
    assert pieces.pieces[0].layout is layout and pieces.height == height

    pieces.respan(SpanIndex([TextSpan(0, 5, "A", 0, 1), TextSpan(0, 10, "B", 0, 2)]), [(0, 10)])
    pieces.ensure(0)
    assert pieces.pieces[0].layout is layout and pieces.height == height + 19


def test_memory_for_shaping_is_bounded_and_dropped_pieces_come_back_the_same(qapp):
    text = "\n".join(long_line(700) for _ in range(400))
    pieces = make(text)
    settle(pieces)
    kept = sum(piece.end - piece.start for piece in pieces.pieces if piece.layout)
    height = pieces.height_of(0)

    assert kept <= KEPT and pieces.pieces[0].layout is None
    assert pieces.ensure(0).lines and pieces.height_of(0) == height


def test_an_empty_text_and_empty_paragraphs_have_a_line_each(qapp):
    assert len(make("").ensure(0).lines) == 1
    pieces = make("a\n\n")
    assert [len(pieces.ensure(i).lines) for i in range(3)] == [1, 1, 1]


def test_a_new_span_places_its_line_alone_and_those_that_it_moves():
    first = TextSpan(100, 110, "PER", 0, 1)
    pieces = make(long_line(900), spans=[first])
    before = list(pieces.ensure(0).placed)
    at = next(i for i, line in enumerate(before) if line.items)

    other = TextSpan(before[at + 2].first, before[at + 2].first + 5, "LOC", 1, 2)
    pieces.respan(SpanIndex([first, other]), [(other.start, other.end)])
    after = pieces.ensure(0).placed
    assert [new is old for new, old in zip(after, before, strict=True)] == [
        number != at + 2 for number in range(len(before))
    ]

    below = TextSpan(102, 105, "ORG", 2, 3)  # in a second lane, which moves the lines that follow
    pieces.respan(SpanIndex([first, other, below]), [(below.start, below.end)])
    moved = pieces.ensure(0).placed
    assert [new is old for new, old in zip(moved, after, strict=True)] == [
        number < at for number in range(len(before))
    ]
    fresh = make(long_line(900), spans=[first, other, below]).ensure(0).placed
    assert [(line.top, line.pitch) for line in moved] == [(line.top, line.pitch) for line in fresh]
    assert [len(line.items) for line in moved] == [len(line.items) for line in fresh]
