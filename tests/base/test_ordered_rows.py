"""Rows in order: an edit gives what sorting all of them gives, and tells what it changed."""

import random
from typing import NamedTuple

import pytest

from workbench.base.ordered_rows import OrderedRows, RowChange


class Row(NamedTuple):
    id: int
    place: int
    kind: str = "a"


class ByPlace(OrderedRows[Row]):
    @staticmethod
    def order(row):
        return row.place, row.id


def by_place(*rows):
    return ByPlace(sorted(rows, key=ByPlace.order))


@pytest.fixture
def rows():
    return by_place(Row(1, 5), Row(2, 9), Row(3, 5))


def test_added_changed_and_removed_rows_are_found_in_order(rows):
    made = rows.exchanged([1, 2], [Row(2, 1), Row(4, 7)])

    assert made == (Row(2, 1), Row(3, 5), Row(4, 7))
    assert made.by_id == {2: Row(2, 1), 3: Row(3, 5), 4: Row(4, 7)}
    assert [made.number_of(id) for id in (2, 3, 4, 1)] == [0, 1, 2, None]
    assert rows == (Row(1, 5), Row(3, 5), Row(2, 9))
    assert rows.by_id == {1: Row(1, 5), 2: Row(2, 9), 3: Row(3, 5)}


def test_the_change_is_known_from_the_rows_before_only(rows):
    made = rows.exchanged([1], [Row(4, 7)])
    again = made.exchanged([], [Row(5, 8)])

    assert made.changes(rows) == RowChange((Row(1, 5),), (Row(4, 7),), False, (0,), (1,))
    assert again.changes(made) == RowChange((), (Row(5, 8),), False, (), (2,))
    assert again.changes(again) == RowChange()
    assert again.changes(rows) is None and rows.changes(made) is None and rows.changes(None) is None


@pytest.mark.parametrize(
    ("new", "in_place"), [(Row(3, 5, "b"), True), (Row(3, 6), True), (Row(3, 4), False)]
)
def test_a_row_that_keeps_its_position_is_changed_in_place(rows, new, in_place):
    made = rows.exchanged([3], [new])

    assert made.change.in_place is in_place


def test_rows_of_unknown_ids_are_skipped(rows):
    assert rows.exchanged([77], []) == rows
    assert rows.exchanged([77], []).change == RowChange()


def test_a_part_of_the_rows_follows_the_edits_of_the_whole():
    draw = random.Random(1)
    rows = by_place(*(Row(n, draw.randrange(30), draw.choice("ab")) for n in range(20)))
    part = ByPlace(row for row in rows if row.kind == "a")

    for _turn in range(300):
        ids = draw.sample(range(30), 3)
        come = [Row(id, draw.randrange(30), draw.choice("ab")) for id in ids[:2]]
        made = rows.exchanged(ids, come)
        kept = made.kept(rows, part, lambda row: row.kind == "a")

        assert made == by_place(*made) and set(come) <= set(made)
        assert kept == tuple(row for row in made if row.kind == "a")
        assert set(kept.by_id.values()) == set(kept)
        rows, part = made, kept


def test_a_part_cannot_follow_an_unknown_change(rows):
    assert rows.kept(by_place(Row(1, 1)), by_place(), lambda row: True) is None
