"""Paired tests, compared with scipy, enumeration by hand, and their calibration."""

import itertools

import numpy as np
import pytest
from scipy import stats

from workbench.metrics import label_counts, paired, significance


def counts(gold, predicted):
    sides = ([(label,) for label in side] for side in (gold, predicted))
    return label_counts.of_sets(*sides, ("a", "b"), exclusive=True)


def pooled(gold, first, second):
    return counts([*gold, *gold], [*first, *second])


def flipped(draw, gold, rate):
    wrong = draw.random(len(gold)) < rate
    return ["ab"[int((label == "b") != bad)] for label, bad in zip(gold, wrong, strict=True)]


def test_equal_predictions_have_p_one_everywhere():
    gold, same = list("aabbab") * 5, list("abbbaa") * 5

    found = paired.bootstrap(counts(gold, same), counts(gold, same), 30, rounds=200)
    random = paired.randomisation(
        pooled(gold, same, same), ("accuracy", "macro_f1"), 30, rounds=200
    )

    assert found.scores["macro_f1"] == paired.PairedDifference(0.0, 0.0, 0.0, 1.0)
    assert found.labels["a"]["f1"].p == 1.0
    assert random == {"accuracy": 1.0, "macro_f1": 1.0}
    assert significance.mcnemar(0, 0) == 1.0


def test_randomisation_approaches_the_p_value_of_all_exchanges():
    draw = np.random.default_rng(3)
    gold = list("ab" * 5)
    first, second = flipped(draw, gold, 0.1), flipped(draw, gold, 0.6)

    found = paired.randomisation(pooled(gold, first, second), ("macro_f1",), 10)

    # by enumeration of the 2^10 exchanges
    exact = abs(f1(gold, first) - f1(gold, second))
    above = []
    for kept in itertools.product((True, False), repeat=10):
        pairs = list(zip(first, second, kept, strict=True))
        left, right = [a if k else b for a, b, k in pairs], [b if k else a for a, b, k in pairs]
        above.append(abs(f1(gold, left) - f1(gold, right)) >= exact - 1e-12)
    assert found["macro_f1"] == pytest.approx(np.mean(above), abs=0.02)


def f1(gold, predicted):
    return float(counts(gold, predicted)(np.ones((1, len(gold)), np.float32))["macro_f1"][0])


def test_randomisation_of_accuracy_agrees_with_scipy():
    draw = np.random.default_rng(5)
    gold = list("ab" * 60)
    first, second = flipped(draw, gold, 0.2), flipped(draw, gold, 0.3)
    right = [
        np.array([a == g for a, g in zip(side, gold, strict=True)], float)
        for side in (first, second)
    ]

    found = paired.randomisation(pooled(gold, first, second), ("accuracy",), 120)
    expected = stats.permutation_test(
        right,
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )

    assert found["accuracy"] == pytest.approx(expected.pvalue, abs=0.03)


def test_the_interval_of_a_difference_agrees_with_scipy():
    draw = np.random.default_rng(7)
    gold = list("ab" * 100)
    first, second = flipped(draw, gold, 0.1), flipped(draw, gold, 0.3)
    right = [
        np.array([a == g for a, g in zip(side, gold, strict=True)], float)
        for side in (first, second)
    ]

    found = paired.bootstrap(counts(gold, first), counts(gold, second), 200).scores["accuracy"]
    expected = stats.bootstrap(
        right,
        lambda x, y, axis: (x - y).mean(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=5000,
        rng=np.random.default_rng(0),
    ).confidence_interval

    assert found.value == pytest.approx(right[0].mean() - right[1].mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.012)
    assert found.p < 0.01


@pytest.mark.parametrize(("left", "right"), [(1, 5), (12, 3), (40, 25)])
def test_mcnemar_equals_the_binomial_test_of_scipy(left, right):
    expected = stats.binomtest(left, left + right).pvalue

    assert significance.mcnemar(left, right) == pytest.approx(expected)


def test_systems_that_are_equally_good_are_rarely_told_apart():
    # 200 pairs of systems with the same error rate: p < 0.05 in about 5% of them
    draw = np.random.default_rng(11)
    gold = list("ab" * 50)
    low = {"bootstrap": 0, "randomisation": 0}
    for _pair in range(200):
        first, second = flipped(draw, gold, 0.3), flipped(draw, gold, 0.3)
        boot = paired.bootstrap(counts(gold, first), counts(gold, second), 100, rounds=300)
        random = paired.randomisation(pooled(gold, first, second), ("accuracy",), 100, rounds=300)
        low["bootstrap"] += boot.scores["accuracy"].p < 0.05
        low["randomisation"] += random["accuracy"] < 0.05

    # binomial(200, 0.05) is below 21 with probability 0.999
    assert all(count <= 20 for count in low.values()), low


def test_labels_are_matched_by_name_and_fewer_rounds_are_drawn_for_many_documents():
    gold = list("aabb")
    first = label_counts.of_sets([*gold], [*gold], ("b", "a"), exclusive=True)
    second = counts(gold, list("bbbb"))

    found = paired.bootstrap(first, second, 4, rounds=50)

    assert found.labels["a"]["recall"].value == 1.0 and found.labels["b"]["recall"].value == 0.0
    assert paired.rounds_for(100) == 10_000 and paired.rounds_for(10**6) == 1000


def test_a_randomisation_has_as_many_rounds_as_the_bootstrap_of_the_same_documents(monkeypatch):
    monkeypatch.setattr(paired, "CELLS", 200_000)
    drawn = []

    def statistic(weights):
        drawn.append(len(weights))
        return {"accuracy": weights[:, 0]}

    paired.randomisation(statistic, ("accuracy",), 100, rounds=1_500)

    assert sum(drawn) == 2 * (1 + paired.rounds_for(100, 1_500)) == 2 * 1_501
