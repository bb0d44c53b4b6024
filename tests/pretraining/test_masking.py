"""Rates of masked language modelling, counted over 100,000 units."""

import numpy as np
import pytest

from workbench.pretraining.masking import KEPT, MASKED, RANDOM, Rates, choose, replaced

UNITS = 100_000


def sampled(share, *, groups=None, length=100, seed=1):
    """Chosen units of UNITS units in texts of `length`."""
    rng = np.random.default_rng(seed)
    allowed = np.ones(length, dtype=bool)
    groups = np.arange(length) if groups is None else groups
    return np.concatenate(
        [choose(allowed, groups, share, rng) for _ in range(UNITS // length)]
    ), rng


@pytest.mark.parametrize("share", (0.05, 0.15, 0.4))
def test_the_wanted_share_of_units_is_chosen(share):
    chosen, _rng = sampled(share)

    assert chosen.mean() == pytest.approx(share, abs=0.005)


def test_whole_words_are_chosen_at_the_same_rate_and_never_in_part():
    groups = np.repeat(np.arange(40), np.resize([1, 2, 3, 4], 40))[:100]

    chosen, _rng = sampled(0.15, groups=groups)

    assert chosen.mean() == pytest.approx(0.15, abs=0.01)
    for text in chosen.reshape(-1, 100):
        for group in np.unique(groups):
            assert len(set(text[groups == group])) == 1


def test_eighty_percent_are_masked_ten_random_ten_kept():
    """Devlin et al. 2018, appendix A.1."""
    chosen, rng = sampled(0.15)
    ids = np.full(UNITS, 7, dtype=np.int32)

    found, what = replaced(ids, chosen, Rates(), mask=3, ordinary=np.arange(10, 1000), rng=rng)

    shares = [np.mean(what == kind) for kind in (MASKED, RANDOM, KEPT)]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)
    assert (found[~chosen] == 7).all()
    assert (found[chosen][what == MASKED] == 3).all()
    assert (found[chosen][what == KEPT] == 7).all()
    assert found[chosen][what == RANDOM].min() >= 10


def test_other_rates_are_kept_too():
    chosen, rng = sampled(0.3)

    _found, what = replaced(
        np.zeros(UNITS, dtype=np.int32), chosen, Rates(0.3, 0.5, 0.5), mask=1,
        ordinary=np.arange(5, 9), rng=rng,
    )  # fmt: skip

    assert np.mean(what == MASKED) == pytest.approx(0.5, abs=0.01)
    assert not (what == KEPT).any()


def test_at_least_one_unit_is_chosen_and_special_units_never():
    rng = np.random.default_rng(0)
    allowed = np.array([False, True, True, False])

    for _ in range(200):
        chosen = choose(allowed, np.arange(4), 0.01, rng)
        assert chosen.sum() == 1 and not chosen[~allowed].any()


def test_an_input_without_text_has_nothing_to_predict():
    rng = np.random.default_rng(0)

    assert not choose(np.zeros(3, dtype=bool), np.arange(3), 0.15, rng).any()
