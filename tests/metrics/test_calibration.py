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
