import numpy as np
import pytest

from workbench.metrics import significance


def test_wilson_interval_of_a_known_case():
    # 81 of 263: Newcombe 1998, Statistics in Medicine 17, table I, method 3
    assert significance.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [(0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718)), (0, 0, (0.0, 1.0))],
)
def test_wilson_interval_at_the_border(right, n, expected):
    assert significance.wilson(right, n) == pytest.approx(expected, abs=5e-5)


def test_bootstrap_of_a_mean_lies_where_theory_says_and_repeats():
    values = np.array([0.0, 1.0] * 200)  # share 0.5, standard error 0.025

    low, high = significance.bootstrap(lambda rows: values[rows].mean(), len(values), seed=1)

    assert (low, high) == pytest.approx((0.451, 0.549), abs=0.01)
    assert (low, high) == significance.bootstrap(
        lambda rows: values[rows].mean(), len(values), seed=1
    )


def test_pooled_f1_of_equal_documents_has_no_width():
    assert significance.pooled_f1_interval([(1, 2, 2)] * 10) == pytest.approx((0.5, 0.5))
    assert significance.pooled_f1_interval([]) == (0.0, 1.0)


def test_mcnemar_by_hand():
    # 1 against 5: 2 · (C(6,0) + C(6,1)) / 2^6
    assert significance.mcnemar(1, 5) == pytest.approx(14 / 64)
    assert significance.mcnemar(3, 3) == 1.0
    assert significance.mcnemar(0, 0) == 1.0
