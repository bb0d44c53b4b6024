"""The colours of labels, at the lightness that all labels share, in light and dark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

HUES = (
    262,
    150,
    35,
    305,
    85,
    200,
    350,
    120,
    235,
    60,
    330,
    175,
)  # order of the colours of new labels: neighbours are far apart in hue


@dataclass(frozen=True, slots=True)
class LabelColours:
    """`line`: bar, caption, key cap. `fill`: behind text. `chip`: light background. All #RRGGBB."""

    line: str
    fill: str
    chip: str


def colours(label: object, *, dark: bool) -> LabelColours:
    """Colours of a label.

    `label` is a `text.labels.Label`, a position (0-based), or the "#RRGGBB" that a user chose: only
    its hue is used (or grey, if its chroma is close to zero).
    """
    own = label if isinstance(label, str) else getattr(label, "colour", "")
    if own:
        try:
            return _own_colours(own, dark)
        except ValueError:
            pass  # not a valid colour: same as none
    position = label if isinstance(label, int) else getattr(label, "position", 0)
    return _hue_colours(HUES[position % len(HUES)], 1.0, dark)


@lru_cache(maxsize=512)
def _own_colours(colour_: str, dark: bool) -> LabelColours:
    _, chroma, hue = to_oklch(colour_)
    return _hue_colours(hue, min(1.0, chroma / 0.05), dark)


@lru_cache(maxsize=1024)
def _hue_colours(hue: float, strength: float, dark: bool) -> LabelColours:
    if dark:
        return LabelColours(
            oklch(0.80, 0.12 * strength, hue),
            oklch(0.36, 0.07 * strength, hue),
            oklch(0.30, 0.05 * strength, hue),
        )
    return LabelColours(
        oklch(0.47, 0.15 * strength, hue),
        oklch(0.925, 0.05 * strength, hue),
        oklch(0.955, 0.03 * strength, hue),
    )


@lru_cache(maxsize=4096)
def oklch(lightness: float, chroma: float, hue: float) -> str:
    """#RRGGBB of an OKLCH colour (lightness 0–1, hue in degrees).

    Chroma is lowered until the colour is in the sRGB gamut.
    Source: Ottosson 2020, "A perceptual color space for image processing".
    """
    while True:
        a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
        l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
        m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
        s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
        rgb = (
            4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
        )
        if all(-0.002 <= channel <= 1.002 for channel in rgb) or chroma < 0.005:
            break
        chroma -= 0.005
    return "#" + "".join(
        f"{round(255 * min(1, max(0, _encode(max(0, channel))))):02X}" for channel in rgb
    )


def to_oklch(colour_: str) -> tuple[float, float, float]:
    """(lightness, chroma, hue in degrees) of #RRGGBB.

    Raises ValueError if invalid. Source: as `oklch`.
    """
    r, g, b = (decoded(channel) for channel in channels_of(colour_))
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    lightness = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s
    a = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s
    b = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def channels_of(colour_: str) -> tuple[float, float, float]:
    if len(colour_) != 7 or colour_[0] != "#":
        raise ValueError(f"{colour_!r} is not #RRGGBB")
    red, green, blue = (int(colour_[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _encode(channel: float) -> float:
    return 12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055


def decoded(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
