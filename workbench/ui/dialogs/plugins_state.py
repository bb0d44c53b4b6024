"""State of the Plugins page of Settings; without widgets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.operations.application import plugin_checks, plugins
from workbench.operations.application.plugins import DISABLED, ENABLED, ERROR, PluginStatus
from workbench.ui.style import formats

__all__ = ["DISABLED", "ENABLED", "ERROR", "PluginsState", "PluginStatus"]

if TYPE_CHECKING:
    from workbench.base.plugins import Plugin
    from workbench.base.settings import Settings
    from workbench.base.watch import Watch
    from workbench.jobs.queue import Queue
    from workbench.operations.application.plugin_checks import CheckedContribution
    from workbench.ui.tasks import Tasks


class PluginsState:
    """`changed` is emitted whenever something else is to be shown.

    rows: every plugin, those with an error first. asking: key of the plugin that awaits permission,
    "" for none. progress: keys of the plugins that a worker is importing → what it imports. pages:
    ids of the pages that the window has.
    """

    def __init__(self, settings: Settings, queue: Queue, tasks: Tasks, pages: Collection[str] = ()):
        self.settings, self.queue, self.pages = settings, queue, frozenset(pages)
        self.changed = Signal("plugins.changed")
        self.rows: tuple[PluginStatus, ...] = ()
        self.asking = ""
        self.progress: dict[str, str] = {}
        self._failed: dict[str, tuple[str, str]] = {}  # key → error and traceback of a check
        self._before: dict[str, tuple[str, str]] = {}  # of plugins that are checked again
        self._tasks = tasks
        self.refresh()

    def adds(self, plugin: Plugin) -> tuple[str, ...]:
        """What a plugin adds, by kind: "1 importer: TMX translation memories"."""
        return plugins.adds(plugin)

    def title(self, status: PluginStatus) -> str:
        """The state of a plugin in words."""
        return _(plugins.STATES[status.state])

    def refresh(self) -> None:
        """Search the plugin folders again."""
        rows = [self._with_failure(status) for status in plugins.all_plugins(self.settings)]
        rows.sort(key=lambda status: (status.state != ERROR, status.plugin.name.casefold()))
        self.rows = tuple(rows)
        self.changed.emit()

    def _with_failure(self, status: PluginStatus) -> PluginStatus:
        failed = self._failed.get(status.plugin.key)
        if failed is None or status.state == ERROR:
            return status
        return replace(status, state=ERROR, error=failed[0], details=failed[1])

    def summary(self) -> str:
        """ "4 plugins: 2 enabled, 1 disabled, 1 with an error"; "" without plugins."""
        if not self.rows:
            return ""
        count = {state: sum(row.state == state for row in self.rows) for state in plugins.STATES}
        n = len(self.rows)
        return ngettext(
            "{n} plugin: {enabled} enabled, {disabled} disabled, {error} with an error",
            "{n} plugins: {enabled} enabled, {disabled} disabled, {error} with an error",
            n,
            **count,
        )

    def restart(self, status: PluginStatus) -> str:
        """What only a restart changes: the window reads its pages once. "" if there is nothing."""
        added = {
            contribution.id: contribution.title
            for contribution in status.plugin.contributions
            if contribution.kind == "panel"
        }
        if new := added.keys() - self.pages if status.state == ENABLED else None:
            return _("Restart Glossbench to see {names}.", names=_quoted(added, new))
        if old := added.keys() & self.pages if status.state == DISABLED else None:
            return ngettext(
                "{names} is removed when Glossbench is restarted.",
                "{names} are removed when Glossbench is restarted.",
                len(old),
                names=_quoted(added, old),
            )
        return ""

    # ---------------------------------------------------------------- actions

    def ask(self, plugin: Plugin | None) -> None:
        """Show the consequences of enabling a plugin first; None dismisses the question."""
        self.asking = plugin.key if plugin else ""
        self.changed.emit()

    def enable(self, plugin: Plugin) -> None:
        """Import the plugin in a worker, and enable it if the check succeeds."""
        self.asking = ""
        self._check(plugin)

    def is_enabled(self, plugin: Plugin) -> bool:
        """Whether its code may be run, also if it has an error."""
        return plugin.key in self.settings.plugins_enabled

    def disable(self, plugin: Plugin) -> None:
        self._failed.pop(plugin.key, None)
        plugins.disable(plugin, self.settings)
        self.refresh()

    def check_again(self, plugin: Plugin) -> None:
        """Read the manifest again; import the code only if the user has permitted it."""
        known = plugin.key in self.settings.plugins_enabled or plugin.key in self._failed
        if failed := self._failed.pop(plugin.key, None):
            self._before[plugin.key] = failed
        self.refresh()
        now = next((row for row in self.rows if row.plugin.key == plugin.key), None)
        if known and now is not None and not now.plugin.fault:
            self._check(now.plugin)

    def cancel(self, plugin: Plugin) -> None:
        """End the check of a plugin: it is what it was before, and its worker ends."""
        if plugin.key in self.progress:
            self._tasks.drop(plugin.key)
            self._cancelled(plugin)

    def add_folder(self, folder: str) -> None:
        """Add a plugin folder, or a folder of plugin folders, to the search path."""
        if folder and folder not in self.settings.plugin_folders:
            self.settings.plugin_folders.append(folder)
            self.settings.save()
        self.refresh()

    def remove_folder(self, folder: str) -> None:
        """Remove a folder from the search path; plugins in it are disabled."""
        inside = Path(folder)
        for row in self.rows:
            if row.plugin.folder == inside or inside in row.plugin.folder.parents:
                plugins.disable(row.plugin, self.settings)
        folders = [path for path in self.settings.plugin_folders if path != folder]
        self.settings.plugin_folders = folders
        self.settings.save()
        self.refresh()

    def close(self) -> None:
        """Cancel running checks."""
        self._tasks.close()

    # ---------------------------------------------------------------- checking

    def _check(self, plugin: Plugin) -> None:
        self.progress[plugin.key] = ""
        self.changed.emit()
        self._tasks.start(
            plugin.key,
            partial(plugin_checks.check_in_worker, self.queue, plugin),
            partial(self._checked, plugin),
            failed=partial(self._not_checked, plugin),
            progress=partial(self._progressed, plugin),
        )

    def _progressed(self, plugin: Plugin, watch: Watch) -> None:
        self.progress[plugin.key] = str(watch.progress.get("text", ""))
        self.changed.emit()

    def _not_checked(self, plugin: Plugin, error: Exception) -> None:
        if isinstance(error, Cancelled):  # in the list of jobs
            self._cancelled(plugin)
        else:
            self._ended(plugin, (str(error), ""))

    def _cancelled(self, plugin: Plugin) -> None:
        self._ended(plugin, self._before.get(plugin.key))

    def _checked(self, plugin: Plugin, result: Sequence[CheckedContribution]) -> None:
        failure = _failure(result)
        if failure is None:
            try:
                plugins.enable(plugin, self.settings)
            except WorkbenchError as error:
                failure = str(error), ""
        self._ended(plugin, failure)

    def _ended(self, plugin: Plugin, failure: tuple[str, str] | None) -> None:
        self.progress.pop(plugin.key, None)
        self._before.pop(plugin.key, None)
        if failure is None:
            self._failed.pop(plugin.key, None)
        else:
            self._failed[plugin.key] = failure
        self.refresh()


def _quoted(titles: Mapping[str, str], ids: Collection[str]) -> str:
    return ", ".join(_("“{title}”", title=titles[id]) for id in titles if id in ids)


def _failure(checked: Sequence[CheckedContribution]) -> tuple[str, str] | None:
    """The error of a plugin that was checked, with traceback; None if the check succeeded."""
    first = plugin_checks.first_error(checked)
    if first is None:
        return None
    template = _("{title} cannot be used. {reason} The plugin was not enabled ({time}).")
    at = formats.clock(time.time())
    return template.format(title=first.title, reason=_sentence(first.error), time=at), first.details


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
