"""Go to a word by its first letters: the fastest way through a text without a mouse.

Two letters after the key are enough, or a letter and a space for a word of one letter: the mode
ends with the second one, so that the next key is a label again. Like “sneak” and “avy” in text
editors.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.chip import Chip

if TYPE_CHECKING:
    from workbench.ui.widgets.text.view import TextView

KEY, EXTEND = "'", '"'
LETTERS = 2
_EDGE = 8  # pixels at 100%, between the hint and the edge of the text
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_HELD = (Qt.Key.Key_Shift, Qt.Key.Key_AltGr, Qt.Key.Key_CapsLock)  # they only change other keys


def find_word(text: str, letters: str, after: int) -> int | None:
    """Offset of the next word that begins with the letters, from `after` on and then from 0.

    Case is ignored. A space after a letter is the end of the word: "a " finds “a”, not “as”.
    Scripts without spaces have no beginnings of words to go by: there, any place with these
    characters counts, if no word begins with them.
    """
    begins = re.escape(letters.rstrip(" ")) + (r"(?!\w)" if letters.endswith(" ") else "")
    for pattern in (rf"(?<!\w){begins}", begins):
        sought = re.compile(pattern, re.IGNORECASE)
        if match := sought.search(text, after) or sought.search(text):
            return match.start()
    return None


def found_words(text: TextView, place: int, letters: str) -> tuple[int, int]:
    """The word found, to the last letter typed: without spaces, each letter may be a word."""
    low, high = text.bounds.word_at(place)
    if all(unicodedata.category(letter)[0] in "LMN" for letter in letters):
        high = max(high, text.bounds.word_at(place + len(letters) - 1)[1])
    return low, high


class Jump:
    """Reads the letters and selects the word in the text that has the focus."""

    def __init__(self) -> None:
        self._text: TextView | None = None
        self._typed = self._last = ""
        self._before = self._origin = self._at = (0, 0)
        self._extend = False
        self._hint: Chip | None = None

    @property
    def reading(self) -> bool:
        """Whether the next key is a letter of a word."""
        return self._text is not None

    def start(self, text: TextView, *, extend: bool = False) -> None:
        """Read letters; `extend`: the selection is continued to the end of the word found."""
        self._text, self._typed, self._extend = text, "", extend
        self._before = text.anchor, text.caret
        self._origin = text.selection or (text.caret, text.caret)
        self._show(_("Go to word: type two letters"))

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key while letters are read; False for a key that ends it and means more."""
        text, letter = self._text, event.text()
        if text is None or (text.anchor, text.caret) != self._at:  # gone, or moved by the mouse
            self.leave()
            return False
        if event.key() == Qt.Key.Key_Escape:
            text.select(*self._before)
            self.leave()
        elif event.key() in _ENTER:
            self.leave()
        elif event.key() == Qt.Key.Key_Backspace:
            self._typed = ""
            text.select(*self._before)
            self._show(_("Go to word: type two letters"))
        elif letter == KEY and not self._typed:
            self._typed = self._last
            self._go(text)
        elif letter == " " and not self._typed:
            self.leave()
        elif len(letter) == 1 and letter.isprintable():
            self._typed += letter
            self._go(text)
        elif event.key() not in _HELD:
            self.leave()
            return False
        return True

    def leave(self) -> None:
        """Stop reading letters."""
        self._text = None
        if self._hint is not None:
            self._hint.hide()

    def _go(self, text: TextView) -> None:
        if not self._typed:
            self.leave()
            return
        start, end = self._origin
        after = end if self._extend else start + 1
        if start == end == 0:
            after = 0
        place = find_word(text.text.text, self._typed, after)
        if place is None:
            text.select(*self._before)
            self._typed, typed = "", self._typed
            self._show(_("No word begins with “{letters}”", letters=typed))
            return
        low, high = found_words(text, place, self._typed)
        if self._extend:
            low, high = min(start, low), max(end, high)
        text.move_caret(low)  # a span that is selected no longer is
        text.move_caret(high, keep=True)
        if len(self._typed) >= LETTERS:
            self._last = self._typed
            self.leave()
        else:
            self._show(_("Go to word: {letters}…", letters=self._typed))

    def _show(self, message: str) -> None:
        """Say in the lower corner of the text what is read; the text stays where it is."""
        text = self._text
        if text is None:
            return
        self._at = text.anchor, text.caret
        if self._hint is None or self._hint.parent() is not text:
            self._hint = Chip("", tone="accent")
            self._hint.setParent(text)
        self._hint.set(message, tone="accent")
        self._hint.resize(self._hint.sizeHint())
        edge = theme.px(_EDGE)
        self._hint.move(edge, text.height() - self._hint.height() - edge)
        self._hint.show()
        self._hint.raise_()
