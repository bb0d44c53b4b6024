"""Keys of commands: those of the table, unless the user's settings name others."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from workbench.base.settings import Settings
from workbench.ui.commands import Command


def keys_of(command: Command, settings: Settings) -> tuple[str, ...]:
    """The keys in use, in portable notation."""
    own = settings.window.get("keys", {}).get(command.id)
    return tuple(own) if isinstance(own, list) else command.all_keys


def sequences(command: Command, settings: Settings) -> list[QKeySequence]:
    return [
        QKeySequence(key, QKeySequence.SequenceFormat.PortableText)
        for key in keys_of(command, settings)
    ]


def shown(command: Command, settings: Settings) -> str:
    """The keys as this platform writes them, "" for none."""
    return ", ".join(
        one.toString(QKeySequence.SequenceFormat.NativeText) for one in sequences(command, settings)
    )


def remap(command: Command, keys: list[str], settings: Settings) -> None:
    """Give a command other keys; the table's own take the entry away again."""
    own = dict(settings.window.get("keys", {}))
    if tuple(keys) == command.all_keys:
        own.pop(command.id, None)
    else:
        own[command.id] = list(keys)
    settings.window["keys"] = own
    settings.save()


def clashes(
    commands: list[tuple[Command, str]], settings: Settings
) -> list[tuple[str, Command, Command]]:
    """Keys that two commands of one place share: (key, first, second). `commands` are (command, place); "" is everywhere."""
    seen: dict[str, list[tuple[Command, str]]] = {}
    found = []
    for command, place in commands:
        for key in keys_of(command, settings):
            for other, its_place in seen.setdefault(key, []):
                if place == its_place or not place or not its_place:
                    found.append((key, other, command))
            seen[key].append((command, place))
    return found
