"""Exceptions of plugins' code: one message for the window, the command line and the workers."""

from __future__ import annotations

import traceback

from workbench.base import log_file, plugins
from workbench.base.errors import WorkbenchError, brief
from workbench.base.i18n import _
from workbench.base.registry import PluginError


def of(error: BaseException) -> PluginError | None:
    """What to show for an exception that a plugin's code has raised; None for all others.

    Errors with a message for the user (WorkbenchError) are shown as they are. The traceback is
    written to the log.
    """
    if isinstance(error, PluginError):
        return _logged(str(error.message), error.details, error.hint)
    if isinstance(error, WorkbenchError) or not isinstance(error, Exception):
        return None
    plugin = plugins.raised_by(error)
    if not plugin:
        return None
    message = _("The plugin {plugin} failed: {error}.").format(plugin=plugin, error=brief(error))
    return _logged(message, "".join(traceback.format_exception(error)))


def _logged(message: str, details: str, hint: str = "") -> PluginError:
    path = log_file.append(f"{message}\n{details}")
    where = _("The traceback is in the log: {log}.").format(log=path) if path is not None else ""
    return PluginError(message, hint=f"{hint} {where}".strip(), details=details)
