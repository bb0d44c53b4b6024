import numpy as np
import pytest

from workbench.metrics import curves


@pytest.mark.parametrize("seed", range(10))
def test_curves_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(seed)
    scores, relevant = draw.random(40).round(1), draw.random(40) < 0.4

    pr, roc = curves.precision_recall(scores, relevant), curves.roc(scores, relevant)

    precision, recall, thresholds = metrics.precision_recall_curve(relevant, scores)
    assert pr.y[::-1] == pytest.approx(precision[:-1])
    assert pr.x[::-1] == pytest.approx(recall[:-1])
    assert pr.thresholds[::-1] == pytest.approx(thresholds)
    assert pr.area == pytest.approx(metrics.average_precision_score(relevant, scores))
    false, true, _cuts = metrics.roc_curve(relevant, scores, drop_intermediate=False)
    assert (roc.x, roc.y) == (pytest.approx(false), pytest.approx(true))
    assert roc.area == pytest.approx(metrics.roc_auc_score(relevant, scores))


def test_the_point_of_a_threshold_makes_the_same_decisions():
    curve = curves.precision_recall(np.array([0.9, 0.6, 0.2]), np.array([True, False, True]))

    assert [curve.nearest(at) for at in (0.95, 0.9, 0.7, 0.5, 0.0)] == [0, 0, 0, 1, 2]


def test_items_without_a_score_count_as_missed():
    curve = curves.precision_recall(np.array([0.9]), np.array([True]), gold=4)

    assert (curve.x.tolist(), curve.y.tolist(), curve.area) == ([0.25], [1.0], 0.25)


def test_nothing_relevant_has_no_curve():
    none = np.zeros(3, bool)

    assert len(curves.precision_recall(np.ones(3), none)) == 0
    assert curves.roc(np.ones(3), none).area is None
