"""Span masking, counted over 100,000 units against SpanBERT's definition."""

import numpy as np
import pytest

from workbench.pretraining.masking import Rates
from workbench.pretraining.objectives.span_masking.spans import (
    LengthSampler,
    boundaries,
    choose,
    replaced,
)

UNITS, LENGTH = 100_000, 500


def sampled(share=0.15, *, groups=None, lengths=None, seed=1):
    rng = np.random.default_rng(seed)
    groups = np.arange(LENGTH) if groups is None else groups
    allowed = np.ones(LENGTH, dtype=bool)
    return [
        choose(allowed, groups, share, lengths or LengthSampler(), rng)
        for _ in range(UNITS // LENGTH)
    ]


def test_lengths_are_geometric_and_have_the_mean_of_the_paper():
    # Joshi et al. 2020, section 3.1: p = 0.2, at most 10 words, mean 3.8
    drawn = LengthSampler().draw(np.random.default_rng(1), UNITS)

    assert drawn.mean() == pytest.approx(3.80, abs=0.05)
    expected = 0.2 * 0.8 ** np.arange(10) / (1 - 0.8**10)
    assert np.bincount(drawn, minlength=11)[1:] / UNITS == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("share", [0.05, 0.15, 0.3])
def test_the_wanted_share_of_units_is_chosen(share):
    chosen = sum(end - start for found in sampled(share) for start, end in found)

    assert chosen / UNITS == pytest.approx(share, abs=0.005)


def test_spans_begin_and_end_with_words_except_where_the_number_is_reached():
    groups = np.repeat(np.arange(LENGTH), np.resize([1, 2, 3], LENGTH))[:LENGTH]
    starts = {0, *np.flatnonzero(np.diff(groups)) + 1}

    for found in sampled(groups=groups):
        assert all(start in starts for start, _end in found)
        inside = [end not in starts and end != LENGTH for _start, end in found]
        assert sum(inside) <= 1


def test_spans_are_apart_and_leave_out_units_that_are_not_of_the_text():
    rng = np.random.default_rng(3)
    allowed = np.ones(60, dtype=bool)
    allowed[[0, 20, 21, 40, 59]] = False

    for _ in range(300):
        found = choose(allowed, np.arange(60), 0.5, LengthSampler(), rng)
        covered = [unit for start, end in found for unit in range(start, end)]
        assert len(covered) == len(set(covered)) and allowed[covered].all()
        assert found == sorted(found) and not set(covered) & {end for _start, end in found}


def test_longer_texts_have_spans_of_nearly_the_mean_length():
    """Spans that meet others or the budget are shorter than drawn."""
    sizes = [end - start for found in sampled(0.05) for start, end in found]

    assert 3.2 < np.mean(sizes) <= 3.85 and max(sizes) == 10


def test_one_decision_holds_for_a_whole_span():
    rng, counts = np.random.default_rng(5), np.zeros(3)
    ids = np.full(UNITS, 7, np.int32)
    found = [(start, start + 5) for start in range(1, UNITS - 5, 6)]

    new = replaced(ids, found, Rates(), mask=3, ordinary=np.arange(10, 1000), rng=rng)

    for start, end in found:
        units = new[start:end]
        kinds = [(units == 3).all(), (units >= 10).all(), (units == 7).all()]
        assert sum(kinds) == 1
        counts += kinds
    assert counts / len(found) == pytest.approx([0.8, 0.1, 0.1], abs=0.01)


def test_boundaries_are_the_units_beside_a_span():
    left, right, places = boundaries([(2, 5), (7, 8)])

    assert left.tolist() == [1, 1, 1, 6] and right.tolist() == [5, 5, 5, 8]
    assert places.tolist() == [0, 1, 2, 0]
