"""Keys of Annotate without Ctrl or Alt: handled by the text and the lists, shown in the key list.

Those with one meaning can be changed there; `BareKeys` translates the user's keys back.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, cast

from PySide6.QtCore import QEvent, QKeyCombination
from PySide6.QtGui import QKeyEvent, QKeySequence

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.keys import PORTABLE, name_of


def _bare(id: str, title: str, *keys: str) -> Command:
    """A key that can be changed; all its keys mean the same."""
    return Command(f"annotate.{id}", title, keys=keys, shown_only=True, bare=True)


def _fixed(id: str, title: str, *keys: str) -> Command:
    """Several keys in one line: those of labels, and those that every text has."""
    return Command(f"annotate.{id}", title, keys=keys, shown_only=True)


BARE_COMMANDS = (
    _fixed("label", _("Label the selected text or relabel the selected span"), "1", "9"),
    _fixed("class", _("Set or clear a class"), "Q", "P"),
    _bare("palette", _("Find a label by typing"), "/"),
    _bare(
        "enter",
        _(
            "Finish the relation, answer with the selected text, go to the next sentence or "
            "paragraph, or submit and open next"
        ),
        "Return",
    ),
    _bare("space", _("Skip document"), "Space"),
    _fixed(
        "span",
        _("Next, previous span; without span layers: next, previous question"),
        *("Tab", "Shift+Tab"),
    ),
    _bare("word-next", _("Next word; with questions: next question"), "."),
    _bare("word-previous", _("Previous word; with questions: previous question"), ","),
    _bare("jump", _("Go to the word that begins with two letters; twice: the next one"), "'"),
    _bare("jump-extend", _("Extend the selection to the word with two letters"), '"'),
    _fixed(
        "token",
        _("Next or previous token, token below or above, in a tag layer"),
        *("Right", "Left", "Down", "Up"),
    ),
    _bare(
        "delete",
        _("Delete the selected span or relation, the tag, or the last answer"),
        *("Del", "Backspace"),
    ),
    _bare("start-left", _("Move the start of the selected span left (Ctrl: by a character)"), "["),
    _bare("start-right", _("Move the start of the selected span right"), "]"),
    _bare("end-left", _("Move the end of the selected span left (Ctrl: by a character)"), "{"),
    _bare("end-right", _("Move the end of the selected span right"), "}"),
    _fixed(
        "stretch",
        _("Move the end of the selected span by a character"),
        *("Shift+Left", "Shift+Right"),
    ),
    _bare(
        "accept",
        _("Accept the selected or first suggestion; in error review, accept the prediction"),
        "A",
    ),
    _fixed("accept-tags", _("Accept the tags suggested for all other tokens"), "Shift+A"),
    _bare(
        "reject",
        _(
            "Reject the selected or first suggestion; in error review, keep gold "
            "and open the next error"
        ),
        "X",
    ),
    _bare("no-answer", _("The text does not answer the question"), "N"),
    _bare("ask", _("Ask a question"), "?"),
    _bare("edit-question", _("Change the question"), "F2"),
    _bare("delete-question", _("Delete the question"), "Shift+Del"),
    _bare("link-key", _("Relation from the selected span, or merge of its chain"), "C"),
    _bare("chain", _("Add the selected text to the current chain"), "="),
    _bare("chain-new", _("Start a chain with the text, or split the span off"), "+"),
    _bare("part", _("Add the selected text to the span selected last"), "&"),
    _bare("all", _("Label all occurrences of the selected text or span"), "M"),
    _bare("unselect", _("Clear selection"), "Esc", "U"),
)


class BareKeys:
    """Translates keys that the user changed. `own` returns the changed keys: command id → keys."""

    def __init__(self, own: Callable[[], Mapping[str, list[str]]]) -> None:
        self._own = own
        self._read: Mapping[str, list[str]] | None = None
        self._meant: dict[str, str] = {}  # key → the key that the page knows
        self._freed: frozenset[str] = frozenset()

    def meant(self, event: QKeyEvent, labels: Container[str]) -> QKeyEvent | None:
        """The event with the key that the page knows; None if the key has no meaning any more.

        `labels`: keys of labels, which take precedence.
        """
        own = self._own()
        if own is not self._read:
            self._read = own
            self._learn(own)
        if not self._meant and not self._freed:
            return event
        name = name_of(event)
        if name.lower() in labels:
            return event
        if name in self._meant:
            return _pressed(self._meant[name], event)
        return None if name in self._freed else event

    def _learn(self, own: Mapping[str, list[str]]) -> None:
        changed = [one for one in BARE_COMMANDS if one.bare and one.id in own]
        self._meant = {key: one.all_keys[0] for one in changed for key in own[one.id]}
        kept = {key for one in changed for key in own[one.id]}
        self._freed = frozenset(key for one in changed for key in one.all_keys) - kept


def _pressed(key: str, event: QKeyEvent) -> QKeyEvent:
    """A press of a key by its name, as often as the one that the user pressed."""
    at: QKeyCombination = cast(Any, QKeySequence(key, PORTABLE))[0]
    text = key.lower() if len(key) == 1 else ""
    return QKeyEvent(
        QEvent.Type.KeyPress, at.key(), at.keyboardModifiers(), text, event.isAutoRepeat()
    )
