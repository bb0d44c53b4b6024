from time import process_time

import numpy as np
import pytest

from workbench.metrics import label_counts, resampling
from workbench.metrics.report import intervals


def test_every_resample_holds_as_many_documents_as_there_are_and_seeds_repeat():
    first, second = (np.concatenate([*resampling.weights(7, 50, seed=3)]) for _ in range(2))

    assert (first.sum(1) == 7).all() and (first == second).all()
    assert not (first == np.concatenate([*resampling.weights(7, 50, seed=4)])).all()


def test_an_interval_of_a_share_is_as_wide_as_theory_says():
    right = np.arange(400) % 2  # share 0.5, standard error 0.025

    found = resampling.resampled(lambda w: {"share": w @ right / w.sum(1)}, 400, seed=1)

    assert resampling.bounds(found["share"]) == pytest.approx((0.451, 0.549), abs=0.01)


def test_resamples_without_a_value_are_left_out_unless_they_are_most():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 1.0]])

    low, high = resampling.bounds(values)

    assert (low[0], high[0]) == pytest.approx((1.05, 2.95))
    assert np.isnan([low[1], high[1]]).all()


def test_a_thousand_resamples_of_two_thousand_documents_take_a_second_or_two():
    draw = np.random.default_rng(0)
    labels = tuple("abcdef")
    gold, predicted = ([(labels[n],) for n in draw.integers(0, 6, 2000)] for _ in range(2))
    scores = draw.random((2000, 6))
    counts = label_counts.of_sets(gold, predicted, labels, scores=scores, exclusive=True)

    began = process_time()
    found = intervals(counts, 2000)

    assert process_time() - began < 2.0  # also on a busy machine
    assert found.scores["accuracy"].low < found.scores["accuracy"].value
    assert found.rounds == 1000 and found.of_label("a", "roc_auc").high is not None
