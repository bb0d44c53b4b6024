"""Formats of numbers, sizes, times and fractions."""

import ast
import time

import pytest

from tests import source
from workbench.ui.style import formats


def test_moments_read_as_people_say_them():
    now = time.mktime((2026, 11, 18, 12, 0, 0, 0, 0, -1))  # a Wednesday
    day = 86400

    assert formats.when(now - 3600, now) == "today, 11:00"
    assert formats.when(now - 3600, now, brief=True) == "11:00"
    assert formats.when(now - day, now) == "yesterday"
    assert formats.when(now - 2 * day, now) == "Monday"
    assert formats.when(now - 9 * day, now) == "last week"
    assert formats.when(now - 21 * day, now) == "3 weeks ago"
    assert formats.when(now - 400 * day, now) == "2025-10-14"
    assert formats.when_iso("not a moment") == "not a moment"
    local = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(now))
    assert (formats.moment(local), formats.moment("–")) == ("2026-11-18, 12:00", "–")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (512, "512 bytes"),
        (1500, "1.5 kB"),
        (46_501_823, "46.5 MB"),
        (268_000_000, "268 MB"),
        (13_500_000_000, "13.5 GB"),
        (2_100_000_000_000, "2100.0 GB"),
    ],
)
def test_sizes_read_as_people_say_them(size, words):
    assert formats.size(size) == words


def test_numbers_and_shares():
    assert formats.count(1234567) == "1,234,567"
    assert formats.decimal(1234.56, 1) == "1234.6"
    assert formats.significant(0.0012345, 3) == "0.00123"
    assert formats.scientific(2e-5) == "2.0e-05"
    assert formats.points(0.0123, signed=True) == "+1.2"
    assert formats.points(-0.0123, signed=True) == "−1.2"
    assert [formats.with_hyphen(text) for text in ("−1.2", "−", "a −1")] == ["-1.2", "−", "a −1"]
    negative = formats.count(-3), formats.significant(-0.5), formats.scientific(-2e-5)
    assert negative == ("−3", "−0.5", "−2.0e-05") and formats.typed(-0.5) == "-0.5"
    assert formats.points(-0.00001, signed=True) == formats.points(0.0, signed=True) == "0.0"
    assert (formats.points(0.8861), formats.points(None)) == ("88.6", "–")


# file → why it formats numbers itself
EXCUSED = {
    "widgets/controls/form.py": "numbers that are typed, as on the command line",
}


def specs(path):
    """Format specifications in f-strings, only those of numbers."""
    for node in source.nodes(path, ast.FormattedValue):
        if node.format_spec is not None:
            spec = ast.unparse(node.format_spec)[2:-1]
            if spec[-1:] in ",fge%" and not spec.startswith(("<", ">", "^")):
                yield spec


def test_licences_are_spelled_as_spdx_does():
    assert formats.licence("cc-by-sa-3.0") == "CC-BY-SA-3.0"


def test_no_module_of_the_window_formats_numbers_itself():
    result = {file for file, path in source.of_window().items() if any(specs(path))}

    assert result == set(EXCUSED)
