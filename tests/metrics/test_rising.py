"""Curves made by hand; the error of 0.5 on 100 documents is 5 points, on 25 it is 10."""

import pytest

from workbench.metrics.rising import rise


def test_a_curve_whose_last_third_gained_more_than_the_noise_of_dev_is_rising():
    curve = (0.2, 0.3, 0.4, 0.5, 0.53, 0.58)

    assert rise(curve, 100) == (0.5, 0.58)
    assert rise(curve, 25) is None  # 8 points are within one standard error of 10


@pytest.mark.parametrize(
    "curve",
    [
        (0.2, 0.5, 0.7, 0.71, 0.70, 0.72),  # level: 2 points of noise
        (0.2, 0.3, 0.4, 0.5, 0.7, 0.6),  # the best is not the last
        (0.2, 0.3, 0.4, 0.5, 0.7, 0.7),  # level at the end
        (0.5, 0.6, 0.7, 0.2, 0.3, 0.71),  # back to where it was before
        (0.9,),  # one evaluation shows no direction
        (),
    ],
)
def test_other_curves_are_not_rising(curve):
    assert rise(curve, 100) is None


def test_two_evaluations_are_enough_and_a_score_of_zero_has_noise_too():
    assert rise((0.0, 0.4), 50) == (0.0, 0.4)
    assert rise((0.0, 0.05), 10) is None
    assert rise((-0.2, 0.6), 50) == (-0.2, 0.6)  # a correlation
