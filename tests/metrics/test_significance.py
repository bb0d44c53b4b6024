import pytest

from workbench.metrics import significance


def test_wilson_interval_of_a_known_case():
    # 81 of 263: Newcombe 1998, Statistics in Medicine 17, table I, method 3
    assert significance.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [(0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718)), (0, 0, (0.0, 1.0))],
)
def test_wilson_interval_at_the_limits(right, n, expected):
    assert significance.wilson(right, n) == pytest.approx(expected, abs=5e-5)


def test_mcnemar_by_hand():
    # 1 against 5: 2 · (C(6,0) + C(6,1)) / 2^6
    assert significance.mcnemar(1, 5) == pytest.approx(14 / 64)
    assert significance.mcnemar(3, 3) == 1.0
    assert significance.mcnemar(0, 0) == 1.0


T = 0.95 * (2 / (1 - 0.95**2)) ** 0.5  # Student's t of 2 degrees of freedom at 97.5%, 4.30265


def test_the_interval_of_a_mean_by_hand():
    # mean 2, s² 1; the tail beyond t is (1 - t / √(t² + 2)) / 2, and t² is 12 here
    plain = significance.t_interval([1.0, 2.0, 3.0])
    assert (plain.n, plain.mean) == (3, 2.0)
    assert (plain.low, plain.high) == pytest.approx((2 - T / 3**0.5, 2 + T / 3**0.5))
    assert plain.p == pytest.approx(1 - (12 / 14) ** 0.5)


def test_folds_that_share_training_documents_widen_the_interval():
    """Nadeau and Bengio 2003: s² (1/n + test/train) for the variance of the mean; 3 folds: 1/2."""
    folds = significance.t_interval([1.0, 2.0, 3.0], overlap=1 / 2)

    assert folds.high - folds.mean == pytest.approx(T * (1 / 3 + 1 / 2) ** 0.5)


def test_one_value_or_equal_values_have_no_p():
    assert significance.t_interval([]) is None
    one, equal = significance.t_interval([0.5]), significance.t_interval([0.5, 0.5])
    assert (one.mean, one.low, one.p) == (0.5, None, None)
    assert (equal.low, equal.high, equal.p) == (0.5, 0.5, None)


@pytest.mark.parametrize(("n", "t"), [(2, 12.7062), (4, 3.1824), (5, 2.7764), (10, 2.2622)])
def test_students_t_is_that_of_the_tables(n, t):
    """Fisher and Yates 1938, table III: two-sided 5% points of n - 1 degrees of freedom."""
    values = [0.0] * (n - 1) + [1.0]
    found = significance.t_interval(values)
    error = (1 / n) ** 0.5 * (1 / n) ** 0.5  # s² = 1/n of these values, divided by n

    assert (found.high - found.mean) / error == pytest.approx(t, abs=5e-5)
    assert significance.t_interval([value - found.low for value in values]).p == pytest.approx(0.05)
