"""The scale of numbers that are given to documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

MAX_STEPS = 200  # of the scale of imported numbers, if steps of 1 or less allow it
DECIMALS = 6  # of the steps of a scale
MIN_STEPS = 20  # of numbers that a model writes as text


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `minimum` to `maximum`; the editor offers multiples of `step` from `minimum`."""

    minimum: float = 0.0
    maximum: float = 5.0
    step: float = 1.0

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Self:
        """The scale in the options of a layer; the default one if they hold no valid scale."""
        numbers = {name: options[name] for name in OPTIONS if name in options}
        valid = {
            name: float(value)
            for name, value in numbers.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }
        scale = cls(**valid)
        return cls() if scale.problem else scale

    @classmethod
    def covering(cls, low: float, high: float, decimals: int) -> Self:
        """A scale with whole ends for numbers from `low` to `high` with so many decimal places.

        Means of several people have many places: there are at most MAX_STEPS steps, of 1 or less.
        """
        minimum, maximum = float(min(0, math.floor(low))), float(math.ceil(high))
        maximum = max(maximum, minimum + 1)
        most = math.floor(math.log10(MAX_STEPS / (maximum - minimum)))
        return cls(minimum, maximum, 10.0 ** -max(0, min(decimals, most, DECIMALS)))

    def widened(self, other: Scale) -> Scale:
        """The smallest scale with the numbers of both."""
        return Scale(
            min(self.minimum, other.minimum),
            max(self.maximum, other.maximum),
            min(self.step, other.step),
        )

    @property
    def options(self) -> dict[str, object]:
        """Entries of the options of a layer."""
        return asdict(self)

    @property
    def problem(self) -> str:
        """The name of an end or step that is not valid, "" if all are."""
        if not all(map(math.isfinite, (self.minimum, self.maximum, self.step))):
            return "minimum"
        if self.maximum <= self.minimum:
            return "maximum"
        return "" if 0 < self.step <= self.maximum - self.minimum else "step"

    @property
    def steps(self) -> int:
        """The number of steps between both ends."""
        return max(1, round((self.maximum - self.minimum) / self.step))

    @property
    def decimals(self) -> int:
        """Decimal places of the steps."""
        places = range(DECIMALS)
        return next((n for n in places if _whole(self.step * 10**n)), DECIMALS)

    def holds(self, value: float) -> bool:
        return self.minimum <= value <= self.maximum

    def clipped(self, value: float) -> float:
        return min(self.maximum, max(self.minimum, value))

    def nearest(self, value: float) -> float:
        """The step that is closest to a number."""
        count = round((self.clipped(value) - self.minimum) / self.step)
        return round(self.clipped(self.minimum + count * self.step), DECIMALS)


OPTIONS = ("minimum", "maximum", "step")


def number_texts(low: float, high: float, step: float = 0.0) -> tuple[str, ...]:
    """Multiples of `step` that cover the numbers from `low` to `high`, as text, ascending.

    step 0: the largest of 1, 2 or 5 times a power of ten with at least MIN_STEPS of them: 0.2
    for numbers from 0 to 5, to which Raffel et al. 2020 (section 2.4) round those of STS-B.
    """
    step = step or _round_step((high - low) / MIN_STEPS)
    places = decimals_of(step)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(f"{count * step + 0.0:.{places}f}" for count in range(first, max(first, last) + 1))


def _round_step(most: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not above `most`; 1 for `most` 0."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most) + 1e-9)
    return max(power * digit for digit in (1, 2, 5) if digit * power <= most * (1 + 1e-9))


def decimals_of(value: float) -> int:
    """Decimal places of a number as it is written, at most DECIMALS."""
    return next((n for n in range(DECIMALS) if _whole(value * 10**n)), DECIMALS)


def _whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-9 * max(1.0, abs(value))


def shortest(value: float) -> str:
    """The number in the fewest digits that give it back: 4, 3.5."""
    return repr(float(value)).removesuffix(".0")
