"""Convert between text offsets and Qt positions.

Stored text counts code points and keeps every imported character; Qt counts UTF-16 units and
splits at or replaces some characters. A view shows `DisplayText.shown`, which has exactly one code
point for each stored one, in paragraphs without line breaks, and converts every position here, in
both directions. Text is never read back from a widget.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right

# CR LF is one break of two code points; the others are from the Unicode newline guidelines (UAX 14,
# BK CR LF NL).
_BREAK = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffc\ufffe\uffff]"
)
_STRONG_SEARCH = 4000  # code points examined for the direction of a paragraph


def _picture(match: re.Match[str]) -> str:
    """A replacement of one code point: control pictures for C0 and DEL, U+FFFD for undrawable ones.

    U+FEFF becomes U+2060, which has the same meaning: PySide6 drops U+FEFF at the start of a string
    as a byte order mark.
    """
    code = ord(match.group())
    if code == 0xFEFF:
        return "\u2060"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


class Utf16Map:
    """Code points ↔ UTF-16 units of a string. Memory grows with characters outside the BMP only."""

    __slots__ = ("_points", "_units", "length", "units")

    def __init__(self, text: str):
        self.length = len(text)
        self._points = (
            [] if text.isascii() else [at for at, char in enumerate(text) if char > "\uffff"]
        )
        self._units = [point + count for count, point in enumerate(self._points)]
        self.units = self.length + len(self._points)

    def to_units(self, point: int) -> int:
        return point + bisect_left(self._points, point) if self._points else point

    def to_point(self, unit: int) -> int:
        """The code point that contains `unit`; inside a surrogate pair, that of the pair."""
        if not self._units:
            return unit
        before = bisect_left(self._units, unit)
        if before and self._units[before - 1] + 1 == unit:
            return self._points[before - 1]
        return unit - before


class DisplayText:
    """A stored text with its paragraphs.

    `starts[i]`, `ends[i]`: paragraph i in code points, without the break that ends it; the next one
    starts after the break. An empty text has one empty paragraph; a text that ends in a break has
    an empty last one.
    """

    def __init__(self, text: str):
        self.text = text
        self.shown = (
            text if text.isascii() and text.isprintable() else _UNSHOWABLE.sub(_picture, text)
        )
        self.starts, self.ends = [0], []
        for line_break in _BREAK.finditer(text):
            self.ends.append(line_break.start())
            self.starts.append(line_break.end())
        self.ends.append(len(text))

    def __len__(self) -> int:
        return len(self.text)

    def paragraph_at(self, position: int) -> int:
        """The paragraph that contains a position; a position inside a break belongs to the one
        before it.
        """
        return bisect_right(self.starts, position) - 1

    def legal(self, position: int) -> int:
        """The nearest valid caret position at or before `position`: in the text, not between CR and
        LF.
        """
        position = min(max(position, 0), len(self.text))
        paragraph = self.paragraph_at(position)
        return min(position, self.ends[paragraph])

    def rtl(self, paragraph: int) -> bool:
        start = self.starts[paragraph]
        return is_rtl(self.text[start : min(self.ends[paragraph], start + _STRONG_SEARCH)])


def is_rtl(text: str) -> bool:
    """Whether the first strong character is right-to-left.

    Source: UAX 9, rules P2 and P3 (isolates are skipped).
    """
    if text.isascii():
        return False
    depth = 0
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in ("LRI", "RLI", "FSI"):
            depth += 1
        elif kind == "PDI":
            depth = max(0, depth - 1)
        elif depth == 0 and kind in ("L", "R", "AL"):
            return kind != "L"
    return False


_RTL_CHARACTER = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def has_rtl(text: str) -> bool:
    """Whether any part of the text may be drawn right-to-left."""
    return not text.isascii() and _RTL_CHARACTER.search(text) is not None
