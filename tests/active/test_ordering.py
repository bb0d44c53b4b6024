"""Orders of the queue: by score, with random control documents among them."""

import numpy as np

from workbench.active.ordering import ordered

SCORES = np.array([0.1, 0.9, 0.5, 0.9, 0.3])


def test_the_highest_score_comes_first_and_equal_ones_keep_their_order():
    assert ordered(SCORES).rows.tolist() == [1, 3, 2, 4, 0]


def test_the_share_of_control_documents_is_spread_evenly():
    found = ordered(np.arange(40.0), share=0.1)

    assert np.flatnonzero(found.control).tolist() == [9, 19, 29, 39]
    assert sorted(found.rows.tolist()) == list(range(40))
    others = found.rows[~found.control]
    assert (np.diff(others) < 0).all()  # by score, without those that were drawn


def test_control_documents_are_the_same_for_the_same_seed():
    first, again, other = (ordered(np.zeros(200), share=0.2, seed=seed) for seed in (1, 1, 2))

    assert first.rows.tolist() == again.rows.tolist() != other.rows.tolist()
