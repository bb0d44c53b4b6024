"""kind + id → object, imported when first requested."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import manifest
from workbench.base.errors import SpecError, WorkbenchError, brief, traceback_of
from workbench.base.events import Signal
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.base.settings import Settings


class Registry:
    """Available contributions, in the order of the manifests.

    `changed` is emitted when the contributions are replaced. `faults`: plugin id → why its code
    could not be imported since then.
    """

    def __init__(self, contributions: tuple[manifest.Contribution, ...] = ()):
        self._entries = {
            (contribution.kind, contribution.id): contribution for contribution in contributions
        }
        self._objects: dict[tuple[str, str, str], Any] = {}
        self.faults: dict[str, PluginError] = {}
        self._failed: set[tuple[str, str]] = set()  # kind and id of the contributions that failed
        self._reported: dict[tuple[str, str], PluginError] = {}
        self.changed = Signal("registry.changed")

    def all(self, kind: str) -> tuple[manifest.Contribution, ...]:
        return tuple(entry for (its, _), entry in self._entries.items() if its == kind)

    def everything(self) -> tuple[manifest.Contribution, ...]:
        return tuple(self._entries.values())

    def ids(self, kind: str) -> tuple[str, ...]:
        return tuple(contribution.id for contribution in self.all(kind))

    def has(self, kind: str, id: str) -> bool:
        return (kind, id) in self._entries

    def entry(self, kind: str, id: str) -> manifest.Contribution:
        """Raises WorkbenchError that lists the known ids."""
        try:
            return self._entries[kind, id]
        except KeyError:
            raise WorkbenchError(
                _("There is no {kind} {id!r}.", kind=kind, id=id),
                hint=self._missing_hint(kind, id),
            ) from None

    def _missing_hint(self, kind: str, id: str) -> str:
        """The plugin to enable, or the known ids if the id is not one of a plugin."""
        return plugin_hint(id) or _("Known: {names}.", names=", ".join(self.ids(kind)))

    def get(self, kind: str, id: str) -> Any:
        """The object itself; imports its module."""
        return self._imported(kind, id, self.entry(kind, id).object)

    def info(self, kind: str, id: str, *, missing: str = "") -> Any:
        """The `info` object of a contribution; imports no heavy module.

        missing: the message of the SpecError that is raised for an unknown id; its hint names the
        plugin that adds it, or the known ids. Raises PluginError if a plugin's code fails.
        """
        if missing and (kind, id) not in self._entries:
            raise SpecError(missing, hint=self._missing_hint(kind, id))
        return self._imported(kind, id, self.entry(kind, id).options["info"])

    def view(self, kind: str, id: str) -> Any:
        """The widget that shows a contribution, from its key `view`; None if it has none."""
        target = self.entry(kind, id).options.get("view")
        return self._imported(kind, id, target) if target else None

    def _imported(self, kind: str, id: str, target: str) -> Any:
        """The object; raises PluginError, recorded in `faults`, if a plugin's code fails."""
        key = (kind, id, target)
        if key not in self._objects:
            module, name = target.split(":")
            try:
                self._objects[key] = getattr(importlib.import_module(module), name)
            except Exception as error:
                if self.entry(kind, id).source == manifest.BUILTIN:
                    raise
                raise self.failed(kind, id, error, loading=True) from error
        return self._objects[key]

    def failed(self, kind: str, id: str, error: Exception, *, loading: bool = False) -> PluginError:
        """Record in `faults` what a plugin's code has raised; returns the error to show."""
        source = self.entry(kind, id).source
        self._failed.add((kind, id))
        self.faults[source] = _plugin_error(id, source, error, loading)
        return self.faults[source]

    def infos(self, kind: str) -> tuple[Any, ...]:
        """The `info` objects of a kind, in order. Plugins that cannot be loaded are left out."""
        infos = []
        for contribution in self.all(kind):
            if (kind, contribution.id) not in self._failed:
                with suppress(PluginError):
                    infos.append(self.info(kind, contribution.id))
        return tuple(infos)

    def problem(self, entry: manifest.Contribution) -> str:
        """Why a plugin's contribution cannot be used: what was reported of it, or why its light
        part cannot be imported. "" if nothing is known.
        """
        if reported := self._reported.get((entry.kind, entry.id)):
            return str(reported)
        if entry.source != manifest.BUILTIN and "info" in entry.options:
            try:
                self.info(entry.kind, entry.id)
            except PluginError as error:
                return str(error)
        return ""

    def report(self, kind: str, id: str, error: PluginError) -> None:
        """Record in `faults` what another process found: the heavy part of a contribution fails.

        Of several errors of a plugin, the first is kept there. Emits `changed`.
        """
        self._reported[kind, id] = error
        self.faults.setdefault(self.entry(kind, id).source, error)
        self.changed.emit()

    def look_for_faults(self) -> None:
        """Import the light parts of plugins, which may have changed since they were enabled.

        The heavy parts are imported by `operations.application.plugin_checks` in a worker.
        """
        for entry in self.everything():
            self.problem(entry)

    def replace(self, contributions: tuple[manifest.Contribution, ...]) -> None:
        """Replace the contributions; plugin code is imported again when next requested."""
        self._entries = {
            (contribution.kind, contribution.id): contribution for contribution in contributions
        }
        builtin = {key for key, entry in self._entries.items() if entry.source == manifest.BUILTIN}
        self._objects = {
            key: built for key, built in self._objects.items() if (key[0], key[1]) in builtin
        }
        self.faults.clear()
        self._failed.clear()
        self._reported.clear()
        self.changed.emit()


