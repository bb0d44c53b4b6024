"""Single-key shortcuts of Annotate, active while the text, the queue or a table has the focus.

Letters and digits also work while a button has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from workbench.ui.panels.annotate import jump
from workbench.ui.panels.annotate.commands import BARE_COMMANDS
from workbench.ui.shell import key_positions
from workbench.ui.shell.bare_keys import BareKeys
from workbench.ui.widgets.text import caret
from workbench.ui.widgets.text.view import TextView
from workbench.ui.widgets.tokens.token_grid import TokenGrid

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.view import AnnotateView

_Key, _Mod = Qt.Key, Qt.KeyboardModifier
_AWAY = (QEvent.Type.FocusOut, QEvent.Type.MouseButtonPress)
_COMMAND = _Mod.ControlModifier | _Mod.AltModifier | _Mod.MetaModifier
_NONE: dict[str, list[str]] = {}
_CLEAR = (_Key.Key_Backspace, _Key.Key_Delete)
_LINES = (_Key.Key_Down, _Key.Key_Up)
_BRACKETS = {
    "[": _Key.Key_BracketLeft,
    "]": _Key.Key_BracketRight,
    "{": _Key.Key_BraceLeft,
    "}": _Key.Key_BraceRight,
}


class Keys(QObject):
    """Watches the widgets in which single keys are commands. `view` is the page."""

    def __init__(self, view: AnnotateView) -> None:
        super().__init__(view)
        self._view, self._state = view, view.state
        self._session = view.state.session
        self._jump = jump.Jump()
        window = view.state.context.settings.window
        self._own = BareKeys(lambda: window.get("keys", _NONE), BARE_COMMANDS)
        self._actions = {
            _Key.Key_Return: view.links.enter,
            _Key.Key_Enter: view.links.enter,
            _Key.Key_Space: self._state.queue.skip,
            _Key.Key_Backspace: self._state.delete_chosen,
            _Key.Key_Delete: self._state.delete_chosen,
            _Key.Key_Escape: view.unselect,
        }

    def watch(self, widget: QWidget) -> None:
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if self._jump.reading and self._jump.press(event):
                return True
            meant = self._own.meant(event, self._session.keys.by_key)
            if meant is None:
                return event.key() not in _LINES  # of a changed key; texts have lines as well
            return self._pressed(watched, meant)
        if event.type() in _AWAY:
            self._jump.leave()
        return super().eventFilter(watched, event)

    def press(self, event: QKeyEvent) -> bool:
        """A key that the focused widget of the page did not take, such as a button that was
        clicked: letters and digits act as in the text. True if it did something.
        """
        focused = self._view.focusWidget()
        inside = self._view.occurrences.isAncestorOf(focused) if focused else False
        if inside or not isinstance(focused, QAbstractButton) or event.modifiers() & _COMMAND:
            return False
        meant = self._own.meant(event, self._session.keys.by_key)
        return meant is not None and self._letter(meant, {}, in_tokens=False)

    def _pressed(self, watched: QObject, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~(_Mod.KeypadModifier | _Mod.GroupSwitchModifier)
        in_text, in_tokens = isinstance(watched, TextView), isinstance(watched, TokenGrid)
        if self._bracket(event, modifiers):
            return True
        if modifiers & _COMMAND:
            return False
        if self._state.relations.linking is not None and event.key() in (
            _Key.Key_Return,
            _Key.Key_Enter,
        ):
            self._view.links.enter(only_this=bool(modifiers & _Mod.ShiftModifier))
            return True
        if in_text and self._session.question_layer is not None and self._asked(event, modifiers):
            return True
        if in_text and self._moved(cast(TextView, watched), event):
            return True
        if in_text and event.key() in (_Key.Key_Tab, _Key.Key_Backtab):
            self._view.step_span(
                -1 if event.key() == _Key.Key_Backtab or modifiers & _Mod.ShiftModifier else 1
            )
            return True
        if (
            in_text
            and modifiers & _Mod.ShiftModifier
            and event.key() in (_Key.Key_Left, _Key.Key_Right)
        ):
            return self._stretch(event.key() == _Key.Key_Right)
        if in_tokens and not modifiers and event.key() in _CLEAR:
            self._state.tokens.clear_tag()
            return True
        if in_tokens and event.key() in _LINES and modifiers == _Mod.ShiftModifier:
            self._state.tokens.step_tag(1 if event.key() == _Key.Key_Down else -1)
            return True
        if in_tokens and event.key() == _Key.Key_A and modifiers == _Mod.ShiftModifier:
            if not event.isAutoRepeat():
                self._state.tokens.accept_other_tags()
            return True
        if not modifiers and event.key() in self._actions:
            # ignore auto-repeat: a held key must not run through the queue
            if not event.isAutoRepeat():
                self._actions[_Key(event.key())]()
            return True
        return self._letter(event, self._state.tokens.tag_keys if in_tokens else {}, in_tokens)

    def _asked(self, event: QKeyEvent, modifiers: Qt.KeyboardModifier) -> bool:
        """Keys for questions, while a layer with questions is shown."""
        key, written, state = event.key(), event.text().lower(), self._state
        shift = bool(modifiers & _Mod.ShiftModifier)
        spans = any(layer.traits.in_text for layer in self._session.active)
        if key in (_Key.Key_Tab, _Key.Key_Backtab) and not spans:
            state.questions.step_question(-1 if key == _Key.Key_Backtab or shift else 1)
        elif written in (",", ".") and not state.values.typing_number:
            state.questions.step_question(1 if written == "." else -1)
        elif written == "?":
            self._view.asking.ask()
        elif key == _Key.Key_F2:
            self._view.asking.edit()
        elif key == _Key.Key_Delete and shift:
            state.questions.delete_question()
        elif event.isAutoRepeat():
            return False
        elif key in (_Key.Key_Return, _Key.Key_Enter) and not shift:
            return self._view.asking.answer()
        elif written == "n" and not shift and written not in self._session.keys.by_key:
            state.questions.toggle_null()
        elif key in _CLEAR and not shift and self._session.chosen is None:
            state.questions.remove_last_answer()
        else:
            return False
        return True

    def _moved(self, text: TextView, event: QKeyEvent) -> bool:
        """Keys that move the caret by words; a point after digits belongs to a number."""
        written = event.text()
        if written in (".", ",") and self._state.values.typing_number:
            return False
        if written in (jump.KEY, jump.EXTEND) and key_positions.meant(event) != "w":  # Hebrew
            self._jump.start(text, extend=written == jump.EXTEND)
        elif written == "." and not key_positions.meant(event):
            text.move_caret(text.bounds.next_word(text.caret))
        elif written == ",":
            text.move_caret(text.bounds.previous_word(text.caret))
        else:
            return False
        return True

    def _letter(self, event: QKeyEvent, first: Mapping[str, int], in_tokens: bool) -> bool:
        """`first`: keys that have another meaning in the focused widget."""
        letter = self._letter_of(event)
        if len(letter) != 1 or not letter.isprintable():
            return False
        if event.isAutoRepeat():
            return True
        if letter == "/":
            self._view.open_palette()
        elif letter in first:
            self._view.label(first[letter])
        elif letter == "a":
            if not (in_tokens and self._state.tokens.accept_tag()):
                self._state.accept()
        elif letter == "x":
            self._state.reject()
        elif letter == "u":
            self._view.unselect()
        elif letter.isdecimal() and self._state.choices.choices:
            self._state.choices.choose_number(int(letter))
        elif letter in self._session.keys.by_key:
            self._view.label_by_key(self._session.keys.by_key[letter])
        elif letter == "+" and self._starts_chain():
            self._view.links.new_chain()
        elif self._state.values.type_number(letter):
            pass
        elif letter == "m":
            self._view.occurrences.open()
        elif letter == "c" and self._state.relations.can_link:
            self._state.relations.start_link()
        else:
            return self._view.links.sign(letter)
        return True

    def _starts_chain(self) -> bool:
        """Whether + is about chains, where it also raises a number: text or a span is chosen."""
        marked = self._view.document_pane.text.selection is not None
        return bool(self._session.chain_layers) and (
            marked or self._session.chosen_span() is not None
        )

    def _letter_of(self, event: QKeyEvent) -> str:
        """The character that the key writes; for foreign layouts, the one at its position on a US
        keyboard.
        """
        written, there = event.text().lower(), key_positions.meant(event)
        if written in self._session.keys.by_key or not there:
            return written
        return there if there in self._session.keys.by_key or written != "/" else written

    # ------------------------------------------------------------ boundaries of the selected span

    def _bracket(self, event: QKeyEvent, modifiers: Qt.KeyboardModifier) -> bool:
        written = event.text() if event.text() in _BRACKETS else key_positions.meant(event)
        which = (
            written
            if written in _BRACKETS
            else next((c for c, key in _BRACKETS.items() if key == event.key()), "")
        )
        if not which or modifiers & _Mod.MetaModifier:
            return False
        span, text = self._session.chosen_span(), self._view.text_of_chosen()
        if span is not None and text is not None:
            letters = (
                modifiers == _Mod.ControlModifier
                or modifiers == _Mod.ControlModifier | _Mod.ShiftModifier
            )  # AltGr is reported together with Alt
            snap = self._state.spans.snap_of_chosen
            at = span.start, span.end
            self._state.spans.resize(*moved(text, *at, which, letters=letters, snap=snap))
        return True

    def _stretch(self, to_right: bool) -> bool:
        """Shift and an arrow key: move the end of the selected span by a character, in visual
        order.
        """
        span, text = self._session.chosen_span(), self._view.text_of_chosen()
        if span is None or text is None:
            return False
        rtl = text.text.rtl(text.text.paragraph_at(span.end))
        step = caret.following if to_right != rtl else caret.previous
        self._state.spans.resize(span.start, step(text.pieces, span.end))
        return True


def moved(
    text: TextView, start: int, end: int, which: str, *, letters: bool, snap: str
) -> tuple[int, int]:
    """The span after `[` (start left), `]` (start right), `{` (end left) or `}` (end right).

    By what the spans of the layer snap to, or by letters. Never inverted.
    """
    words, pieces = text.bounds.of(snap), text.pieces
    if which == "[":
        return (caret.previous(pieces, start) if letters else words.word_start_before(start)), end
    if which == "]":
        return (caret.following(pieces, start) if letters else words.word_start_after(start)), end
    if which == "{":
        return start, (caret.previous(pieces, end) if letters else words.word_end_before(end))
    return start, (caret.following(pieces, end) if letters else words.word_end_after(end))
