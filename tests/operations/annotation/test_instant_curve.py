"""The learning curve of the instant model: advice whether to continue labelling."""

import pytest

from workbench.operations.annotation.instant_curve import CurvePoint, advice


def points(*pairs):
    return [CurvePoint(10 * at, score, 20, kappa) for at, (score, kappa) in enumerate(pairs, 1)]


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (points((0.5, None), (0.6, 0.8)), "2 more points"),
        (points((0.5, 0.8), (0.6, 0.9), (0.7, 0.95)), "score still rises with"),
        (points((0.7, 0.8), (0.7, 0.9), (0.7, 0.95)), "predictions still change"),
        (points((0.6, 0.99), (0.65, 1.0), (0.7, 0.99)), "held-out labels still rises"),
        (points((0.7, 0.99), (0.71, 1.0), (0.705, 0.99)), "unlikely to help"),
        (points((None, 0.99), (None, 1.0), (None, 0.99)), "unlikely to help"),
    ],
)
def test_advice_follows_the_last_three_points(curve, words):
    assert words in advice(curve)
