import numpy as np
import pytest

from workbench.prompting.score import label_score, prediction, shares


def test_a_label_scores_the_mean_of_its_subwords():
    assert label_score([-1.0, -3.0]) == -2.0
    assert label_score([]) == float("-inf")


def test_shares_by_hand():
    # exp(0) : exp(-ln 3) = 3 : 1
    assert shares([0.0, -np.log(3)]) == pytest.approx([0.75, 0.25])
    assert shares([-1000.0, -1000.0]) == pytest.approx([0.5, 0.5])
    assert shares([float("-inf")] * 2) == pytest.approx([0.5, 0.5])


def test_the_answer_names_the_label_with_the_highest_mean():
    found = prediction({"delay": [-2.0, -2.0], "ticket": [-3.0]}, cut=True)

    assert found.label == "delay" and found.cut
    assert sum(found.classes.scores) == pytest.approx(1)
