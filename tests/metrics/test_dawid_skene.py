"""Dawid and Skene, against the example of the paper and a plain computation of one round."""

import numpy as np
import pytest

from workbench.metrics.dawid_skene import dawid_skene

# Table 1 of the paper: the answers of five anaesthetists on 45 patients; the first one three times.
ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
""".split()


def counted(rows, owners, classes):
    counts = np.zeros((len(rows), max(owners) + 1, classes))
    for item, row in enumerate(rows):
        for owner, said in zip(owners, row, strict=True):
            counts[item, owner, int(said) - 1] += 1
    return counts


def test_the_anaesthetists_of_the_paper():
    counts = counted(ANAESTHETISTS, (0, 0, 0, 1, 2, 3, 4), 4)

    estimate = dawid_skene(counts, rounds=1000)

    assert counts.shape == (45, 5, 4)
    assert estimate.prior.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]  # table 2
    assert estimate.posterior[0].round(2).tolist() == [1, 0, 0, 0]
    assert np.allclose(estimate.confusion.sum(2), 1) and np.allclose(estimate.posterior.sum(1), 1)


def test_one_round_by_hand():
    """Two items, three annotators, two classes: votes 1 1 2 and 2 2 2."""
    counts = counted(["112", "222"], (0, 1, 2), 2)

    estimate = dawid_skene(counts, rounds=1)

    # From the votes: T = (2/3, 1/3), (0, 1); so p = (1/3, 2/3); annotators 1 and 2 say 1 of class
    # 1 always, and of class 2 with (1/3) / (4/3) = 1/4; annotator 3 always says 2.
    first = 1 / 3 * 1 * 1 * 1, 2 / 3 * 1 / 4 * 1 / 4 * 1
    assert estimate.posterior[0] == pytest.approx(np.array(first) / sum(first))
    assert estimate.posterior[1] == pytest.approx([0, 1])
    assert estimate.rounds == 1


def test_unreliable_annotators_are_outvoted_and_absent_ones_do_not_count():
    draw = np.random.default_rng(1)
    truth = draw.integers(0, 2, 400)
    rates = (0.95, 0.9, 0.55, 0.55, 0.55)
    counts = np.zeros((400, 6, 2))
    for annotator, rate in enumerate(rates):
        said = np.where(draw.random(400) < rate, truth, 1 - truth)
        counts[np.arange(400), annotator, said] = 1
    counts[::3, 0] = 0  # the first one labelled only some

    estimate = dawid_skene(counts)

    assert estimate.accuracy[:5] == pytest.approx(rates, abs=0.06)
    assert np.isnan(estimate.accuracy[5]) and np.isnan(estimate.confusion[5]).all()
    right = (estimate.posterior.argmax(1) == truth).mean()
    votes = counts.sum(1)
    majority = (votes.argmax(1) == truth)[votes[:, 0] != votes[:, 1]].mean()
    assert right > 0.9 > majority
    with pytest.raises(ValueError, match="without labels"):
        dawid_skene(np.zeros((1, 2, 2)))
