"""The function that a job or host runs, and the event that describes its failure."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from workbench.base import plugin_failures
from workbench.base.errors import WorkbenchError, is_disk_full, is_out_of_memory
from workbench.base.i18n import _
from workbench.jobs import events


def resolve(target: str) -> Callable[..., Any]:
    """ "module:function" → the function."""
    module, name = target.split(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def failure(error: BaseException) -> events.Finished:
    """The final event for an exception in the target, with a message for the user."""
    details = "".join(traceback.format_exception(error))
    with suppress(OSError):  # the disk of the log may be full
        sys.stderr.write(details)
    if isinstance(error, WorkbenchError):
        return events.Finished("failed", message=error.message, hint=error.hint, details=details)
    if is_out_of_memory(error):
        message = _("Out of memory: {error}", error=_first_line(error) or type(error).__name__)
        return events.Finished(
            "out_of_memory",
            message=message,
            hint=_(
                "Use a smaller batch size, shorter texts, a smaller model, or a training method "
                "with fewer parameters, such as LoRA."
            ),
            details=details,
        )
    if is_disk_full(error):
        message = _("No space left on the disk: {error}.", error=_first_line(error))
        return events.Finished(
            "failed",
            message=message,
            hint=_("Free up disk space, then try again."),
            details=details,
        )
    if (fault := plugin_failures.of(error)) is not None:
        return events.Finished("failed", message=fault.message, hint=fault.hint, details=details)
    message = (
        f"{type(error).__name__}: {_first_line(error)}" if str(error) else type(error).__name__
    )
    return events.Finished("failed", message=message, details=details)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [""])[0][:500]
