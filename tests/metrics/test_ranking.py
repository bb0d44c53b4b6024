"""Average precision and thresholds, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from workbench.metrics.ranking import DecisionRanking, average_precision, best_threshold


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_is_that_of_scikit_learn_with_ties_as_well(seed):
    draw = np.random.default_rng(seed)
    scores, relevant = draw.integers(0, 9, 40) / 8, draw.random(40) < 0.3

    assert average_precision(scores, relevant) == pytest.approx(
        average_precision_score(relevant, scores), abs=1e-12
    )


def test_decisions_of_documents_are_ranked_as_often_as_the_documents_are_drawn():
    draw = np.random.default_rng(0)
    scores, right = draw.integers(0, 9, 60) / 8, draw.random(60) < 0.4
    documents, missed = draw.integers(0, 12, 60), draw.integers(0, 3, 12)
    gold = np.bincount(documents[right], minlength=12) + missed
    weights = draw.integers(0, 4, (5, 12)).astype(np.float32)

    found = DecisionRanking.of(scores, right, documents, gold)(weights)["average_precision"]

    for value, row in zip(found, weights, strict=True):
        each = row[documents]
        reached = each[right].sum() / (row @ gold)  # scikit-learn knows no item without a score
        expected = average_precision_score(right, scores, sample_weight=each) * reached
        assert value == pytest.approx(expected)


def test_without_a_relevant_document_there_is_no_average_precision():
    assert average_precision(np.array([0.1, 0.9]), np.array([False, False])) is None


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_gives_a_higher_f1(seed):
    draw = np.random.default_rng(seed)
    scores, relevant = draw.integers(0, 20, 30) / 20, draw.random(30) < 0.4
    # 401 thresholds, but only as many predictions as there are different scores
    predictions = {tuple(scores >= value) for value in np.linspace(0, 1, 401)}
    highest = max(f1_score(relevant, predicted) for predicted in predictions)

    threshold = best_threshold(scores, relevant)

    assert f1_score(relevant, scores >= threshold) == pytest.approx(highest)


def test_the_usual_threshold_is_kept_where_it_is_as_good():
    separated = np.array([0.1, 0.4, 0.7]), np.array([False, False, True])

    assert best_threshold(*separated) == 0.5
    assert best_threshold(np.array([0.6, 0.7]), np.array([False, False])) == 0.5
    assert best_threshold(np.array([0.1, 0.2, 0.3]), np.array([False, True, True])) == (
        pytest.approx(0.15)
    )
