"""Keys of labels: which are free beside those of other labels and of the commands of Annotate."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from workbench.base import settings
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.storage.labels import labels as store

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer

PAGE_OF_KEYS = "annotate."  # begins the ids of the commands that share their keys with labels
_COMMAND_KEYS = {"accept": "a", "reject": "x", "unselect": "u"}


def used_keys(project: Project, layer: Layer, but: int | None = None) -> dict[str, str]:
    """Key → label name, for all labels shown together with this layer: those of layers for the same
    number of texts.
    """
    together = (
        label
        for other in store.layers(project.db)
        if other.texts == layer.texts
        for label in other.labels
    )
    return {label.key: label.name for label in together if label.key and label.id != but}


def check_key(project: Project, layer: Layer, key: str, but: int | None = None) -> str:
    """The key in lower case, "" for none. Raises WorkbenchError if a label cannot have it."""
    key = key.strip().lower()
    if not key:
        return ""
    if key in (taken := command_keys()):
        raise WorkbenchError(
            _("{key!r} is the key of a command in Annotate.", key=key),
            hint=_(
                "Choose another one, or change it under Help ▸ Keyboard shortcuts. Taken: {keys}.",
                keys=", ".join(sorted(taken)),
            ),
        )
    if not may_be_key(key, taken):
        raise WorkbenchError(
            _("{key!r} cannot be used as a key: it must be one letter or digit.", key=key),
            hint=_("Choose another one."),
        )
    if (other := used_keys(project, layer, but).get(key)) is not None:
        raise WorkbenchError(
            _("{key!r} is already the key of {name}.", key=key, name=other),
            hint=_("Change the other key first."),
        )
    return key


def command_keys() -> frozenset[str]:
    """Letters and digits that commands of Annotate have: accept, reject, unselect, and keys that
    the user gave to a command.
    """
    own = settings.load().window.get("keys", {})
    mine = {id: keys for id, keys in own.items() if id.startswith(PAGE_OF_KEYS)}
    defaults = {key for id, key in _COMMAND_KEYS.items() if PAGE_OF_KEYS + id not in mine}
    return frozenset(
        defaults | {key.lower() for keys in mine.values() for key in keys if len(key) == 1}
    )


def may_be_key(key: str, taken: Container[str]) -> bool:
    """Whether it is a letter or digit that is not taken."""
    return len(key) == 1 and key.isalnum() and key == key.lower() and key not in taken
