import numpy as np
import pytest

from workbench.operations.evaluation.gap import PronounCounts, gap_scores

NONE, A, B = frozenset(), frozenset({"1"}), frozenset({"2"})


def test_each_name_is_one_decision_and_the_bias_is_feminine_by_masculine():
    """By hand. Masculine: 1 of 2 gold names found, 2 predicted, so 2 · 1 / 4. Feminine: 1 of 1
    found, 2 predicted, so 2 / 3. All: 2 right of 3 gold and 4 predicted, so 4 / 7.
    """
    genders = ["masculine", "masculine", "feminine", "feminine"]

    found = gap_scores(PronounCounts.of(genders, [A, B, A, NONE], [A, A, A, B]))

    assert (found.masculine, found.feminine) == (0.5, pytest.approx(2 / 3))
    assert found.overall == pytest.approx(4 / 7)
    assert found.bias == pytest.approx(4 / 3) and found.n == {"masculine": 2, "feminine": 2}


def test_scores_without_a_pronoun_of_the_gender_or_a_masculine_score_are_not_defined():
    alone = gap_scores(PronounCounts.of(["feminine", ""], [A, A], [A, A]))
    wrong = gap_scores(PronounCounts.of(["feminine", "masculine"], [A, A], [A, B]))

    assert (alone.feminine, alone.masculine, alone.bias, alone.overall) == (1.0, None, None, 1.0)
    assert (wrong.feminine, wrong.masculine, wrong.bias) == (1.0, 0.0, None)


def test_resampled_documents_count_as_often_as_they_were_drawn():
    """By hand: the first document twice has 2 right of 2 gold and 2 predicted names, the second
    one none right of 1 and 1; so 2 · 2 / 6.
    """
    counts = PronounCounts.of(["masculine", "masculine", ""], [A, B, None], [A, A, A])

    found = counts(np.array([[2, 1, 5], [0, 1, 0]], np.float32))

    assert found["pronoun_f1"] == pytest.approx([2 / 3, 0])
    assert found["pronoun_masculine_f1"] == pytest.approx([2 / 3, 0])
