"""What the single keys of adjudication mean, also those that the user has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from workbench.ui.panels.annotate.adjudication.key_commands import KEY_COMMANDS
from workbench.ui.shell import key_positions
from workbench.ui.shell.bare_keys import BareKeys
from workbench.ui.widgets.controls.key_cap import CommandCap

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from workbench.base.settings import Settings

_NONE: dict[str, list[str]] = {}


_BY_KEY = {command.all_keys[0].lower(): command.id for command in KEY_COMMANDS if command.bare}


def cap(settings: Settings, name: str) -> CommandCap:
    """The key of a command, as it is now; name: without "adjudicate."."""
    command = next(item for item in KEY_COMMANDS if item.id == f"adjudicate.{name}")
    return CommandCap(settings, command.id, command.all_keys[0])


class AdjudicationKeys:
    """Which command a key press means."""

    def __init__(self, settings: Settings) -> None:
        self._own = BareKeys(lambda: settings.window.get("keys", _NONE), KEY_COMMANDS)

    def command(self, event: QKeyEvent) -> tuple[str, int]:
        """(name, number): both, neither, …; ("take", 0) for the first version; ("fold", 1) for the
        right arrow key, -1 for the left one; ("", 0) for a key without a meaning.
        """
        meant = self._own.meant(event, ())
        if meant is None:
            return "", 0
        shift = Qt.KeyboardModifier.ShiftModifier
        modifiers = meant.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.GroupSwitchModifier
        )
        if modifiers & ~shift:
            return "", 0
        if meant.key() == Qt.Key.Key_Space:
            return ("previous" if modifiers & shift else "next"), 0
        if meant.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            return "fold", 1 if meant.key() == Qt.Key.Key_Right else -1
        letter = (key_positions.meant(meant) or meant.text()).lower()
        if letter in "123456789" and letter:
            return "take", int(letter) - 1
        return _BY_KEY.get(letter, "").removeprefix("adjudicate."), 0
