import numpy as np
import pytest
from scipy import stats

from workbench.metrics import regression


def test_correlations_equal_scipy_with_ties_and_any_scale():
    draw = np.random.default_rng(2)
    for scale in (1e-8, 1.0, 1e8):
        gold = draw.integers(0, 6, 80) * scale
        predicted = gold + draw.normal(0, 2, 80) * scale
        found = regression.scores(gold.tolist(), predicted.tolist())

        assert found["pearson"] == pytest.approx(stats.pearsonr(gold, predicted).statistic)
        assert found["spearman"] == pytest.approx(stats.spearmanr(gold, predicted).statistic)


def test_errors_by_hand_and_as_in_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = [1.0, 2.0, 4.0], [1.0, 4.0, 3.0]

    found = regression.scores(gold, predicted)

    # by hand: errors 0, 2, 1
    assert found["mse"] == pytest.approx(5 / 3) and found["mae"] == pytest.approx(1.0)
    assert found["mse"] == pytest.approx(metrics.mean_squared_error(gold, predicted))
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(gold, predicted))


def test_a_correlation_without_variance_is_not_defined():
    assert regression.pearson([1.0, 1.0], [1.0, 2.0]) is None
    assert regression.spearman([1.0], [2.0]) is None
    assert regression.scores([], []) == dict.fromkeys(("pearson", "spearman", "mse", "mae"))
    assert regression.pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == 1.0
    with pytest.raises(ValueError, match="2 gold numbers, but 1"):
        regression.pearson([1.0, 2.0], [1.0])


def test_resampled_correlations_of_equal_numbers_count_as_zero_at_any_scale():
    draw = np.random.default_rng(3)
    for scale in (1e-8, 1.0, 1e8):
        gold = draw.integers(0, 6, 40) * scale
        predicted = gold + draw.normal(0, 2, 40) * scale
        once, none = np.ones((1, 40)), np.zeros((1, 40))
        found = regression.Numbers.of(gold.tolist(), predicted.tolist())(once)
        constant = regression.Numbers.of(gold.tolist(), [0.1 * scale] * 40)

        assert found["pearson"][0] == pytest.approx(stats.pearsonr(gold, predicted).statistic)
        assert found["spearman"][0] == pytest.approx(stats.spearmanr(gold, predicted).statistic)
        assert constant(once)["pearson"][0] == constant(once)["spearman"][0] == 0.0
        assert np.isnan(constant(none)["pearson"][0])


def test_distances_are_in_robust_deviations_from_the_median_difference():
    found = regression.distances([1.0, 2.0, 3.0, 4.0, 9.0], [1.1, 2.0, 3.1, 3.9, 5.0])

    off = np.array([0.1, 0.0, 0.1, 0.1, 4.0])  # of the differences −0.1 0 −0.1 0.1 4; median 0
    assert found == pytest.approx(off / (1.4826 * 0.1))
    assert regression.distances([1, 1, 1, 2], [1, 1, 1, 1]).tolist() == [0, 0, 0, np.inf]
    assert len(regression.distances([], [])) == 0
