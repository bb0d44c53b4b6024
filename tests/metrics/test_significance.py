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
