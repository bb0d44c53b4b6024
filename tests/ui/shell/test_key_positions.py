"""Label keys by position.

Key codes: X11 (evdev + 8); VK_… of Windows; kVK_ANSI_… of macOS.
"""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from workbench.ui.shell import key_positions

NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


def press(text: str, *, code: int = 0, virtual: int = 0, modifiers=NONE) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, 0, modifiers, code, virtual, 0, text)


@pytest.mark.parametrize(
    ("layout", "text", "code", "meant"),
    [
        ("Russian", "й", 24, "q"),
        ("Russian", ".", 61, "/"),
        ("Greek", "ς", 25, "w"),
        ("Arabic", "ض", 24, "q"),
        ("Hebrew", "/", 24, "q"),
        ("Hebrew", "ק", 26, "e"),
        ("Thai", "ๆ", 24, "q"),
        ("Thai", "ึ", 16, "7"),
        ("French", "&", 10, "1"),
        ("French", "é", 11, "2"),
        ("Russian", "х", 34, "["),
    ],
)
def test_a_key_that_writes_no_letter_of_ours_stands_for_its_place(layout, text, code, meant):
    assert key_positions.meant(press(text, code=code), "linux") == meant


@pytest.mark.parametrize(
    ("layout", "text", "code"),
    [
        ("German", "z", 29),
        ("German", "ü", 34),
        ("French", "a", 24),
        ("Dvorak", "'", 24),
        ("English", "/", 61),
        ("English", ".", 60),
        ("English", "1", 10),
    ],
)
def test_what_a_latin_layout_writes_is_taken_as_it_is(layout, text, code):
    assert key_positions.meant(press(text, code=code), "linux") == ""


def test_shift_and_a_digit_is_no_digit_and_shift_with_a_bracket_is_a_brace():
    assert key_positions.meant(press("!", code=10, modifiers=SHIFT), "linux") == ""
    assert key_positions.meant(press("Х", code=34, modifiers=SHIFT), "linux") == "{"


def test_windows_and_macos_tell_the_place_by_their_own_codes():
    assert key_positions.meant(press("й", virtual=ord("Q")), "win32") == "q"
    assert key_positions.meant(press("й", virtual=12), "darwin") == "q"
    assert key_positions.meant(press("т", virtual=45), "darwin") == "n"


def test_a_key_without_a_code_means_what_it_writes():
    assert key_positions.meant(press("й"), "linux") == ""
