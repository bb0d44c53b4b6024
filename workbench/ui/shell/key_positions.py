"""Map keys to a US keyboard by position, so that label keys work in every keyboard layout.

On a Russian, Greek, Arabic or Thai layout no key writes "q"; on a French one, digits need Shift. If
a key writes no plain letter or digit, its position is used. Layouts that write Latin letters
(German, Dvorak) are taken as they are.
"""

from __future__ import annotations

import sys
import unicodedata

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

_ROWS_LINUX = (
    (10, "1234567890"),
    (24, "qwertyuiop[]"),
    (38, "asdfghjkl"),
    (52, "zxcvbnm"),
    (61, "/"),
)  # key code of X11 and Wayland
_LINUX = {first + place: letter for first, row in _ROWS_LINUX for place, letter in enumerate(row)}
_MAC = {  # kVK_ANSI_… of Carbon, Events.h
    **dict(enumerate("asdfhgzxcv")),
    **dict(enumerate("bqweryt123465", 11)),
    **{
        25: "9",
        26: "7",
        28: "8",
        29: "0",
        30: "]",
        31: "o",
        32: "u",
        33: "[",
        34: "i",
        35: "p",
        37: "l",
        38: "j",
        40: "k",
    },
    **{44: "/", 45: "n", 46: "m"},
}
_WINDOWS = {
    0xBF: "/",
    0xDB: "[",
    0xDD: "]",
    **{ord(text): text.lower() for text in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
}
_SIGNS = {
    ("/", "q"),
    ("'", "w"),
    (".", "/"),
}  # characters that Hebrew and Russian layouts have in place of our keys
_SHIFTED = {"[": "{", "]": "}"}


def place(event: QKeyEvent, platform: str = sys.platform) -> str:
    """The character at this position of a US keyboard, "" if the platform does not report
    positions.
    """
    if platform == "win32":
        return _WINDOWS.get(event.nativeVirtualKey(), "")
    if platform == "darwin":
        return _MAC.get(event.nativeVirtualKey(), "")
    return _LINUX.get(event.nativeScanCode(), "")


def meant(event: QKeyEvent, platform: str = sys.platform) -> str:
    """The key by position, in lower case, or "" if the character it writes is to be used."""
    text, at = event.text(), place(event, platform)
    if len(text) != 1 or not at:
        return ""
    shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    if at.isdigit() and not shifted and not (text.isascii() and text.isalnum()):
        return at
    if foreign(text) or (text, at) in _SIGNS:
        return _SHIFTED.get(at, at) if shifted else at
    return ""


def foreign(letter: str) -> bool:
    """Whether the character is a letter or vowel sign of a non-Latin script."""
    return unicodedata.category(letter)[0] in "LM" and not unicodedata.name(letter, "").startswith(
        "LATIN"
    )
