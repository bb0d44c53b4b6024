import numpy as np
import pytest

from workbench.metrics import label_counts, slices


def test_corrected_values_equal_the_example_of_holm():
    # by hand: 0.01 · 4, 0.02 · 3, then max with the one before: 0.03 · 2 = 0.06, 0.04 → 0.06
    assert slices.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_a_random_slice_is_not_significant_and_one_of_errors_is():
    draw = np.random.default_rng(0)
    gold = [("a",) if at % 2 else ("b",) for at in range(200)]
    wrong = np.arange(200) < 40
    predicted = [
        ("b",) if (label == "a") == bool(bad) else ("a",)
        for (label,), bad in zip(gold, wrong, strict=True)
    ]
    counts = label_counts.of_sets(gold, predicted, ("a", "b"), exclusive=True)
    members = {"random": draw.choice(200, 50, replace=False), "errors": np.arange(50)}

    errors, random = slices.measured(counts, "accuracy", members, 200)

    assert (errors.name, errors.n, errors.value) == ("errors", 50, pytest.approx(0.2))
    assert errors.p == pytest.approx(1 / 1001) and errors.holm == pytest.approx(2 / 1001)
    assert errors.low <= 0.2 <= errors.high and random.p > 0.05
