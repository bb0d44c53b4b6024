"""Confident learning; expected values by hand from the definitions of the paper."""

import numpy as np
import pytest

from workbench.metrics.confident import confident, joint_of

# Three items labelled 0, two labelled 1. Thresholds: (0.9 + 0.8 + 0.1) / 3 and (0.7 + 0.9) / 2.
GIVEN = np.array([0, 0, 0, 1, 1])
PROBABILITIES = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7], [0.1, 0.9]])


def test_an_item_counts_under_the_label_that_reaches_its_threshold():
    found = confident(GIVEN, PROBABILITIES)

    assert found.thresholds == pytest.approx([0.6, 0.8])
    assert found.guess.tolist() == [0, 0, 1, -1, 1]
    assert found.suspect.tolist() == [False, False, True, False, False]


def test_the_joint_is_scaled_to_the_numbers_of_given_labels():
    found = confident(GIVEN, PROBABILITIES)

    assert found.joint == pytest.approx(np.array([[2 / 5, 1 / 5], [0, 2 / 5]]))
    assert found.share == pytest.approx(0.2)


def test_the_margin_orders_a_review():
    found = confident(GIVEN, PROBABILITIES)

    assert found.margin == pytest.approx([0.8, 0.6, -0.8, 0.4, 0.8])


def test_of_two_labels_above_their_thresholds_the_more_probable_counts():
    given = np.array([0, 1, 2])
    probabilities = np.array([[0.4, 0.35, 0.25], [0.3, 0.4, 0.3], [0.45, 0.35, 0.2]])

    found = confident(given, probabilities)

    # thresholds 0.4, 0.4, 0.2: the last item reaches those of labels 0 and 2
    assert found.guess.tolist() == [0, 1, 0] and found.suspect.tolist() == [False, False, True]


def test_a_label_that_never_occurs_or_is_never_confident_is_taken_as_it_is():
    found = confident(np.array([0, 0]), np.array([[0.9, 0.1], [0.7, 0.3]]))

    assert found.thresholds[1] == np.inf and not found.suspect.any() and found.share == 0
    joint = joint_of(np.array([0, 1]), np.array([0, -1]), np.ones(2), 2)
    assert joint == pytest.approx(np.array([[0.5, 0], [0, 0.5]]))


def test_labels_that_no_other_item_has_share_one_threshold():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.2], [0.0, 0.8], [0.1, 0.3]])

    found = confident(np.zeros(4, int), probabilities, common=True)

    assert found.thresholds == pytest.approx([0.4, 0.4])  # (0.9 + 0.6 + 0.0 + 0.1) / 4
    assert found.suspect.tolist() == [False, False, True, False]
    assert found.share == pytest.approx(1 / 3)  # the last is confidently neither
