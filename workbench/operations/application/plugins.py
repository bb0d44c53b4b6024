"""Found plugins, whether they are enabled, and what they add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.base import plugins
from workbench.base import registry as registries
from workbench.base import settings as settings_file
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.plugins import Plugin
from workbench.base.settings import Settings
from workbench.operations.application import plugin_checks, plugin_options

ENABLED, DISABLED, ERROR = "enabled", "disabled", "error"


@dataclass(frozen=True)
class PluginStatus:
    """A plugin and its status: `state` is enabled, disabled or error; `details` is a traceback."""

    plugin: Plugin
    state: str
    error: str = ""
    details: str = ""

    def to_json(self) -> dict[str, object]:
        item = self.plugin
        return {
            "id": item.id,
            "name": item.name,
            "version": item.version,
            "description": item.description,
            "path": str(item.folder),
            "state": self.state,
            "adds": [{"kind": c.kind, "id": c.id, "title": c.title} for c in item.contributions],
            "error": self.error,
            "details": self.details,
            "warnings": list(item.warnings),
        }


# ---------------------------------------------------------------- listing


def all_plugins(settings: Settings | None = None) -> tuple[PluginStatus, ...]:
    """Plugins with an error first, then by name. Runs no code of plugins that are not enabled."""
    chosen = settings or settings_file.load()
    statuses = [_status(plugin, chosen) for plugin in plugins.find(chosen)]
    return tuple(
        sorted(statuses, key=lambda item: (item.state != ERROR, item.plugin.name.casefold()))
    )


def _status(plugin: Plugin, settings: Settings) -> PluginStatus:
    if reason := plugin.fault or plugin_options.fault(plugin):
        return PluginStatus(plugin, ERROR, reason, plugin.details)
    if plugin.key not in settings.plugins_enabled:
        return PluginStatus(plugin, DISABLED)
    fault = registries.registry().faults.get(plugin.id)
    if fault is not None:
        return PluginStatus(plugin, ERROR, str(fault), fault.details)
    return PluginStatus(plugin, ENABLED)


def adds(plugin: Plugin) -> tuple[str, ...]:
    """A description of what a plugin adds: "1 importer: TMX translation memories"."""
    words: dict[str, Callable[[int], str]] = {
        "importer": lambda n: ngettext("{n} importer: {names}", "{n} importers: {names}", n),
        "segmenter": lambda n: ngettext(
            "{n} word segmenter: {names}", "{n} word segmenters: {names}", n
        ),
        "prediction": lambda n: ngettext(
            "{n} kind of prediction: {names}", "{n} kinds of predictions: {names}", n
        ),
        "task": lambda n: ngettext("{n} task: {names}", "{n} tasks: {names}", n),
        "family": lambda n: ngettext("{n} model family: {names}", "{n} model families: {names}", n),
        "method": lambda n: ngettext(
            "{n} training method: {names}", "{n} training methods: {names}", n
        ),
        "objective": lambda n: ngettext(
            "{n} pretraining objective: {names}", "{n} pretraining objectives: {names}", n
        ),
        "baseline": lambda n: ngettext("{n} baseline: {names}", "{n} baselines: {names}", n),
        "strategy": lambda n: ngettext(
            "{n} order of the queue: {names}", "{n} orders of the queue: {names}", n
        ),
        "inspector": lambda n: ngettext("{n} inspector: {names}", "{n} inspectors: {names}", n),
        "backend": lambda n: ngettext(
            "{n} prompt backend: {names}", "{n} prompt backends: {names}", n
        ),
        "exporter": lambda n: ngettext("{n} exporter: {names}", "{n} exporters: {names}", n),
        "model_exporter": lambda n: ngettext(
            "{n} export format of models: {names}", "{n} export formats of models: {names}", n
        ),
        "run_kind": lambda n: ngettext("{n} kind of run: {names}", "{n} kinds of runs: {names}", n),
        "panel": lambda n: ngettext("{n} page: {names}", "{n} pages: {names}", n),
        "dock": lambda n: ngettext("{n} dock: {names}", "{n} docks: {names}", n),
    }
    titles: dict[str, list[str]] = {kind: [] for kind in words}
    for contribution in plugin.contributions:
        is_dock = contribution.options.get("place") == "dock"
        titles["dock" if is_dock else contribution.kind].append(contribution.title)
    return tuple(
        words[kind](len(some)).format(n=len(some), names=", ".join(some))
        for kind, some in titles.items()
        if some
    )


def find(name: str, settings: Settings | None = None) -> Plugin:
    """The plugin with this id, or in this folder. Raises WorkbenchError naming the known ones."""
    chosen = settings or settings_file.load()
    installed = plugins.find(chosen)
    for plugin in installed:
        if name in (plugin.id, plugin.key):
            return plugin
    path = Path(name)
    if (path / plugins.FILE).is_file():
        return plugins.describe(path.absolute())
    raise WorkbenchError(
        _("There is no plugin {name!r}.", name=name),
        hint=_(
            "Known: {names}. The path of a plugin folder can be given too.",
            names=", ".join(plugin.id for plugin in installed) or _("none"),
        ),
    )


# ---------------------------------------------------------------- enabling


def enable(plugin: Plugin, settings: Settings | None = None) -> None:
    """Enable a plugin that has passed a check, also for later starts.

    Raises WorkbenchError for one with a broken manifest. A folder outside the searched folders is
    added to the plugin folders of the settings.
    """
    if plugin.fault:
        raise WorkbenchError(
            _(
                "The plugin {name} cannot be enabled: {reason}",
                name=plugin.name,
                reason=plugin.fault,
            )
        )
    chosen = settings or settings_file.load()
    if plugin.key not in {plugin.key for plugin in plugins.find(chosen)}:
        chosen.plugin_folders.append(plugin.key)
    if plugin.key not in chosen.plugins_enabled:
        chosen.plugins_enabled.append(plugin.key)
    plugin_checks.remember(plugin, chosen)
    chosen.save()
    plugins.forget_modules(plugin)
    registries.reload(chosen)


def passed(plugin: Plugin) -> None:
    """Store that a plugin has passed a check in its present form, if it is enabled."""
    chosen = settings_file.load()
    if plugin.key in chosen.plugins_enabled:
        plugin_checks.remember(plugin, chosen)
        chosen.save()


def disable(plugin: Plugin, settings: Settings | None = None) -> None:
    """Disable a plugin. Data created with it stays, but cannot be opened without it."""
    chosen = settings or settings_file.load()
    chosen.plugins_enabled = [text for text in chosen.plugins_enabled if text != plugin.key]
    chosen.plugins_checked.pop(plugin.key, None)
    chosen.save()
    registries.reload(chosen)


# State → display text.
STATES = {ENABLED: N_("enabled"), DISABLED: N_("disabled"), ERROR: N_("error")}
