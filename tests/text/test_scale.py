import pytest

from workbench.text.scale import Scale, decimals_of, number_texts, shortest


def test_the_scale_of_imported_numbers_has_whole_ends():
    assert Scale.covering(0.2, 4.75, 1) == Scale(0.0, 5.0, 0.1)
    assert Scale.covering(0, 4.667, 6) == Scale(0.0, 5.0, 0.1)  # 50 steps, not five million
    assert Scale.covering(0.25, 0.75, 2) == Scale(0.0, 1.0, 0.01)
    assert Scale.covering(0, 800, 1) == Scale(0.0, 800.0, 1.0)
    assert Scale.covering(-1.5, 0.0, 1) == Scale(-2.0, 0.0, 0.1)
    assert Scale.covering(3, 3, 0) == Scale(0.0, 3.0, 1.0)


@pytest.mark.parametrize(
    "options",
    [{"maximum": 0}, {"step": 0}, {"step": 9}, {"minimum": "a"}, {"maximum": float("inf")}, {}],
)
def test_options_without_a_valid_scale_give_the_default_one(options):
    assert Scale.of(options) == Scale(0.0, 5.0, 1.0)


def test_numbers_are_moved_to_the_nearest_step():
    scale = Scale(1.0, 5.0, 0.2)
    assert [scale.nearest(item) for item in (0.0, 1.29, 1.31, 9.0)] == [1.0, 1.2, 1.4, 5.0]
    assert (scale.steps, scale.decimals) == (20, 1)


def test_decimals_and_the_shortest_form_of_numbers():
    assert [decimals_of(item) for item in (4.0, 0.1, 2.25)] == [0, 1, 2]
    assert [shortest(item) for item in (4.0, 3.5, 0.30000000000000004)] == [
        "4", "3.5", "0.30000000000000004",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "count", "first", "last"),
    [
        ((0, 5), 26, "0.0", "5.0"),  # STS-B, as in T5
        ((1, 5), 21, "1.0", "5.0"),
        ((0.1, 0.98), 45, "0.10", "0.98"),
        ((-1, 1), 21, "-1.0", "1.0"),
        ((0, 100), 21, "0", "100"),
        ((3, 3), 1, "3", "3"),
        ((0.1, 4.9, 0.25), 21, "0.00", "5.00"),
    ],
)
def test_written_numbers_cover_their_range_in_round_steps(numbers, count, first, last):
    found = number_texts(*numbers)

    assert (len(found), found[0], found[-1]) == (count, first, last)
    assert sorted(map(float, found)) == [*map(float, found)] and "-0.0" not in found
