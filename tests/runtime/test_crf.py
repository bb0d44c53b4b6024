"""Decoding with learned transitions equals trying every sequence."""

import itertools

import numpy as np
import pytest

from workbench.runtime import decoding
from workbench.runtime.crf import Transitions

TAGS = decoding.bio_tags(["A", "B"])
COUNT = len(TAGS)


def learned(seed, constraints=None):
    rng = np.random.default_rng(seed)
    raw = {"start": rng.normal(size=COUNT).tolist(), "end": rng.normal(size=COUNT).tolist()}
    raw["step"] = (2 * rng.normal(size=(COUNT, COUNT))).tolist()
    return Transitions.from_json(raw, TAGS, constraints)


def brute_force(transitions, emissions):
    """Every sequence (N, T) and its score (N,)."""
    paths = np.array(list(itertools.product(range(COUNT), repeat=len(emissions))))
    scores = transitions.start[paths[:, 0]] + transitions.end[paths[:, -1]]
    scores = scores + emissions[np.arange(len(emissions)), paths].sum(axis=1)
    return paths, scores + transitions.step[paths[:, :-1], paths[:, 1:]].sum(axis=1)


@pytest.mark.parametrize("constraints", [None, decoding.bio_constraints(TAGS)], ids=["free", "bio"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_best_path_the_partition_and_the_marginals_equal_brute_force(length, constraints):
    for seed in range(4):
        transitions = learned(seed, constraints)
        emissions = 2 * np.random.default_rng(100 + seed).normal(size=(length, COUNT))
        paths, scores = brute_force(transitions, emissions)
        weights = np.exp(scores - scores.max())

        assert transitions.best(emissions).tolist() == paths[scores.argmax()].tolist()
        whole = scores.max() + np.log(weights.sum())
        assert transitions.log_partition(emissions) == pytest.approx(whole, rel=1e-12)
        expected = [
            [weights[paths[:, t] == tag].sum() / weights.sum() for tag in range(COUNT)]
            for t in range(length)
        ]
        assert transitions.marginals(emissions) == pytest.approx(np.array(expected), abs=1e-12)


def test_without_words_there_is_nothing_to_decide():
    transitions, nothing = learned(0), np.zeros((0, COUNT))

    assert transitions.best(nothing).shape == (0,) and transitions.log_partition(nothing) == 0
    assert transitions.marginals(nothing).shape == (0, COUNT)


def test_transitions_of_other_labels_are_refused():
    raw = {"start": [0.0] * 3, "step": [[0.0] * 3] * 3, "end": [0.0] * 3}

    with pytest.raises(ValueError, match=f"3.* for {COUNT} tags"):
        Transitions.from_json(raw, TAGS)
