"""Design tokens and the current theme: the only module that defines colours, sizes and fonts.

The colours of labels are those of `text.label_colours`.

Names of colours, spaces and font kinds are the same in light and dark. Painting code calls
`colour("accent")`, `size("small")`, `font("reading")` or `label_colours(label)` on each paint, so a
change of theme or text size takes effect immediately; code that caches pictures connects to
`changed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QFont, QFontDatabase

from workbench.base import paths
from workbench.base.events import Signal
from workbench.text import label_colours as label_colouring
from workbench.text.label_colours import HUES as HUES
from workbench.text.label_colours import LabelColours as LabelColours
from workbench.text.label_colours import channels_of, decoded
from workbench.text.label_colours import oklch as oklch
from workbench.text.label_colours import to_oklch as to_oklch

if TYPE_CHECKING:
    pass

LIGHT = {
    "window": "#F4F5F7",
    "surface": "#FFFFFF",
    "sunken": "#ECEEF2",
    "line": "#DEE1E7",
    "strong_line": "#7F8694",
    "text": "#191C22",
    "muted": "#565D6B",
    "faint": "#646B7A",
    "accent": "#3A52D0",
    "accent_hover": "#2E44BA",
    "accent_soft": "#E7EBFC",
    "on_accent": "#FFFFFF",
    "good": "#156F36",
    "good_soft": "#E2F4E8",
    "warn": "#8A5200",
    "warn_soft": "#FCF0DA",
    "bad": "#B72535",
    "bad_soft": "#FBE6E8",
}
DARK = {
    "window": "#14161A",
    "surface": "#1C1F24",
    "sunken": "#101216",
    "line": "#2E323A",
    "strong_line": "#6C7482",
    "text": "#E8EAEE",
    "muted": "#A6ADB9",
    "faint": "#808896",
    "accent": "#93A5FF",
    "accent_hover": "#AAB8FF",
    "accent_soft": "#252C4A",
    "on_accent": "#0E1330",
    "good": "#62CF8C",
    "good_soft": "#15301F",
    "warn": "#E9B450",
    "warn_soft": "#32270F",
    "bad": "#FF858F",
    "bad_soft": "#3B1B1F",
}

SPACE = (0, 4, 8, 12, 16, 24, 32, 48)  # the only spacings
RADIUS, RADIUS_SMALL = 8, 5
CONTROL, CONTROL_SMALL = 32, 26  # height of buttons, inputs, combo boxes
ROW = 32  # table row
HEADER = 64  # page header
RAIL = 80
READING_WIDTH = 860  # maximum width of reading text
FONT = {  # pixels at 100% text size
    "ui": 13,
    "small": 12,
    "caption": 11,
    "tiny": 10,
    "heading": 14,
    "title": 19,
    "reading": 16,
    "mono": 13,
    "display": 34,
}
FAMILY, MONO = "Inter", "JetBrains Mono"
LIGATURES = "calt"  # the OpenType feature that draws "=>" as an arrow in MONO
TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)  # percent
NO_LABEL = "#808080"  # grey for a deleted label: label_colours() adapts it to the theme
NOTE_SECONDS = 8

changed = Signal("theme.changed")  # no arguments; colours, sizes or fonts have changed


@dataclass
class _InUse:
    dark: bool = False
    percent: int = 100
    family: str = FAMILY
    mono: str = MONO


_use = _InUse()


def colours() -> dict[str, str]:
    """The colours of the current theme, by name."""
    return DARK if _use.dark else LIGHT


def colour(name: str) -> str:
    """#RRGGBB of a colour name in the current theme. Raises KeyError for an unknown name."""
    return colours()[name]


def qcolour(name: str, alpha: float = 1.0) -> QColor:
    """A colour of the theme as a QColor, `alpha` in [0, 1]."""
    return QColor(_made_colour(colour(name), alpha))  # a copy, which the caller may change


@lru_cache(maxsize=500)
def _made_colour(text: str, alpha: float) -> QColor:
    it = QColor(text)
    it.setAlphaF(alpha)
    return it


def channels(name: str) -> tuple[int, int, int]:
    """Red, green and blue, in [0, 255], of a name of the theme or #RRGGBB."""
    colour = QColor(name) if name.startswith("#") else qcolour(name)
    return colour.red(), colour.green(), colour.blue()


def packed(name: str) -> int:
    """A colour of the theme as one opaque pixel of a QImage: 0xFFRRGGBB."""
    red, green, blue = channels(name)
    return 0xFF << 24 | red << 16 | green << 8 | blue


def is_dark() -> bool:
    return _use.dark


