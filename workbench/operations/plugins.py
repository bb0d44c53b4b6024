"""Found plugins, whether they are enabled, and whether their code conforms to its contract."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from workbench.base import manifest, plugins
from workbench.base import registry as registries
from workbench.base import settings as settings_file
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.manifest import Contribution
from workbench.base.plugins import Plugin
from workbench.base.records import from_plain, to_plain
from workbench.base.settings import Settings
from workbench.jobs.spec import JobSpec
from workbench.operations import plugin_options

ENABLED, DISABLED, ERROR = "enabled", "disabled", "error"
TARGET = "workbench.operations.plugins:check_job"
HEAVY = ("torch", "transformers", "onnxruntime", "sklearn", "scipy")
# Kind of contribution → attributes that its object must have.
PARTS: Mapping[str, tuple[str, ...]] = {
    "importer": ("sniff", "preview", "read"),
    "segmenter": ("words",),
    "task": ("info", "targets", "forward"),
    "family": ("info", "load", "save", "heads"),
    "method": ("info",),
    "inspector": ("run",),
    "backend": ("info", "score", "close", "kind", "device", "versions"),
    "objective": ("info",),
    "baseline": ("info", "fit", "logits", "save", "load"),
    "strategy": ("needs", "each", "scores"),
    "exporter": ("lost", "write"),
    "model_exporter": ("info", "write", "check", "finish"),
    "panel": ("commands", "needs_project", "build", "shown", "close"),
}
WITH_INFO = ("task", "family", "method", "objective", "baseline", "backend", "model_exporter")
IN_WINDOW = ("panel",)  # the window imports their objects


@dataclass(frozen=True)
class Status:
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


@dataclass(frozen=True)
class Checked:
    """One contribution after its code was imported;

    `error` is "" if it conforms to its contract.
    """

    kind: str
    id: str
    title: str
    error: str = ""
    details: str = ""


@dataclass(frozen=True)
class PluginCheck:
    """The result of a job that has checked a plugin."""

    checked: tuple[Checked, ...] = ()

    @property
    def first_error(self) -> Checked | None:
        return next((checked for checked in self.checked if checked.error), None)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = to_plain(self)
        return found

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> PluginCheck:
        """Unknown fields are skipped."""
        return from_plain(cls, raw)


# ---------------------------------------------------------------- listing


def all_plugins(settings: Settings | None = None) -> tuple[Status, ...]:
    """Plugins with an error first, then by name. Runs no code of plugins that are not enabled."""
    chosen = settings or settings_file.load()
    found = [_status(plugin, chosen) for plugin in plugins.find(chosen)]
    return tuple(sorted(found, key=lambda item: (item.state != ERROR, item.plugin.name.casefold())))


def _status(plugin: Plugin, settings: Settings) -> Status:
    if reason := plugin.fault or plugin_options.fault(plugin):
        return Status(plugin, ERROR, reason, plugin.details)
    if plugin.key not in settings.plugins_enabled:
        return Status(plugin, DISABLED)
    fault = registries.registry().faults.get(plugin.id)
    if fault is not None:
        return Status(plugin, ERROR, _with_hint(fault), fault.details)
    return Status(plugin, ENABLED)


def _with_hint(error: WorkbenchError) -> str:
    return f"{error} {error.hint}".strip() if error.hint not in str(error) else str(error)


def adds(plugin: Plugin) -> tuple[str, ...]:
    """A description of what a plugin adds: "1 importer: TMX translation memories"."""
    words: dict[str, Callable[[int], str]] = {
        "importer": lambda n: ngettext("{n} importer: {names}", "{n} importers: {names}", n),
        "segmenter": lambda n: ngettext(
            "{n} word segmenter: {names}", "{n} word segmenters: {names}", n
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
        "panel": lambda n: ngettext("{n} page: {names}", "{n} pages: {names}", n),
    }
    found = []
    for kind in manifest.KINDS:
        titles = [
            contribution.title for contribution in plugin.contributions if contribution.kind == kind
        ]
        if titles:
            message = words[kind](len(titles))
            found.append(message.format(n=len(titles), names=", ".join(titles)))
    return tuple(found)


def find(name: str, settings: Settings | None = None) -> Plugin:
    """The plugin with this id, or in this folder. Raises WorkbenchError naming the known ones."""
    chosen = settings or settings_file.load()
    found = plugins.find(chosen)
    for plugin in found:
        if name in (plugin.id, plugin.key):
            return plugin
    path = Path(name)
    if (path / plugins.FILE).is_file():
        return plugins.describe(path.absolute())
    raise WorkbenchError(
        _("There is no plugin {name!r}.").format(name=name),
        hint=_("Known: {names}. The path of a plugin folder can be given too.").format(
            names=", ".join(plugin.id for plugin in found) or _("none")
        ),
    )


# ---------------------------------------------------------------- enabling


def enable(plugin: Plugin, settings: Settings | None = None) -> None:
    """Enable a plugin, also for later starts. Raises WorkbenchError for a broken one.

    A folder outside the searched folders is added to the plugin folders of the settings.
    """
    if plugin.fault:
        raise WorkbenchError(
            _("The plugin {name} cannot be enabled: {reason}").format(
                name=plugin.name, reason=plugin.fault
            )
        )
    chosen = settings or settings_file.load()
    if plugin.key not in {plugin.key for plugin in plugins.find(chosen)}:
        chosen.plugin_folders.append(plugin.key)
    if plugin.key not in chosen.plugins_enabled:
        chosen.plugins_enabled.append(plugin.key)
    chosen.save()
    plugins.forget_modules(plugin)
    registries.reload(chosen)


def disable(plugin: Plugin, settings: Settings | None = None) -> None:
    """Disable a plugin. Data created with it stays, but cannot be opened without it."""
    chosen = settings or settings_file.load()
    chosen.plugins_enabled = [text for text in chosen.plugins_enabled if text != plugin.key]
    chosen.save()
    registries.reload(chosen)


# ---------------------------------------------------------------- checking


def check(plugin: Plugin) -> Iterator[Checked]:
    """Import everything that a plugin adds and check it against the contracts. Runs its code."""
    try:
        plugins.make_importable(plugin)
    except WorkbenchError as error:
        for contribution in plugin.contributions:
            yield Checked(contribution.kind, contribution.id, contribution.title, _with_hint(error))
        return
    plugins.forget_modules(plugin)
    for contribution in plugin.contributions:
        try:
            fault = plugin_options.of_contribution(plugin.folder, contribution)
            fault, details = fault or _fault(contribution), ""
        except ModuleNotFoundError as error:
            message = _("The Python package {package} is missing.")
            fault = message.format(package=(error.name or "?").partition(".")[0])
            details = traceback.format_exc()
        except Exception as error:
            fault, details = f"{type(error).__name__}: {error}", traceback.format_exc()
        yield Checked(contribution.kind, contribution.id, contribution.title, fault, details)


def ensure_checked(plugin: Plugin) -> None:
    """Check a plugin before it is enabled; a broken manifest is reported by `enable`.

    Raises WorkbenchError that names the first contribution that fails.
    """
    found = () if plugin.fault else tuple(check(plugin))
    first = PluginCheck(found).first_error
    if first is not None:
        template = _("The plugin {name} was not enabled. {title} cannot be used: {reason}")
        message = template.format(name=plugin.name, title=first.title, reason=first.error)
        hint = _("`glossbench plugins check {folder}` shows the traceback.")
        raise WorkbenchError(message, hint=hint.format(folder=plugin.folder))


def check_spec(plugin: Plugin) -> JobSpec:
    """The job that checks the plugin in a worker; its events are those of `check_job`."""
    title = _("Check plugin {name}").format(name=plugin.name)
    params = {"folder": str(plugin.folder), "package": plugin.package}
    return JobSpec(TARGET, params, device="", title=title)


def check_job(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """Job target: yields one stage, returns a PluginCheck as JSON."""
    found = check(plugins.describe(Path(params["folder"]), str(params["package"])))
    yield {"kind": "stage", "text": _("Importing the plugin…")}
    return PluginCheck(tuple(found)).to_json()


def _fault(contribution: Contribution) -> str:
    """Why a contribution does not conform to its contract, "" if it does.

    Raises what its import raises.
    """
    if contribution.kind in WITH_INFO:
        if "info" not in contribution.options:
            return _("plugin.toml does not name an `info` for it.")
        with _without_heavy():
            _object(contribution.options["info"])
    if contribution.kind in IN_WINDOW or "view" in contribution.options:
        if not _has_qt():  # a computer without a display: the window cannot be opened either
            return "" if contribution.kind in IN_WINDOW else _differs(contribution)
        with _without_heavy():
            _object(
                contribution.object
                if contribution.kind in IN_WINDOW
                else contribution.options["view"]
            )
    return _differs(contribution)


def _has_qt() -> bool:
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ImportError:
        return False
    return True


def _differs(contribution: Contribution) -> str:
    made = _object(contribution.object)
    missing = [part for part in PARTS[contribution.kind] if not hasattr(made, part)]
    if missing:
        return _("It has no {names}.").format(names=", ".join(missing))
    if inspect.isabstract(made):
        names = ", ".join(sorted(made.__abstractmethods__))
        return _("It does not implement {names}.").format(names=names)
    return _unlike_info(contribution, made) if contribution.kind in WITH_INFO else ""


def _unlike_info(contribution: Contribution, made: Any) -> str:
    info = _object(contribution.options["info"])
    if getattr(made, "info", None) is not info:
        return _("Its attribute `info` is not the object that plugin.toml names.")
    if getattr(info, "id", None) != contribution.id:
        message = _("Its info has the id {theirs!r}, but plugin.toml says {id!r}.")
        return message.format(theirs=getattr(info, "id", None), id=contribution.id)
    return ""


def _object(target: str) -> Any:
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


@contextmanager
def _without_heavy() -> Iterator[None]:
    """Make imports of torch and other heavy libraries fail: the window imports this module, too."""
    kept = {name: sys.modules.get(name) for name in HEAVY}
    modules = cast(dict[str, ModuleType | None], sys.modules)
    modules.update(dict.fromkeys(HEAVY))  # what `import` takes for "not there"
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


# State → display text.
STATES = {ENABLED: N_("enabled"), DISABLED: N_("disabled"), ERROR: N_("error")}
