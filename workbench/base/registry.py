"""kind + id → object, imported when it is first asked for."""

from __future__ import annotations

import importlib
import traceback
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.base import manifest, plugins, settings
from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _


class Registry:
    """What can be chosen, in the order of the manifests. `changed` is emitted when contributions are added."""

    def __init__(self, contributions: tuple[manifest.Contribution, ...] = ()):
        self._entries = {(one.kind, one.id): one for one in contributions}
        self._objects: dict[tuple[str, str, str], Any] = {}
        self.changed = Signal("registry.changed")

    def all(self, kind: str) -> tuple[manifest.Contribution, ...]:
        return tuple(one for (its, _), one in self._entries.items() if its == kind)

    def everything(self) -> tuple[manifest.Contribution, ...]:
        return tuple(self._entries.values())

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
        return self._imported(kind, id, self.entry(kind, id).object)

    def info(self, kind: str, id: str) -> Any:
        """The light half of a contribution, its key `info`; imports nothing heavy."""
        return self._imported(kind, id, self.entry(kind, id).options["info"])

    def view(self, kind: str, id: str) -> Any:
        """The widget that shows a contribution, its key `view`; None if it names none."""
        target = self.entry(kind, id).options.get("view")
        return self._imported(kind, id, target) if target else None

    def _imported(self, kind: str, id: str, target: str) -> Any:
        key = (kind, id, target)
        if key not in self._objects:
            module, name = target.split(":")
            try:
                self._objects[key] = getattr(importlib.import_module(module), name)
            except Exception as error:
                if (source := self.entry(kind, id).source) == manifest.BUILTIN:
                    raise
                raise PluginError(
                    _("{id} of the plugin {plugin} cannot be loaded: {error!r}.").format(
                        id=id, plugin=source, error=error
                    ),
                    hint=_("Disable the plugin in the settings, or correct its code."),
                    details=traceback.format_exc(),
                ) from error
        return self._objects[key]

    def add(self, contributions: tuple[manifest.Contribution, ...]) -> None:
        for one in contributions:
            self._entries[one.kind, one.id] = one
        self.changed.emit()


class PluginError(WorkbenchError):
    """The code of a plugin failed; `details` is the traceback."""

    def __init__(self, message: str, *, hint: str = "", details: str = ""):
        super().__init__(message, hint=hint)
        self.details = details


@lru_cache(maxsize=1)
def builtins() -> Registry:
    """Everything that ships with the application."""
    path = Path(__file__).resolve().parents[1] / "builtins.toml"
    return Registry(manifest.read(path))


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Built-ins and the contributions of enabled plugins. One per process; faults are contained."""
    made = Registry(builtins().everything())
    chosen = settings.load()
    if chosen.plugins_enabled:
        for plugin in plugins.find(chosen):
            if plugin.key in chosen.plugins_enabled and not plugin.fault:
                with suppress(WorkbenchError):  # listed with its fault where plugins are shown
                    plugins.make_importable(plugin)
                    made.add(plugin.contributions)
    return made