def percent() -> int:
    """Text size in percent."""
    return _use.percent


def px(pixels: float) -> int:
    """Scale a length with the text size: heights of controls and rows, widths that contain text."""
    return round(pixels * _use.percent / 100)


def size(kind: str) -> int:
    """Font size in pixels for a key of FONT at the current text size."""
    return px(FONT[kind])


def font(kind: str = "ui", weight: int = 400) -> QFont:
    """A font for a key of FONT; "mono" is monospaced. `weight` as in CSS: 400, 500, 600, 700."""
    mono = kind == "mono"  # prompts are shown exactly, without ligatures
    name = _use.mono if mono else _use.family
    return QFont(_made_font(name, size(kind), weight, mono))  # a copy, which the caller may change


@lru_cache(maxsize=100)
def _made_font(name: str, pixels: int, weight: int, exact: bool) -> QFont:
    it = QFont(name)
    if exact:
        it.setFeature(QFont.Tag(LIGATURES), 0)
    it.setPixelSize(pixels)
    it.setWeight(QFont.Weight(weight))
    return it


def family(mono: bool = False) -> str:
    return _use.mono if mono else _use.family


def set_up(*, dark: bool, percent: int = 100, system_font: bool = False) -> None:
    """Set colours, size and font.

    The caller repaints (see `style.apply`) and then emits `changed`.
    """
    _use.dark, _use.percent = dark, min(max(percent, TEXT_SIZES[0]), TEXT_SIZES[-1])
    general = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    _use.family = general if system_font else FAMILY


def load_fonts() -> None:
    """Register the bundled fonts with Qt. If files are missing, the system fonts are used."""
    try:
        folder = paths.resource("fonts")
    except FileNotFoundError:
        return
    for file in sorted((*folder.glob("*.otf"), *folder.glob("*.ttf"))):
        QFontDatabase.addApplicationFont(str(file))


def next_text_size(step: int) -> int:
    """The next larger (+1) or smaller (-1) of TEXT_SIZES; 0 gives 100."""
    if step == 0:
        return 100
    if step > 0:
        return next(
            (text_size for text_size in TEXT_SIZES if text_size > _use.percent), TEXT_SIZES[-1]
        )
    return next(
        (text_size for text_size in reversed(TEXT_SIZES) if text_size < _use.percent), TEXT_SIZES[0]
    )


# ---------------------------------------------------------------- colours of labels


def label_colours(label: object, *, dark: bool | None = None) -> LabelColours:
    """`text.label_colours.colours`, by default for the current theme."""
    return label_colouring.colours(label, dark=_use.dark if dark is None else dark)


SHADES = 255  # steps of `sequential`, so that tables of thousands of cells have few colours


def sequential(share: float, *, dark: bool | None = None) -> str:
    """#RRGGBB of a heat map cell, `share` in [0, 1]: from near the surface colour to the accent."""
    dark = _use.dark if dark is None else dark
    low, high, chroma = (0.25, 0.78, 0.105) if dark else (0.975, 0.47, 0.165)
    share = round(min(1.0, max(0.0, share)) * SHADES) / SHADES
    return oklch(low + (high - low) * share, 0.015 + chroma * share, 268)


def diverging(share: float, *, dark: bool | None = None) -> str:
    """#RRGGBB behind a signed number, `share` in [-1, 1]: orange below 0, blue above.

    The colour "text" is readable on it. Always show the sign as well.
    """
    dark = _use.dark if dark is None else dark
    size, hue = min(1.0, abs(share)), 262 if share >= 0 else 55
    if dark:
        return oklch(0.24 + 0.25 * size, 0.11 * size, hue)
    return oklch(0.985 - 0.20 * size, 0.13 * size, hue)


READABLE = 4.5  # contrast of text and background required by WCAG 2, level AA


def readable(ground: str, *names: str) -> str:
    """#RRGGBB of the named colour that is most readable on `ground`; black or white if none is.

    One of black and white has a contrast of at least 4.58 with any background.
    """
    return _most_readable(ground, tuple(map(colour, names)))


@lru_cache(maxsize=4096)
def _most_readable(ground: str, colours: tuple[str, ...]) -> str:
    best = max(colours, key=lambda item: contrast(item, ground))
    if contrast(best, ground) >= READABLE:
        return best
    return max(("#000000", "#FFFFFF"), key=lambda item: contrast(item, ground))


def contrast(text: str, other: str) -> float:
    """WCAG 2 contrast ratio of two #RRGGBB, 1 to 21."""
    high, low = sorted((_luminance(text), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour_: str) -> float:
    r, g, b = (decoded(channel) for channel in channels_of(colour_))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
