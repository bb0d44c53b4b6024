"""Checks in a worker, soon after the start, of enabled plugins whose files have changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled
from workbench.base.i18n import _
from workbench.base.registry import PluginError

if TYPE_CHECKING:
    from workbench.base.plugins import Plugin
    from workbench.operations.application.plugin_checks import CheckedContribution
    from workbench.ui.application import Application

TASK = "plugin"  # key of the check


class PluginWatch:
    """Records in the registry what fails, so that it is shown before it is used.

    The worker imports the heavy parts too, one plugin after the other.
    """

    def __init__(self, app: Application):
        self._app = app
        self._left: list[Plugin] = []

    def find(self) -> None:
        """Look which plugins have changed. Reads their folders; call it in a thread."""
        from workbench.operations.application import plugin_checks

        self._left = list(plugin_checks.changed(self._app.settings))

    def check(self) -> None:
        """Check the next plugin that has changed, then the others."""
        if not self._left:
            return
        from workbench.operations.application import plugin_checks

        plugin = self._left.pop(0)
        self._app.tasks.start(
            TASK,
            partial(plugin_checks.check_in_worker, self._app.queue, plugin),
            partial(self._checked, plugin),
            failed=self._not_checked,
        )

    def stop(self) -> None:
        """Cancel the check that is running, and start no other."""
        self._left.clear()
        self._app.tasks.drop(TASK)

    def _checked(self, plugin: Plugin, result: Sequence[CheckedContribution]) -> None:
        self._record(plugin, [checked for checked in result if checked.error])
        self.check()

    def _not_checked(self, error: Exception) -> None:
        if not isinstance(error, Cancelled):
            self._app.fail(error)
        self.check()

    def _record(self, plugin: Plugin, failed: Sequence[CheckedContribution]) -> None:
        """Remember that the plugin has passed, or report what has failed and show the first."""
        from workbench.operations.application import plugin_checks

        if not failed:
            plugin_checks.remember(plugin, self._app.settings)
            self._app.settings.save()
            return
        for checked in failed:
            self._app.registry.report(checked.kind, checked.id, _error(plugin, checked))
        message = _(
            "{error} Settings ▸ Plugins shows the traceback.",
            error=_error(plugin, failed[0]).message,
        )
        self._app.tell(message)


def _error(plugin: Plugin, checked: CheckedContribution) -> PluginError:
    template = _("{title} of the plugin {plugin} cannot be used: {reason}")
    reason = checked.error if checked.error.endswith(".") else f"{checked.error}."
    message = template.format(title=checked.title, plugin=plugin.id, reason=reason)
    hint = _("Disable the plugin in the settings, or correct its code.")
    return PluginError(message, hint=hint, details=checked.details)
