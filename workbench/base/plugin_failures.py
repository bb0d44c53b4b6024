"""Exceptions of plugins' code: one message for the window, the command line and the workers."""

from __future__ import annotations

from pathlib import Path

from workbench.base import paths, plugins
from workbench.base.errors import WorkbenchError, brief, traceback_of
from workbench.base.i18n import _
from workbench.base.registry import PluginError

_written: set[tuple[Path, str]] = set()  # logs with what was written to them once


def of(error: BaseException, *, once: bool = False) -> PluginError | None:
    """What to show for an exception that a plugin's code has raised; None for all others.

    Errors with a message for the user (WorkbenchError) are shown as they are. The traceback is
    written to the log. `once`: an equal traceback that was written before is not written again,
    for what is called at each refresh of a page.
    """
    if isinstance(error, PluginError):
        return _logged(str(error.message), error.details, error.hint, once=once)
    if isinstance(error, WorkbenchError) or not isinstance(error, Exception):
        return None
    plugin = plugins.raised_by(error)
    if not plugin:
        return None
    message = _("The plugin {plugin} failed: {error}.", plugin=plugin, error=brief(error))
    place = _("It happened in {place}.", place=plugins.place_of(error))
    return _logged(message, traceback_of(error), place, once=once)


def _logged(message: str, details: str, hint: str = "", *, once: bool) -> PluginError:
    text = f"{message}\n{details}"
    path: Path | None = paths.log_file()
    if not once or (path, text) not in _written:
        path = paths.append_to_log(text)
        if path is not None:
            _written.add((path, text))
    where = _("The traceback is in the log: {log}.", log=path) if path is not None else ""
    return PluginError(message, hint=f"{hint} {where}".strip(), details=details)
