import pytest

from workbench.metrics.gap import gap_scores

NONE, A, B = frozenset(), frozenset({"1"}), frozenset({"2"})


def test_each_name_is_one_decision_and_the_bias_is_feminine_by_masculine():
    """By hand. Masculine: 1 of 2 gold names found, 2 predicted, so 2 · 1 / 4. Feminine: 1 of 1
    found, 2 predicted, so 2 / 3. All: 2 right of 3 gold and 4 predicted, so 4 / 7.
    """
    genders = ["masculine", "masculine", "feminine", "feminine"]

    found = gap_scores(genders, gold=[A, B, A, NONE], predicted=[A, A, A, B])

    assert (found.masculine, found.feminine) == (0.5, pytest.approx(2 / 3))
    assert found.overall == pytest.approx(4 / 7)
    assert found.bias == pytest.approx(4 / 3) and found.n == {"masculine": 2, "feminine": 2}


def test_without_a_masculine_score_there_is_no_bias():
    found = gap_scores(["feminine", ""], gold=[A, A], predicted=[A, A])

    assert (found.feminine, found.masculine, found.bias, found.overall) == (1.0, 0.0, None, 1.0)
