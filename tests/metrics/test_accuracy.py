"""Accuracy of weighted documents."""

import numpy as np
import pytest

from workbench.metrics.accuracy import Accuracy
from workbench.metrics.report import intervals


def test_each_document_counts_as_often_as_it_was_drawn():
    found = Accuracy.of([True, False, True])

    values = found(np.array([[1, 1, 1], [0, 3, 1]], np.float32))["accuracy"]

    assert values == pytest.approx([2 / 3, 1 / 4])  # by hand
    assert found.taken(np.array([1]))(np.ones((1, 1), np.float32))["accuracy"].tolist() == [0.0]


def test_an_interval_holds_the_score():
    score = intervals(Accuracy.of([True] * 8 + [False] * 2), 10).scores["accuracy"]

    assert score.value == pytest.approx(0.8) and score.low < 0.8 < score.high


def test_other_means_over_documents_are_weighted_and_have_intervals():
    found = Accuracy.of([True, False, True], mean_reciprocal_rank=[1.0, 0.5, 1.0])

    values = found(np.array([[1, 1, 1], [0, 3, 1]], np.float32))["mean_reciprocal_rank"]
    assert values == pytest.approx([2.5 / 3, 2.5 / 4])  # by hand
    one = found.taken(np.array([1]))(np.ones((1, 1), np.float32))
    assert one["mean_reciprocal_rank"].tolist() == [0.5]
    score = intervals(found, 3).scores["mean_reciprocal_rank"]
    assert score.value == pytest.approx(2.5 / 3) and score.low < score.value < score.high
