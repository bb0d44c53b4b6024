"""Relations above a line: levels without overlaps, legs without crossings, arcs that continue."""

import random

from workbench.ui.widgets.text.arc_layout import (
    MOST_LEVELS,
    ArcIndex,
    Seat,
    TextArc,
    levels,
    line_arcs,
)


def arc(id, item=(0, 1), other=(5, 6)):
    return TextArc(item, other, "label", 0, id)


def seat(id, item, other, on_right=True):
    return Seat(arc(id), item, other, on_right)


def test_nested_arcs_stand_above_those_they_contain():
    outer, inner = seat(1, (0, 40), (300, 340)), seat(2, (100, 140), (200, 240))

    found = {line_arc.arc.id: line_arc.level for line_arc in line_arcs([outer, inner], 500)}

    assert found == {1: 1, 2: 0}


def test_horizontals_of_one_level_never_overlap():
    random.seed(7)
    words = [(20.0 * n, 20.0 * n + 18) for n in range(24)]
    seats = [seat(n, *random.sample(words, 2)) for n in range(40)]

    found = line_arcs(seats, 500)

    for item in found:
        for other in found:
            if item is not other and item.level == other.level:
                assert item.right < other.left or other.right < item.left
    assert levels(found) == MOST_LEVELS


def test_legs_over_a_span_stand_apart_the_longest_arc_inside():
    """To the right: the longest is left of the shorter ones, so that it crosses none of them."""
    word = (100.0, 160.0)
    found = line_arcs([seat(1, word, (200, 220)), seat(2, word, (300, 320))], 500)

    legs = {item.arc.id: item.from_x for item in found}
    assert 100 < legs[2] < legs[1] < 160


def test_an_arc_to_another_line_leaves_at_the_edge_and_returns():
    (leaves,) = line_arcs([seat(1, (100, 140), None)], 500)
    (returns,) = line_arcs([seat(1, None, (60, 80), on_right=False)], 500)

    assert (leaves.right, leaves.to_x) == (500, None)
    assert (returns.left, returns.from_x, returns.right) == (0, None, 70)


def test_arcs_are_found_by_the_starts_of_their_spans():
    index, first, second = ArcIndex(), arc(1, (0, 3), (10, 12)), arc(2, (10, 12), (11, 15))
    index.exchange((), [first, second])

    assert index.between(10, 12) == [first, second]
    index.exchange([first], ())
    assert index.between(0, 100) == [second]
