"""Numbers of bytes in words."""

import pytest

from workbench.base.sizes import size


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (46_000_000, "46.0 MB"),
        (460_000_000, "460 MB"),
        (2_500_000_000, "2.5 GB"),
        (2_100_000_000_000, "2100.0 GB"),
    ],
)
def test_sizes_are_in_decimal_units_with_three_digits_or_two(count, words):
    assert size(count) == words


def test_the_decimal_places_may_be_given():
    assert size(46_512_000, 0) == "47 MB"
