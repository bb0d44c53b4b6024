"""Whether the code of a plugin can be imported and conforms to its contracts.

The window checks in a worker process, as the heavy parts of a plugin import torch. What passed is
remembered with the state of the plugin's files, so that only changed plugins are checked again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from workbench.base import plugins
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.base.plugins import Plugin
from workbench.base.records import from_plain, to_plain
from workbench.base.settings import Settings
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.application import plugin_contracts, plugin_options
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue

TARGET = "workbench.operations.application.plugin_checks:check_job"
IMPORT_TIMEOUT = 120.0  # seconds for the import of one contribution, large libraries included
CHECKED = "checked"  # kind of the event after each contribution
HEAVY = ("torch", "transformers", "onnxruntime", "sklearn", "scipy")
WITH_QT = ("panel",)
# The window imports the objects of these kinds.
IN_WINDOW = (*WITH_QT, "importer", "segmenter", "prediction", "exporter", "run_kind")


@dataclass(frozen=True)
class CheckedContribution:
    """One contribution after its code was imported.

    `error` is "" if it conforms to its contract; `details` is a traceback.
    """

    kind: str
    id: str
    title: str
    error: str = ""
    details: str = ""

    @classmethod
    def of(cls, entry: Contribution, error: str = "", details: str = "") -> CheckedContribution:
        return cls(entry.kind, entry.id, entry.title, error, details)


def first_error(checked: Iterable[CheckedContribution]) -> CheckedContribution | None:
    return next((contribution for contribution in checked if contribution.error), None)


# ---------------------------------------------------------------- checking


def check(plugin: Plugin) -> Iterator[CheckedContribution]:
    """Import everything that a plugin adds and check it against the contracts. Runs its code."""
    try:
        plugins.make_importable(plugin)
    except WorkbenchError as error:
        yield from (CheckedContribution.of(entry, str(error)) for entry in plugin.contributions)
        return
    plugins.forget_modules(plugin)
    for entry in plugin.contributions:
        yield _checked(plugin, entry)


def _checked(plugin: Plugin, entry: Contribution) -> CheckedContribution:
    try:
        fault = plugin_options.of_contribution(plugin.folder, entry) or _fault(entry)
    except (Exception, SystemExit) as error:
        fault = f"{type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError):
            fault = _missing_module(plugin, error)
        return CheckedContribution.of(entry, fault, _traceback(plugin, error))
    return CheckedContribution.of(entry, fault)


def _traceback(plugin: Plugin, error: BaseException) -> str:
    """The traceback from the first line of the plugin on; all of it if none of its lines was
    running.
    """
    frame = error.__traceback__
    while frame is not None and not _is_inside(plugin.folder, frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    first_frame = frame or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, first_frame))


def _is_inside(folder: Path, file: str) -> bool:
    return folder in Path(file).parents


def _missing_module(plugin: Plugin, error: ModuleNotFoundError) -> str:
    package = (error.name or "?").partition(".")[0]
    if package == plugin.package.partition(".")[0]:
        return _("The plugin has no module {module}.", module=error.name)
    if package not in HEAVY or importlib.util.find_spec(package) is None:
        return _("The Python package {package} is missing.", package=package)
    return _(
        "It imports {package}, but its module is also imported by the window, which must not "
        "load large libraries. Import {package} inside the function that needs it.",
        package=package,
    )


def ensure_checked(plugin: Plugin, checked: Iterable[CheckedContribution]) -> None:
    """Raises WorkbenchError that names the first contribution that fails in a check."""
    first = first_error(checked)
    if first is not None:
        message = _(
            "The plugin {name} was not enabled. {title} cannot be used: {reason}",
            name=plugin.name,
            title=first.title,
            reason=first.error,
        )
        hint = _("`glossbench plugins check {folder}` shows the traceback.", folder=plugin.folder)
        raise WorkbenchError(message, hint=hint)


def _fault(entry: Contribution) -> str:
    """Why a contribution does not conform to its contract, "" if it does.

    Raises what its import raises.
    """
    named, has_qt = entry.options.get("info"), _has_qt()
    if entry.kind in plugin_contracts.WITH_INFO and not named:
        return _("plugin.toml does not name an `info` for it.")
    view = entry.options.get("view") if has_qt else None
    # without a display, the window cannot be opened either
    is_left_out = entry.kind in WITH_QT and not has_qt
    in_window = entry.kind in IN_WINDOW and not is_left_out
    with _without_heavy():  # what the window imports
        for target in (named, entry.object if in_window else None, view):
            plugin_contracts.imported(target)
    if is_left_out:
        return ""
    instance, info, shown = map(plugin_contracts.imported, (entry.object, named, view))
    fault = plugin_contracts.fault(entry, instance, info)
    return fault or (plugin_contracts.view_fault(entry.kind, shown) if view else "")


def _has_qt() -> bool:
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ImportError:
        return False
    return True


@contextmanager
def _without_heavy() -> Iterator[None]:
    """Make imports of torch and other heavy libraries fail: the window imports this module, too."""
    modules = cast(dict[str, ModuleType | None], sys.modules)
    loaded = {name: modules[name] for name in HEAVY if name in modules}
    modules.update(dict.fromkeys(HEAVY))  # what `import` takes for "not there"
    try:
        yield
    finally:
        for name in HEAVY:
            del modules[name]
        modules.update(loaded)


# ---------------------------------------------------------------- in a worker


def check_in_worker(
    queue: Queue, plugin: Plugin, *, watch: Watch = QUIET
) -> tuple[CheckedContribution, ...]:
    """As `check`, in a worker, which yields what `check_job` does.

    If the worker crashes, the result ends with the contribution that it was importing. Raises
    Cancelled.
    """
    checked: list[CheckedContribution] = []

    def take(payload: Mapping[str, Any]) -> None:
        if payload.get("kind") == CHECKED:
            checked.append(from_plain(CheckedContribution, payload["checked"]))

    title = _("Check plugin {name}", name=plugin.name)
    params = {"folder": str(plugin.folder), "package": plugin.package}
    spec = JobSpec(TARGET, params, device="", title=title, silent=IMPORT_TIMEOUT)
    try:
        queue.run(spec, watch.part(0.0, 1.0, take), forget=True)
    except JobFailed as error:
        checked.append(_not_imported(plugin, len(checked), error))
    return tuple(checked)


def _not_imported(plugin: Plugin, number: int, error: JobFailed) -> CheckedContribution:
    """The contribution that a worker was importing when it failed, with the line of the plugin that
    was running, else the file that was to be imported.
    """
    entry = plugin.contributions[min(number, len(plugin.contributions) - 1)]
    frames = re.findall(r'File "([^"]+)", line (\d+)', error.details)
    lines = (
        _("{file}, line {line}", file=file, line=line)
        for file, line in frames
        if _is_inside(plugin.folder, file)
    )
    module = entry.object.partition(":")[0].removeprefix(plugin.package).strip(".")
    target = plugin.folder / f"{module.replace('.', '/')}.py"
    place = next(lines, str(target if target.is_file() else plugin.folder))
    message = _("{reason} Last imported: {place}.", reason=error.message, place=place)
    if error.crashed:
        advice = _(
            "A plugin must not exit or wait while it is imported: move such code into a function."
        )
        message = f"{message} {advice}"
    return CheckedContribution.of(entry, message, error.details)


def check_job(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """Job target: yields progress before each contribution and its CheckedContribution after it."""
    plugin = plugins.describe(Path(params["folder"]), str(params["package"]))
    results, total = check(plugin), len(plugin.contributions)
    for done, contribution in enumerate(plugin.contributions):
        text = _(
            "Importing {title} ({n} of {total})…", title=contribution.title, n=done + 1, total=total
        )
        yield {"kind": "progress", "part": done / total, "text": text}
        yield {"kind": CHECKED, "checked": to_plain(next(results))}
    return {}


# ---------------------------------------------------------------- remembering what passed


def changed(settings: Settings) -> tuple[Plugin, ...]:
    """Enabled plugins whose files have changed since they passed a check.

    Also all others after an update of the application or of Python.
    """
    return tuple(
        plugin
        for plugin in plugins.find(settings)
        if plugin.key in settings.plugins_enabled
        and not plugin.fault
        and settings.plugins_checked.get(plugin.key) != fingerprint(plugin)
    )


def remember(plugin: Plugin, settings: Settings) -> None:
    """Store that the plugin has passed a check; the caller saves the settings."""
    settings.plugins_checked[plugin.key] = fingerprint(plugin)


def fingerprint(plugin: Plugin) -> str:
    """A hash of name, size and time of every file with code, and of the versions."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    for path in sorted(plugin.folder.rglob("*")):
        if path.suffix in (".py", ".toml"):
            state = path.stat()
            line = f"{path.relative_to(plugin.folder)} {state.st_size} {state.st_mtime_ns}\n"
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
