"""Which pages and docks can be shown, and what is shown instead of one that cannot be."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QWidget

from workbench.base import paths
from workbench.base.i18n import _
from workbench.base.manifest import BUILTIN, Contribution
from workbench.base.registry import PluginError, Registry
from workbench.ui.panel import Panel
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.empty import EmptyState

NEUTRAL = "square"  # the icon of a page that names none


def available(registry: Registry) -> dict[str, Contribution]:
    """The panels that can be used: id → entry, in the order of the registry.

    Panels of plugins are imported here. One that fails is left out; Settings ▸ Plugins shows why.
    """
    return {entry.id: entry for entry in registry.all("panel") if _is_available(registry, entry)}


def _is_available(registry: Registry, entry: Contribution) -> bool:
    if entry.source == BUILTIN:
        return _is_installed(entry)
    with contained(registry, entry):
        panel = registry.get("panel", entry.id)
        if not (isinstance(panel, type) and issubclass(panel, Panel)):
            raise TypeError(f"{entry.object} is not a subclass of Panel")
        return True
    return False


def _is_installed(entry: Contribution) -> bool:
    """Whether the package of a built-in panel is installed. It is not imported."""
    try:
        spec = importlib.util.find_spec(entry.object.split(":")[0])
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


@contextmanager
def contained(registry: Registry, entry: Contribution) -> Iterator[None]:
    """Record what a plugin's panel raises in the faults of the registry, and continue.

    Errors of built-in panels are raised.
    """
    try:
        yield
    except PluginError:
        pass  # recorded by the registry
    except Exception as error:
        if entry.source == BUILTIN:
            raise
        registry.failed(entry.kind, entry.id, error)


def no_project(entry: Contribution, lead: Callable[[], object]) -> EmptyState:
    """Shown instead of a page that needs a project. `lead` opens the Welcome page."""
    button = Button(_("Open or create a project"), "folder-open", "primary", on=lead)
    hint = _("This page requires a project: one file with your texts and their labels.")
    return EmptyState(icon_of(entry), _("No project is open"), hint, button)


def blind(show_people: Callable[[], object]) -> EmptyState:
    """Shown in blind mode instead of a page with predictions or labels of other people."""
    button = Button(_("People…"), on=show_people)
    hint = _("It shows predictions, or labels of other people. Turn blind mode off to use it.")
    return EmptyState("eye-off", _("Blind mode hides this page"), hint, button)


def moved(entry: Contribution, bring_back: Callable[[], object]) -> EmptyState:
    """Shown instead of a page that is in a window of its own."""
    button = Button(_("Move it back"), "arrow-up-right", on=bring_back)
    return EmptyState(icon_of(entry), _("This page is in its own window"), "", button)


def view(
    registry: Registry,
    entry: Contribution,
    make: Callable[[], QWidget],
    show_plugins: Callable[[], object],
) -> QWidget:
    """What `make` returns, or the error if the code of a plugin fails."""
    try:
        return make()
    except Exception as error:
        if entry.source == BUILTIN:
            raise
        return broken(registry.failed(entry.kind, entry.id, error), entry, show_plugins)


def broken(
    fault: PluginError, entry: Contribution, show_plugins: Callable[[], object]
) -> EmptyState:
    """Shown instead of a plugin's page or dock whose code has failed."""
    button = Button(_("Show traceback"), "triangle-alert", on=show_plugins)
    title = _("This dock cannot be shown") if is_dock(entry) else _("This page cannot be shown")
    return EmptyState("triangle-alert", title, str(fault), button)


def is_dock(entry: Contribution) -> bool:
    return bool(entry.options.get("place") == "dock")


def icon_of(entry: Contribution) -> str:
    """The icon of a page; a neutral one if a plugin names one that does not exist."""
    name = entry.options.get("icon", NEUTRAL)
    if entry.source == BUILTIN:
        return str(name)
    return name if isinstance(name, str) and name in paths.icon_names() else NEUTRAL
