import numpy as np
import pytest

from workbench.metrics import calibration
from workbench.runtime.decoding import sigmoid, softmax


def test_the_error_of_a_case_by_hand():
    # bins (0.5, 0.6] and (0.9, 1.0]: |0.5 − 0.6| · 2/4 + |1 − 0.95| · 2/4
    found = calibration.reliability(
        np.array([0.6, 0.6, 0.95, 0.95]), np.array([True, False, True, True])
    )

    assert found.error == pytest.approx(0.075)
    assert found.count.tolist() == [0, 0, 0, 0, 0, 2, 0, 0, 0, 2]
    assert found.members.tolist() == [5, 5, 9, 9]


def test_confidences_equal_to_their_share_have_no_error():
    correct = np.arange(100) < 70

    assert calibration.reliability(np.full(100, 0.7), correct).error == pytest.approx(0.0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_of_scaled_logits_is_found_again(temperature):
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(4000, 4)) * 2
    true = softmax(logits)
    gold = np.array([draw.choice(4, p=row) for row in true])

    found = calibration.class_temperature(softmax(logits * temperature), gold)

    assert found == pytest.approx(temperature, rel=0.1)


def test_the_temperature_of_independent_labels_is_found_again():
    draw = np.random.default_rng(1)
    logits = draw.normal(size=(4000, 3)) * 2
    relevant = draw.random((4000, 3)) < sigmoid(logits)

    found = calibration.label_temperature(sigmoid(logits * 3), relevant)

    assert found == pytest.approx(3.0, rel=0.1)


def binned(confidence, correct, documents, n):
    columns = np.array(confidence), np.array(correct), np.array(documents)
    return calibration.BinnedDecisions.of(calibration.reliability(*columns[:2]), *columns, n)


def test_the_error_of_a_resample_by_hand():
    found = binned([0.6, 0.6, 0.95, 0.95], [True, False, True, True], [0, 1, 2, 2], 3)

    drawn = found(np.array([[1, 1, 1], [2, 0, 1], [0, 3, 0]], np.float32))

    # second: |2 − 1.2| + |2 − 1.9| of 4 decisions; third: |0 − 1.8| of 3
    assert drawn["error"] == pytest.approx([0.075, 0.225, 0.6])
    assert drawn["correct"][:, 5] == pytest.approx([0.5, 1.0, 0.0])
    assert drawn["correct"][:2, 9] == pytest.approx([1.0, 1.0])
    assert np.isnan(drawn["correct"][2, 9])


def test_the_interval_of_the_error_covers_that_of_calibrated_probabilities():
    """Resampled errors are all above 0, so that their percentiles never cover the true error 0."""
    draw, covered = np.random.default_rng(0), 0
    for _trial in range(20):
        confidence = draw.beta(4, 1.5, 400)
        correct = draw.random(400) < confidence

        found = calibration.binned_intervals(binned(confidence, correct, np.arange(400), 400))

        error = calibration.reliability(confidence, correct).error
        assert found.error.value == pytest.approx(error)
        covered += found.error.low == 0.0
        assert all(bin.low <= bin.value <= bin.high for bin in found.correct if bin.low is not None)

    assert covered >= 8


def test_the_interval_of_a_large_error_is_around_it():
    draw = np.random.default_rng(1)
    correct = draw.random(2000) < 0.6

    found = calibration.binned_intervals(
        binned(np.full(2000, 0.9), correct, np.arange(2000), 2000)
    ).error

    # the standard error of a share: 1.96 · √(0.6 · 0.4 / 2000) = 0.0215
    assert found.value == pytest.approx(0.9 - correct.mean())
    assert (found.low, found.high) == pytest.approx(
        (found.value - 0.0215, found.value + 0.0215), abs=0.002
    )


def test_empty_bins_have_no_interval():
    found = calibration.binned_intervals(binned([0.9], [True], [0], 40))

    assert (found.error.low, found.error.high) == pytest.approx((0.1, 0.1))
    assert (found.correct[0].value, found.correct[0].low) == (None, None)
