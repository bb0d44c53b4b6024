"""Axes of charts: their ranges, and round values with texts beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from workbench.ui.style import formats

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MOST_TICKS = 6  # distances between ticks
FEW_TICKS = 5  # on a logarithmic axis: up to so many, each has a number
DECADES = 4  # on a logarithmic axis, from which only powers of ten have numbers
DIGITS = 6  # of values on a logarithmic axis that are saved

Range = tuple[float, float]
Ticks = list[tuple[float, str]]  # place on the axis, and text


@dataclass(frozen=True)
class Axis:
    """name: display text. low, high: range, None to fit the data. whole: of whole numbers.

    percent: values are fractions of 1, shown times 100. logarithmic: values are positive, and
    places on the axis their logarithms to base 10. names: texts in place of numbers, by value.
    """

    name: str = ""
    low: float | None = None
    high: float | None = None
    whole: bool = field(default=False, kw_only=True)
    percent: bool = field(default=False, kw_only=True)
    logarithmic: bool = field(default=False, kw_only=True)
    names: tuple[tuple[float, str], ...] | None = field(default=None, kw_only=True)

    def text_of(self, place: float) -> str:
        """The value at a place in three digits, or its name."""
        return dict(self.names or ()).get(place) or formats.significant(self.value_at(place), 3)

    def value_at(self, place: float) -> float:
        return 10.0**place if self.logarithmic else place

    def number_at(self, place: float) -> float | str:
        """The value at a place, or its name where it stands for no number."""
        if self.logarithmic:
            return round(self.value_at(place), DIGITS - 1 - math.floor(place))
        return dict(self.names or ()).get(place, place)

    def range_of(self, values: Iterable[float]) -> Range:
        """The range of an axis with these values."""
        finite = [value for value in values if math.isfinite(value)]
        low = min(finite, default=0.0) if self.low is None else self.low
        high = max(finite, default=1.0) if self.high is None else self.high
        margin = 1.0 if self.whole else 0.5
        return (low, high) if high > low else (low - margin, low + margin)

    def ticks(self, low: float, high: float, most: int = MOST_TICKS) -> Ticks:
        """Places and texts between two places; most: distances between them."""
        if self.names is not None:
            return [pair for pair in self.names if low <= pair[0] <= high]
        if self.logarithmic:
            return log_ticks(low, high)
        unit = 100.0 if self.percent else 1.0
        values = ticks(low * unit, high * unit, whole=self.whole, most=most)
        return [(value / unit, scale_text(value)) for value in values]


def ticks(low: float, high: float, *, whole: bool = False, most: int = MOST_TICKS) -> list[float]:
    """Round values for a scale, at most `most` + 1; whole: whole numbers only."""
    room = high - low
    power = 10.0 ** math.floor(math.log10(room)) if room > 0 else 1.0
    steps = (scale * step * power for scale in (1.0, 10.0, 100.0) for step in STEPS)
    step = next(step for step in steps if room / step <= most and not (whole and step % 1))
    first = math.ceil(low / step - 1e-9)
    return [step * number for number in range(first, math.floor(high / step + 1e-9) + 1)]


def scale_text(value: float) -> str:
    """Short enough for the room beside a scale: 0.25, 2e-4."""
    if value == 0 or abs(value) >= 1e-3:
        return formats.significant(value, 4)
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    return f"{formats.significant(value / 10**exponent, 2)}e{exponent}"


def log_ticks(low: float, high: float) -> Ticks:
    """1 to 9 of each power of ten between two logarithms, 1, 2 and 5 if there are many, powers of
    ten in a broad range; in a narrow one, round numbers.
    """
    powers = range(math.floor(low), math.ceil(high))
    places = [power + math.log10(digit) for power in powers for digit in range(1, 10)]
    places = [place for place in places if low < place < high]
    if len(places) < 2 and low < high:
        places = _narrow(10**low, 10**high)
    numbers = [10**place for place in places]
    if len(numbers) > FEW_TICKS:
        texts = [_plain(at) if _is_round(at, high - low) else "" for at in numbers]
    else:
        texts = _exact(numbers)
    return [(place, text) for place, text in zip(places, texts, strict=True) if text]


def _narrow(start: float, end: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(end - start))
    spans = (power / 5, power / 2, power, power * 2)
    span = next((item for item in spans if (end - start) / item <= FEW_TICKS), power * 2)
    whole = range(math.ceil(start / span), math.floor(end / span) + 1)
    return [math.log10(number * span) for number in whole]


def _exact(numbers: Sequence[float]) -> list[str]:
    """With the digits that tell neighbours apart."""
    gap = min((high - low for low, high in pairwise(numbers)), default=1.0)
    digits = max(0, -math.floor(math.log10(gap) + 1e-9))
    if not digits or numbers[0] < 1:
        return [_plain(number) for number in numbers]
    return [formats.decimal(number, digits) for number in numbers]


def _is_round(value: float, decades: float) -> bool:
    leading = round(value / 10 ** math.floor(math.log10(value) + 1e-9), 6)
    return leading in ((1,) if decades > DECADES else (1, 2, 5))


def _plain(value: float) -> str:
    if value >= 10:
        return formats.count(round(value))
    return scale_text(value) if value < 1e-3 else formats.significant(value, 2)
