"""What a key writes on an English (US) keyboard, whatever the layout in use: a label's key works by its place there.

On a Russian, Greek, Arabic or Thai layout no key writes "q"; on a French one the digits need Shift. So where a key writes no
plain letter or digit, its place counts. Layouts that do write letters of ours (German, Dvorak) are never second-guessed.
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
    **{ord(one): one.lower() for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
}
_SIGNS = {
    ("/", "q"),
    ("'", "w"),
    (".", "/"),
}  # what Hebrew and Russian layouts have on places of keys of ours
_SHIFTED = {"[": "{", "]": "}"}


def place(event: QKeyEvent, platform: str = sys.platform) -> str:
    """The letter, digit or sign that stands at this place on a US keyboard, "" where the platform does not tell."""
    if platform == "win32":
        return _WINDOWS.get(event.nativeVirtualKey(), "")
    if platform == "darwin":
        return _MAC.get(event.nativeVirtualKey(), "")
    return _LINUX.get(event.nativeScanCode(), "")


def meant(event: QKeyEvent, platform: str = sys.platform) -> str:
    """What the key stands for by its place, in lower case, or "" where what it writes is to be taken as it is."""
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
    """Whether it is a letter or vowel sign of a script other than Latin."""
    return unicodedata.category(letter)[0] in "LM" and not unicodedata.name(letter, "").startswith(
        "LATIN"
    )
