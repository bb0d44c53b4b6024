"""Equal to scikit-learn on random cases and at the edges, with and without weights."""

import random
import warnings

import numpy as np
import pytest

from workbench.metrics import label_counts, ranking

LABELS = tuple("abcde")


def one(counts, weights=None):
    """Scores of the documents, once each or as often as `weights` says."""
    n = len(counts.gold)
    found = counts(np.ones((1, n), np.float32) if weights is None else weights[None])
    return {name: values[0] for name, values in found.items()}


def drawn(seed):
    draw = random.Random(seed)
    names, n = LABELS[: draw.randint(2, 5)], draw.randint(5, 60)
    gold, predicted = ([draw.choice(names) for _ in range(n)] for _ in range(2))
    scores = np.random.default_rng(seed).random((n, len(LABELS))).round(1)  # with ties
    return gold, predicted, scores


@pytest.mark.parametrize("seed", range(12))
def test_scores_of_classes_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted, scores = drawn(seed)
    counts = label_counts.of_sets([*zip(gold)], [*zip(predicted)], LABELS, exclusive=True)
    weights = np.random.default_rng(seed).integers(0, 3, len(gold)).astype(np.float32)
    weights[0] = 1.0

    for given in (None, weights):
        ours, often = one(counts, given), {"sample_weight": given}
        assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted, **often))
        assert ours["mcc"] == pytest.approx(metrics.matthews_corrcoef(gold, predicted, **often))
        assert ours["kappa"] == pytest.approx(metrics.cohen_kappa_score(gold, predicted, **often))
    for average in ("micro", "macro", "weighted"):
        theirs = metrics.precision_recall_fscore_support(
            gold, predicted, average=average, zero_division=0
        )
        names = [f"{average}_{name}" for name in ("precision", "recall", "f1")]
        assert [one(counts)[name] for name in names] == pytest.approx(theirs[:3])


@pytest.mark.parametrize("seed", range(12))
def test_scores_of_independent_labels_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(seed)
    gold, predicted = (draw.random((2, 30, 5)) < 0.3).astype(int)
    scores = draw.random((30, 5)).round(1)
    sets = [
        [{LABELS[at] for at in np.flatnonzero(row)} for row in side] for side in (gold, predicted)
    ]
    counts = label_counts.of_sets(*sets, LABELS, scores=scores, exclusive=False)

    ours = one(counts)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for average in ("micro", "macro", "weighted", "samples"):
            theirs = metrics.precision_recall_fscore_support(
                gold, predicted, average=average, zero_division=0
            )
            names = [f"{average}_{name}" for name in ("precision", "recall", "f1")]
            if average == "macro":  # ours leaves out labels that are nowhere
                used = (gold + predicted).any(0)
                theirs = [
                    np.mean(row[used])
                    for row in metrics.precision_recall_fscore_support(
                        gold, predicted, average=None, zero_division=0
                    )[:3]
                ]
            assert [ours[name] for name in names] == pytest.approx(theirs[:3])
    assert ours["exact_match"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    assert ours["decision_accuracy"] == pytest.approx(1 - metrics.hamming_loss(gold, predicted))
    for at in range(5):
        expected = metrics.average_precision_score(gold[:, at], scores[:, at])
        assert ours["label_average_precision"][at] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(12))
def test_rankings_with_weights_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted, scores = drawn(seed)
    counts = label_counts.of_sets(
        [*zip(gold)], [*zip(predicted)], LABELS, scores=scores, exclusive=True
    )
    weights = np.random.default_rng(seed).integers(1, 4, len(gold)).astype(np.float32)

    ours = one(counts, weights)

    for at, label in enumerate(LABELS):
        relevant = np.array([name == label for name in gold])
        if 0 < relevant.sum() < len(relevant):
            args = relevant, scores[:, at]
            expected = metrics.average_precision_score(*args, sample_weight=weights)
            area = metrics.roc_auc_score(*args, sample_weight=weights)
            assert ours["label_average_precision"][at] == pytest.approx(expected)
            assert ours["label_roc_auc"][at] == pytest.approx(area)
        else:
            assert np.isnan(ours["label_roc_auc"][at])


def test_scores_that_are_not_defined_follow_the_rule_for_zero_division():
    # by hand: everything is "a" on both sides, so chance agreement is 1
    ours = one(label_counts.of_sets([("a",)] * 3, [("a",)] * 3, LABELS, exclusive=True))

    assert (ours["accuracy"], ours["mcc"], ours["kappa"], ours["macro_f1"]) == (1, 0, 0, 1)


def test_tags_of_tokens_are_counted_per_document():
    # by hand: 3 of 4 tokens are right; the second document counts twice: 4 of 6
    counts = label_counts.of_units([[("N", "N"), ("V", "V")], [("N", "V"), ("N", "N")]], ("N", "V"))

    assert one(counts)["accuracy"] == 0.75
    assert one(counts, np.array([1.0, 2.0], np.float32))["accuracy"] == pytest.approx(4 / 6)


def test_rankings_of_many_resamples_are_those_of_each():
    """Scores of two digits, so that many are equal; some resamples have no document of a label."""
    draw = np.random.default_rng(3)
    scores = draw.random((60, 2)).round(1)
    gold = draw.random((60, 2)) < (0.4, 0.03)
    ours = [ranking.Ranking.of(*pair) for pair in zip(scores.T, gold.T, strict=True)]
    weights = np.concatenate([draw.integers(0, 3, (7, 60)), np.eye(2, 60)]).astype(np.float32)

    for at, our in enumerate(ours):
        together = our(np.ascontiguousarray(weights.T))
        for number, row in enumerate(weights):
            chosen = np.repeat(np.arange(60), row.astype(int))
            alone = ranking.average_precision(scores[chosen, at], gold[chosen, at])
            wanted = float("nan") if alone is None else alone
            assert together[0][number] == pytest.approx(wanted, nan_ok=True)
    assert np.isnan(together[1][-1])
