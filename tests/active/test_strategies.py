"""Strategies on cases that are calculated by hand."""

from math import log, sqrt

import numpy as np
import pytest

from workbench.active.base import Decisions, Pool
from workbench.active.strategies import (
    Disagreement,
    Diversity,
    Entropy,
    LeastConfidence,
    Margin,
    Random,
    SpanUncertainty,
    k_center,
)


def classes(*rows):
    """One decision per document."""
    return Decisions.of([np.array([row]) for row in rows])


def words(*documents):
    """Decisions per word; the first column is no label."""
    return Decisions.of([np.array(document).reshape(-1, 3) for document in documents], outside=True)


def scores(strategy, decisions, second=None):
    pool = Pool(len(decisions), decisions=decisions, second=second)
    return strategy().scores(pool).tolist()


TWO = classes([0.7, 0.2, 0.1], [0.5, 0.4, 0.1])


def test_least_confidence_of_a_class_is_one_minus_its_probability():
    assert scores(LeastConfidence, TWO) == pytest.approx([0.3, 0.5])


def test_margin_of_a_class_is_one_minus_the_difference_of_the_best_two():
    assert scores(Margin, TWO) == pytest.approx([1 - 0.5, 1 - 0.1])


def test_entropy_is_that_of_the_distribution():
    expected = -0.5 * log(0.5) - 0.4 * log(0.4) - 0.1 * log(0.1)

    assert scores(Entropy, TWO)[1] == pytest.approx(expected)
    assert scores(Entropy, classes([1.0, 0.0])) == pytest.approx([0.0])


def test_confidence_and_margin_of_words_are_those_of_the_whole_labelling():
    """Best 0.9 · 0.6 = 0.54; the second best changes the second word: 0.9 · 0.3 = 0.27."""
    two_words = words([[0.9, 0.05, 0.05], [0.1, 0.6, 0.3]])

    assert scores(LeastConfidence, two_words) == pytest.approx([0.46])
    assert scores(Margin, two_words) == pytest.approx([1 - 0.27])


def test_several_classes_are_independent_decisions():
    labels = Decisions.of([np.array([[0.2, 0.8], [0.9, 0.1]])])

    assert scores(LeastConfidence, labels) == pytest.approx([1 - 0.8 * 0.9])


def test_a_document_without_words_is_certain():
    decisions = words([], [[0.5, 0.3, 0.2]])

    for strategy in (LeastConfidence, Margin, Entropy, SpanUncertainty):
        empty, other = scores(strategy, decisions)
        assert empty == pytest.approx(0.0) and other > 0


def test_span_uncertainty_sums_over_possible_spans():
    """First document: a span of two words (0.8, 0.5), confidence √0.4, and a doubtful word without
    a label (0.6). Second: certain words without a label.
    """
    decisions = words(
        [[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [0.99, 0.01, 0.0], [0.6, 0.4, 0.0]],
        [[0.95, 0.05, 0.0], [1.0, 0.0, 0.0]],
    )
    # argmax of the second word is the first of two equal ones, but 0.5 is below 0.9

    assert scores(SpanUncertainty, decisions) == pytest.approx([1 - sqrt(0.4) + 0.4, 0.0])


def test_spans_end_with_their_document():
    joined = words([[0.2, 0.8, 0.0]], [[0.5, 0.0, 0.5]])

    assert scores(SpanUncertainty, joined) == pytest.approx([0.2, 0.5])


def test_two_runs_that_agree_do_not_disagree_and_opposite_ones_do_most():
    first, second = classes([1.0, 0.0], [0.6, 0.4]), classes([0.0, 1.0], [0.6, 0.4])

    assert scores(Disagreement, first, second) == pytest.approx([log(2), 0.0])


def test_words_that_only_one_run_has_read_do_not_count():
    first = words([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]])
    second = words([[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])

    assert scores(Disagreement, first, second) == pytest.approx([0.0, log(2)])


def test_diversity_takes_the_farthest_first_and_counts_each_as_known():
    """From 0: 10 is farthest (10); then 4, nearer to 0 (4); then 9 (1) and 1 (1)."""
    points = np.array([[1.0], [4.0], [9.0], [10.0]])

    found = k_center(points, np.array([[0.0]]), 4)

    assert found.tolist() == pytest.approx([1.0, 4.0, 1.0, 10.0])


def test_diversity_without_known_documents_begins_with_a_random_one():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])

    found = Diversity().scores(Pool(3, seed=1, vectors=points))

    first = int(np.random.default_rng(1).integers(3))
    assert int(found.argmax()) == first
    distances = np.sqrt(((points - points[first]) ** 2).sum(1))
    assert np.argsort(-found)[1] == distances.argmax()


def test_documents_beyond_the_centers_follow_by_distance():
    points = np.array([[5.0], [6.0], [1.0]])

    found = k_center(points, np.array([[0.0]]), 1)

    assert found.tolist() == pytest.approx([1.0, 6.0, 1.0])


def test_a_random_order_is_repeated_by_its_seed():
    first, again, other = (Random().scores(Pool(50, seed=seed)).tolist() for seed in (3, 3, 4))

    assert first == again != other