def needed_plugin(id: str) -> str:
    """The plugin that contributes this id; "" for an id of the application."""
    plugin, dot, _rest = id.partition(".")
    return plugin if dot else ""


def plugin_hint(id: str) -> str:
    """How to enable the plugin that contributes this id; "" for an id of the application."""
    message = _(
        "Enable the plugin {plugin}, which adds it, in Settings ▸ Plugins or with "
        "`glossbench plugins enable {plugin}`."
    )
    plugin = needed_plugin(id)
    return message.format(plugin=plugin) if plugin else ""


def contract_hint(id: str) -> str:
    """A hint that names the plugin whose code returned an invalid value; "" for built-in code."""
    plugin = needed_plugin(id)
    message = _("This is an error of the plugin {plugin}: correct its code, or disable it.")
    return message.format(plugin=plugin) if plugin else ""


class PluginError(WorkbenchError):
    """A plugin's code raised an exception; `details` is the traceback."""

    def __init__(self, message: str, *, hint: str = "", details: str = ""):
        super().__init__(message, hint=hint)
        self.details = details


def _plugin_error(id: str, plugin: str, error: Exception, loading: bool) -> PluginError:
    if isinstance(error, ModuleNotFoundError) and error.name:
        template = _(
            "{id} of the plugin {plugin} needs the Python package {package}, which is missing."
        )
        message = template.format(id=id, plugin=plugin, package=error.name.partition(".")[0])
        hint = _("Install it in the Python environment of Glossbench, then check the plugin again.")
    else:
        template = _("The plugin {plugin} failed: {error}.")
        if loading:
            template = _("{id} of the plugin {plugin} cannot be loaded: {error}.")
        message = template.format(id=id, plugin=plugin, error=brief(error))
        hint = _("Disable the plugin in the settings, or correct its code.")
    return PluginError(message, hint=hint, details=traceback_of(error))


@lru_cache(maxsize=1)
def builtins() -> Registry:
    """All contributions that ship with the application."""
    path = Path(__file__).resolve().parents[1] / "builtins.toml"
    return Registry(manifest.read(path))


_plugins_allowed = True


def without_plugins() -> None:
    """Let this process use the built-ins alone, as the program of an exported model does."""
    global _plugins_allowed
    _plugins_allowed = False


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Built-ins and enabled plugins. One registry per process; plugin errors are contained."""
    if not _plugins_allowed:
        return builtins()
    from workbench.base import settings  # not in the program of an exported model

    return Registry(_enabled(settings.load()))


def reload(chosen: Settings) -> None:
    """Read the manifests of the plugins again, after `chosen` has enabled or disabled some."""
    registry().replace(_enabled(chosen))


def _enabled(chosen: Settings) -> tuple[manifest.Contribution, ...]:
    from workbench.base import plugins

    contributions = list(builtins().everything())
    if chosen.plugins_enabled:
        for plugin in plugins.find(chosen):
            if plugin.key in chosen.plugins_enabled and not plugin.fault:
                with suppress(WorkbenchError):  # the list of plugins shows the error
                    plugins.make_importable(plugin)
                    contributions += plugin.contributions
    return tuple(contributions)
