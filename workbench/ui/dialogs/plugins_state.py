"""State of the Plugins page of Settings; without widgets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.operations.application import plugin_checks, plugins
from workbench.operations.application.plugins import DISABLED, ENABLED, ERROR, Status
from workbench.ui.style import formats

__all__ = ["DISABLED", "ENABLED", "ERROR", "PluginsState", "Status"]

if TYPE_CHECKING:
    from workbench.base.plugins import Plugin
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Job, Queue


class PluginsState:
    """`changed` is emitted whenever something else is to be shown.

    rows: every plugin, those with an error first. asking: key of the plugin that awaits permission,
    "" for none. checking: keys of the plugins that a worker is importing. pages: ids of the pages
    that the window has.
    """

    def __init__(self, settings: Settings, queue: Queue, pages: Collection[str] = ()):
        self.settings, self.queue, self.pages = settings, queue, frozenset(pages)
        self.changed = Signal("plugins.changed")
        self.rows: tuple[Status, ...] = ()
        self.asking = ""
        self.checking: set[str] = set()
        self._failed: dict[str, tuple[str, str]] = {}  # key → error and traceback of a check
        self._before: dict[str, tuple[str, str]] = {}  # of plugins that are checked again
        self._jobs: dict[str, Job] = {}
        self.refresh()

    def adds(self, plugin: Plugin) -> tuple[str, ...]:
        """What a plugin adds, by kind: "1 importer: TMX translation memories"."""
        return plugins.adds(plugin)

    def title(self, status: Status) -> str:
        """The state of a plugin in words."""
        return _(plugins.STATES[status.state])

    def refresh(self) -> None:
        """Search the plugin folders again."""
        found = [self._with_failure(plugin) for plugin in plugins.all_plugins(self.settings)]
        found.sort(key=lambda status: (status.state != ERROR, status.plugin.name.casefold()))
        self.rows = tuple(found)
        self.changed.emit()

    def _with_failure(self, status: Status) -> Status:
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
        message = ngettext(
            "{n} plugin: {enabled} enabled, {disabled} disabled, {error} with an error",
            "{n} plugins: {enabled} enabled, {disabled} disabled, {error} with an error",
            n,
        )
        return message.format(n=n, **count)

    def restart(self, status: Status) -> str:
        """What only a restart changes: the window reads its pages once. "" if there is nothing."""
        added = {
            contribution.id: contribution.title
            for contribution in status.plugin.contributions
            if contribution.kind == "panel"
        }
        if new := added.keys() - self.pages if status.state == ENABLED else None:
            return _("Restart Glossbench to see {names}.").format(names=_quoted(added, new))
        if old := added.keys() & self.pages if status.state == DISABLED else None:
            message = ngettext(
                "{names} is removed when Glossbench is restarted.",
                "{names} are removed when Glossbench is restarted.",
                len(old),
            )
            return message.format(names=_quoted(added, old))
        return ""

    # ---------------------------------------------------------------- actions

    def progress(self, plugin: Plugin) -> str:
        """What the worker that checks a plugin is importing; "" before it has started."""
        job = self._jobs.get(plugin.key)
        return str(job.progress.get("text", "")) if job is not None else ""

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
        job = self._jobs.pop(plugin.key, None)
        if job is None:
            return
        self.checking.discard(plugin.key)
        if before := self._before.pop(plugin.key, None):
            self._failed[plugin.key] = before
        job.cancel()
        self.refresh()

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
        kept = [
            plugin_folder
            for plugin_folder in self.settings.plugin_folders
            if plugin_folder != folder
        ]
        self.settings.plugin_folders = kept
        self.settings.save()
        self.refresh()

    def close(self) -> None:
        """Cancel running checks."""
        for job in self._jobs.values():
            job.cancel()

    # ---------------------------------------------------------------- checking

    def _check(self, plugin: Plugin) -> None:
        job = self.queue.add(plugin_checks.check_spec(plugin))
        self.checking.add(plugin.key)
        self._jobs[plugin.key] = job
        job.changed.connect(partial(self._heard, plugin, job))
        self.changed.emit()

    def _heard(self, plugin: Plugin, job: Job, _event: object) -> None:
        was_cancelled = self._jobs.get(plugin.key) is not job
        if not job.over:
            if not was_cancelled:
                self.changed.emit()
            return
        self.queue.forget(job)
        if was_cancelled:
            return
        self.checking.discard(plugin.key)
        self._jobs.pop(plugin.key)
        self._before.pop(plugin.key, None)
        if job.status == "cancelled":
            self.changed.emit()
            return
        failed = _failure(plugin, job)
        if failed is None:
            self._failed.pop(plugin.key, None)
            try:
                plugins.enable(plugin, self.settings)
            except WorkbenchError as error:
                self._failed[plugin.key] = str(error), ""
        else:
            self._failed[plugin.key] = failed
        self.refresh()


def _quoted(titles: Mapping[str, str], ids: Collection[str]) -> str:
    return ", ".join(_("“{title}”").format(title=titles[id]) for id in titles if id in ids)


def _failure(plugin: Plugin, job: Job) -> tuple[str, str] | None:
    """The error of a plugin that a job has checked, with traceback; None if the check succeeded."""
    first = plugin_checks.outcome(plugin, job).first_error
    if first is None:
        return None
    template = _("{title} cannot be used. {reason} The plugin was not enabled ({time}).")
    at = formats.clock(time.time())
    return template.format(title=first.title, reason=_sentence(first.error), time=at), first.details


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
