"""kind + id → object, imported when it is first asked for."""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.base import manifest
from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _


class Registry:
    """What can be chosen, in the order of the manifests. `changed` is emitted when contributions are added."""

    def __init__(self, contributions: tuple[manifest.Contribution, ...] = ()):
        self._entries = {(one.kind, one.id): one for one in contributions}
        self._objects: dict[tuple[str, str], Any] = {}
        self.changed = Signal("registry.changed")

    def all(self, kind: str) -> tuple[manifest.Contribution, ...]:
        return tuple(one for (its, _), one in self._entries.items() if its == kind)

    def ids(self, kind: str) -> tuple[str, ...]:
        return tuple(one.id for one in self.all(kind))

    def entry(self, kind: str, id: str) -> manifest.Contribution:
        """Raises WorkbenchError naming what is known."""
        try:
            return self._entries[kind, id]
        except KeyError:
            raise WorkbenchError(
                _("There is no {kind} {id!r}.").format(kind=kind, id=id),
                hint=_("Known: {names}.").format(names=", ".join(self.ids(kind))),
            ) from None

    def get(self, kind: str, id: str) -> Any:
        """The object itself; imports its module."""
        key = (kind, id)
        if key not in self._objects:
            module, name = self.entry(kind, id).object.split(":")
            self._objects[key] = getattr(importlib.import_module(module), name)
        return self._objects[key]

    def add(self, contributions: tuple[manifest.Contribution, ...]) -> None:
        for one in contributions:
            self._entries[one.kind, one.id] = one
        self.changed.emit()


@lru_cache(maxsize=1)
def builtins() -> Registry:
    """The registry of everything that ships with the application."""
    return Registry(manifest.read(Path(__file__).resolve().parents[1] / "builtins.toml"))
