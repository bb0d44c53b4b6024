"""Gains equal those of Peters et al. 2018, table 1."""

import pytest

from workbench.metrics.gain import Gain, gain

PUBLISHED = {  # task: baseline, with ELMo, absolute and relative gain in percent
    "SQuAD": (81.1, 85.8, 4.7, 24.9),
    "SNLI": (88.0, 88.7, 0.7, 5.8),
    "SRL": (81.4, 84.6, 3.2, 17.2),
    "coreference": (67.2, 70.4, 3.2, 9.8),
    "NER": (90.15, 92.22, 2.07, 21.0),  # published as 2.06
    "SST-5": (51.4, 54.7, 3.3, 6.8),
}


@pytest.mark.parametrize("row", PUBLISHED.values(), ids=PUBLISHED)
def test_gains_are_those_of_the_paper(row):
    baseline, value, absolute, relative = row

    found = gain(value / 100, baseline / 100)

    assert round(100 * found.absolute, 2) == absolute
    assert round(100 * found.errors_removed, 1) == relative


def test_a_lower_error_is_a_gain():
    assert gain(0.3, 0.4, is_error=True) == Gain(pytest.approx(0.1), pytest.approx(0.25))


def test_a_loss_removes_no_errors():
    assert gain(0.4, 0.5) == Gain(pytest.approx(-0.1), None)
    assert gain(0.5, 0.4, is_error=True) == Gain(pytest.approx(-0.1), None)


def test_nothing_is_relative_to_a_perfect_baseline_or_an_unknown_score():
    assert gain(0.9, 1.0) == Gain(pytest.approx(-0.1), None)
    assert gain(None, 0.5) is None and gain(0.5, None) is None
