"""Power laws are fitted as by scipy, intervals hold what they promise, and doubt is named."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from workbench.metrics import learning_curve
from workbench.metrics.learning_curve import Answer, Doubt, learning_curves

SIZES = np.array([25, 50, 100, 200, 400, 800], float)


def draws(scores):
    """scores (draws, sizes) → number of labels → draw → score."""
    return {
        int(n): dict(enumerate(column, 1))
        for n, column in zip(SIZES[: scores.shape[1]], scores.T, strict=True)
    }


def drawn(a, b, c, *, n=5, sd=0.03, seed=0):
    """Simulated draws of a known curve, whose spread falls with the number of labels."""
    noise = np.random.default_rng(seed).standard_normal((n, len(SIZES)))
    return draws(1 - (a * SIZES**-b + c) + noise * sd * (SIZES / SIZES[0]) ** -0.35)


@pytest.mark.parametrize(("a", "b", "c"), [(2.0, 0.4, 0.14), (1.2, 0.2, 0.0), (8.0, 1.0, 0.1)])
def test_the_parameters_of_an_exact_curve_are_recovered(a, b, c):
    errors = a * SIZES**-b + c

    result = learning_curve.fit(SIZES, errors[None], np.ones(6))[:, 0]

    assert result == pytest.approx([a, b, c], rel=2e-3, abs=2e-3)


def test_a_noisy_curve_is_fitted_as_by_scipy():
    rng = np.random.default_rng(3)
    errors = 2 * SIZES**-0.4 + 0.14 + rng.normal(0, 0.01, 6)
    weights = np.array([1.0, 1, 2, 2, 3, 3])

    result = learning_curve.fit(SIZES, errors[None], weights)[:, 0]

    expected, _covariance = curve_fit(
        lambda n, a, b, c: a * n**-b + c,
        SIZES,
        errors,
        p0=(2, 0.4, 0.1),
        sigma=weights**-0.5,
        bounds=([0, 0.02, 0], [100, 3, 1]),
    )
    assert result == pytest.approx(expected, rel=0.02, abs=2e-3)


def test_intervals_hold_the_truth_nineteen_times_in_twenty():
    truth, held = (1 - (2 * 25**-0.4 + 0.14), 0.86, (2 / 0.06) ** 2.5), np.zeros(3)

    for seed in range(80):
        curve = learning_curves({"x": drawn(2, 0.4, 0.14, seed=seed)}, seed=seed, rounds=300)["x"]
        needed = curve.labels_for(0.8)
        never = needed.answer is Answer.NEVER
        low = np.inf if never else needed.low or np.inf
        held[0] += curve.start.low <= truth[0] <= curve.start.high
        held[1] += curve.asymptote.low <= truth[1] <= curve.asymptote.high
        held[2] += low <= truth[2] <= (needed.high or np.inf)

    assert np.all(held / 80 >= 0.88)


def test_the_labels_for_a_target_are_read_off_with_an_interval():
    curve = learning_curves({"x": drawn(2, 0.4, 0.1, sd=0.004)})["x"]

    needed = curve.labels_for(0.8)

    assert needed.answer is Answer.LABELS
    assert needed.low < needed.labels < needed.high
    assert needed.labels == pytest.approx((2 / 0.1) ** 2.5, rel=0.25)
    assert curve.fitted(np.array([needed.labels])) == pytest.approx(0.8)


def test_never_needs_an_asymptote_that_is_below_with_its_interval():
    curve = learning_curves({"x": drawn(8, 1.0, 0.2, sd=0.004)})["x"]

    assert curve.labels_for(0.9).answer is Answer.NEVER
    assert curve.labels_for(curve.asymptote.value).doubt in (Doubt.NEAR_ASYMPTOTE, Doubt.TOO_FAR)
    assert curve.labels_for(0.1).answer is Answer.REACHED


@pytest.mark.parametrize(
    ("scores", "doubt"),
    [
        ([[0.4, 0.5, 0.6]] * 2, Doubt.FEW_SIZES),
        ([[0.6, 0.5, 0.45, 0.4, 0.38, 0.35], [0.61, 0.5, 0.46, 0.4, 0.38, 0.36]], Doubt.FLAT),
        ([[0.2, 0.21, 0.2, 0.7, 0.71, 0.7], [0.21, 0.2, 0.21, 0.71, 0.7, 0.71]], Doubt.POOR_FIT),
        ([[0.4, 0.5, 0.6, 0.65, 0.67, 0.68]], Doubt.FEW_DRAWS),
    ],
)
def test_what_cannot_be_read_off_is_unknown_with_the_reason(scores, doubt):
    curve = learning_curves({"x": draws(np.array(scores))})["x"]

    assert curve.labels_for(0.9).answer is Answer.UNKNOWN
    assert curve.labels_for(0.9).doubt is doubt


def test_a_curve_whose_limit_does_not_show_yet_has_no_asymptote():
    curve = learning_curves({"x": drawn(1.2, 0.2, -0.03, sd=0.004)})["x"]

    assert curve.law.c == 0 and curve.asymptote is None
    assert curve.labels_for(0.7).labels > 0


def test_start_slope_and_asymptote_are_compared_draw_by_draw():
    """Both curves share the noise of each draw, so their difference is exact."""
    first = drawn(2, 0.4, 0.14, sd=0.05, n=4)
    second = {n: {d: score - 0.1 for d, score in by.items()} for n, by in first.items()}

    curves = learning_curves({"a": first, "b": second})
    advantages = curves["a"].over(curves["b"])

    assert advantages.start.value == pytest.approx(0.1)
    assert (advantages.start.low, advantages.start.high) == pytest.approx((0.1, 0.1))
    assert advantages.slope.value == pytest.approx(0.0)
    assert advantages.asymptote.value == pytest.approx(0.1, abs=1e-3)
    assert (advantages.start.sign, advantages.slope.sign) == (1, 0)


def test_the_slope_is_in_points_per_doubling():
    scores = np.array([[0.3, 0.4, 0.5, 0.55, 0.57, 0.58]])

    assert learning_curves({"x": draws(scores)})["x"].slope.value == pytest.approx(0.1)


def test_of_errors_the_lower_is_better():
    errors = {n: {d: 1 - score for d, score in by.items()} for n, by in drawn(2, 0.4, 0.1).items()}

    curve = learning_curves({"x": errors}, is_error=True)["x"]

    assert curve.asymptote.value < curve.start.value
    assert curve.labels_for(0.2).labels > curve.labels_for(0.3).labels


def test_missing_draws_and_systems_without_a_score_do_no_harm():
    scores = drawn(2, 0.4, 0.14)
    del scores[800][2], scores[25][1]

    curves = learning_curves({"x": scores, "none": {}})

    assert list(curves) == ["x"] and curves["x"].draws.tolist() == [4, 5, 5, 5, 5, 4]


@pytest.mark.parametrize(
    ("first", "n", "sizes"),
    [
        ((25, 50), 800, (25, 50, 100, 200, 400, 800)),
        ((25, 50), 330, (25, 50, 100, 200, 330)),
        ((25, 50), 120, (25, 50, 100)),
        ((10, 30), 1000, (10, 30, 90, 270, 810)),
        ((25,), 10, (10,)),
    ],
)
def test_a_series_of_numbers_goes_on_up_to_all_of_train(first, n, sizes):
    assert learning_curve.continued(first, n) == sizes
