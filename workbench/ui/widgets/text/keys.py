"""Standard caret keys of a text view: arrows, Home, End, Page, with Ctrl and Shift."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from workbench.ui.widgets.text import caret as moves

if TYPE_CHECKING:
    from workbench.ui.widgets.text.view import TextView

_Key, _Mod = Qt.Key, Qt.KeyboardModifier
_Step = Callable[["TextView"], int]


def _word_left(view: TextView) -> int:
    rtl = view.text.rtl(view.text.paragraph_at(view.caret))
    return view.bounds.next_word(view.caret) if rtl else view.bounds.previous_word(view.caret)


def _word_right(view: TextView) -> int:
    rtl = view.text.rtl(view.text.paragraph_at(view.caret))
    return view.bounds.previous_word(view.caret) if rtl else view.bounds.next_word(view.caret)


_PLAIN: dict[Qt.Key, _Step] = {
    _Key.Key_Left: lambda view: moves.left(view.pieces, view.caret),
    _Key.Key_Right: lambda view: moves.right(view.pieces, view.caret),
    _Key.Key_Home: lambda view: moves.line_start(view.pieces, view.caret),
    _Key.Key_End: lambda view: moves.line_end(view.pieces, view.caret),
}
_WITH_CONTROL: dict[Qt.Key, _Step] = {
    _Key.Key_Left: _word_left,
    _Key.Key_Right: _word_right,
    _Key.Key_Home: lambda view: 0,
    _Key.Key_End: lambda view: len(view.text),
}
_VERTICAL: dict[Qt.Key, Callable[[TextView, float], int]] = {
    _Key.Key_Up: lambda view, x: moves.vertical(view.pieces, view.caret, -1, x),
    _Key.Key_Down: lambda view, x: moves.vertical(view.pieces, view.caret, +1, x),
    _Key.Key_PageUp: lambda view, x: moves.page(view.pieces, view.caret, -view.page_height, x),
    _Key.Key_PageDown: lambda view, x: moves.page(view.pieces, view.caret, +view.page_height, x),
}


def handle(view: TextView, event: QKeyEvent) -> bool:
    """Handle a caret key; False for other keys."""
    if event.matches(QKeySequence.StandardKey.SelectAll):
        view.select(0, len(view.text), show=False)
        return True
    modifiers = event.modifiers() & ~_Mod.KeypadModifier
    keep = bool(modifiers & _Mod.ShiftModifier)
    control = bool(modifiers & _Mod.ControlModifier)
    if modifiers & (_Mod.AltModifier | _Mod.MetaModifier) or (
        control and not keep and not view.word_steps and event.key() in _ARROWS
    ):
        return False
    key = Qt.Key(event.key()) if event.key() in _KNOWN else None
    if key is None:
        return False
    if key in _VERTICAL:
        if control:
            return False
        view.move_caret(_VERTICAL[key](view, view.goal_x), keep=keep, keep_goal=True)
    else:
        step = (_WITH_CONTROL if control else _PLAIN)[key]
        view.move_caret(
            _collapsed(view, key)
            if not keep and not control and view.selection and key in _ARROWS
            else step(view),
            keep=keep,
        )
    return True


def _collapsed(view: TextView, key: Qt.Key) -> int:
    """Left and Right collapse a selection to its end in that direction."""
    start, end = view.selection or (view.caret, view.caret)
    rtl = view.text.rtl(view.text.paragraph_at(view.caret))
    return start if (key == _Key.Key_Left) != rtl else end


_ARROWS = {_Key.Key_Left.value, _Key.Key_Right.value, _Key.Key_Left, _Key.Key_Right}
_KNOWN = {key.value for key in (*_PLAIN, *_VERTICAL)} | set(_PLAIN) | set(_VERTICAL)
