"""Keyboard shortcuts: those of the command table, unless the user's settings override them."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from workbench.base.settings import Settings
from workbench.ui.commands import Command
from workbench.ui.shell import key_positions
from workbench.ui.shell.custom_keys import first_key

_Mod = Qt.KeyboardModifier
PORTABLE = QKeySequence.SequenceFormat.PortableText
_DIGITS = tuple("123456789")


def keys_of(command: Command, settings: Settings) -> tuple[str, ...]:
    """The current keys, in portable notation."""
    own = settings.window.get("keys", {}).get(command.id)
    return tuple(own) if isinstance(own, list) else command.all_keys


def sequences(command: Command, settings: Settings) -> list[QKeySequence]:
    return [QKeySequence(key, PORTABLE) for key in keys_of(command, settings)]


def shown(command: Command, settings: Settings) -> str:
    """The keys in the platform's notation, "" for none."""
    return ", ".join(
        sequence.toString(QKeySequence.SequenceFormat.NativeText)
        for sequence in sequences(command, settings)
    )


def current(settings: Settings, id: str, *keys: str) -> str:
    """As `first_key`, in the platform's notation."""
    native = QKeySequence.SequenceFormat.NativeText
    return QKeySequence(first_key(settings, id, *keys), PORTABLE).toString(native)


def remap(command: Command, keys: list[str], settings: Settings) -> None:
    """Override the keys of a command; setting the default keys removes the override."""
    own = dict(settings.window.get("keys", {}))
    if tuple(keys) == command.all_keys:
        own.pop(command.id, None)
    else:
        own[command.id] = list(keys)
    settings.window["keys"] = own
    settings.save()


def conflicts(
    commands: list[tuple[Command, str]], settings: Settings
) -> list[tuple[str, Command, Command]]:
    """Keys shared by two commands of one page: (key, first, second).

    `commands` are (command, page); "" stands for all pages.
    """
    by_key: dict[str, list[tuple[Command, str]]] = {}
    pairs = []
    for command, place in commands:
        for key in _pressed_for(command, settings):
            for other, its_place in by_key.setdefault(key, []):
                same_mode = command.mode == other.mode
                if (place == its_place and same_mode) or not place or not its_place:
                    pairs.append((key, other, command))
            by_key[key].append((command, place))
    return pairs


def _pressed_for(command: Command, settings: Settings) -> tuple[str, ...]:
    """All keys that a command takes: the digits between "1" and "9", and its keys with Ctrl."""
    keys = keys_of(command, settings)
    if command.shown_only and not command.bare and keys == _DIGITS[:: len(_DIGITS) - 1]:
        return _DIGITS
    return (*keys, *(f"Ctrl+{key}" for key in keys)) if command.with_ctrl else keys


def name_of(event: QKeyEvent) -> str:
    """A key press as keys are listed: characters in upper case, without Shift."""
    written = key_positions.meant(event) or event.text()
    held = event.modifiers() & (_Mod.ControlModifier | _Mod.AltModifier | _Mod.MetaModifier)
    if len(written) == 1 and written.isprintable() and not written.isspace() and not held:
        return written.upper()
    modifiers = event.modifiers() & ~(_Mod.KeypadModifier | _Mod.GroupSwitchModifier)
    return QKeySequence(QKeyCombination(modifiers, Qt.Key(event.key()))).toString(PORTABLE)


def bare_name(sequence: QKeySequence) -> str:
    """A recorded key as `name_of` writes it: "Shift+?" → "?", "Shift+G" → "G"."""
    name = sequence.toString(PORTABLE)
    without = name.removeprefix("Shift+")
    return without if len(without) == 1 else name
