"""Translates single keys that the user changed to those that a page knows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, cast

from PySide6.QtCore import QEvent, QKeyCombination
from PySide6.QtGui import QKeyEvent, QKeySequence

from workbench.ui.commands import Command
from workbench.ui.shell.keys import PORTABLE, name_of


class BareKeys:
    """Translates keys that the user changed. `own` returns the changed keys: command id → keys;
    `commands` are those of the page.
    """

    def __init__(
        self, own: Callable[[], Mapping[str, list[str]]], commands: Iterable[Command]
    ) -> None:
        self._own, self._commands = own, tuple(commands)
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
        changed = [command for command in self._commands if command.bare and command.id in own]
        self._meant = {key: command.all_keys[0] for command in changed for key in own[command.id]}
        used = {key for command in changed for key in own[command.id]}
        freed = {key for command in changed for key in command.all_keys} - used
        for command in changed:
            if command.with_ctrl:
                self._meant |= {
                    f"Ctrl+{key}": f"Ctrl+{command.all_keys[0]}" for key in own[command.id]
                }
                freed |= {f"Ctrl+{key}" for key in command.all_keys if key in freed}
        self._freed = frozenset(freed)


def _pressed(key: str, event: QKeyEvent) -> QKeyEvent:
    """A press of a key by its name, as often as the one that the user pressed."""
    at: QKeyCombination = cast(Any, QKeySequence(key, PORTABLE))[0]
    text = key.lower() if len(key) == 1 else ""
    return QKeyEvent(
        QEvent.Type.KeyPress, at.key(), at.keyboardModifiers(), text, event.isAutoRepeat()
    )
