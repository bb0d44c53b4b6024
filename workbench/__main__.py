"""Entry point of every process.

Nothing, `open [FILE]` or `FILE.glossbench` opens the window, `worker FOLDER` runs a background job,
anything else is a command.
"""

from __future__ import annotations

import os
import sys

from workbench.base import i18n, paths
from workbench.base.i18n import N_, _

NO_DISPLAY = N_("""Glossbench needs a display to open its window.
Neither DISPLAY nor WAYLAND_DISPLAY is set. Start Glossbench from a desktop session; over SSH, use
`ssh -X`; on a machine without a screen, `xvfb-run` provides a virtual display.
The command line works without a display: `glossbench --help`.""")


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code. Imports only what the arguments need."""
    arguments = sys.argv[1:] if arguments is None else arguments
    i18n.choose()
    if arguments[:1] == ["worker"]:
        _work(arguments[1:])
    if (files := _files_to_open(arguments)) is not None:
        return _open_window(files)
    from workbench.cli.main import main as command_line

    return command_line(arguments)


def _files_to_open(arguments: list[str]) -> list[str] | None:
    """The file to open in the window, if any; None if the arguments are a command."""
    if arguments[:1] == ["open"]:
        arguments = arguments[1:]
    elif arguments and not arguments[0].lower().endswith(paths.PROJECT_SUFFIX):
        return None
    wrong = len(arguments) > 1 or any(argument.startswith("-") for argument in arguments)
    return None if wrong else arguments


def _open_window(files: list[str]) -> int:
    if _no_display():
        print(_(NO_DISPLAY), file=sys.stderr)
        return 1
    try:
        from workbench.ui.shell import plain_imports

        plain_imports.install()
        from workbench.ui.app import main as window

        return window(files[0] if files else None)
    except Exception as error:
        print(_not_started(error), file=sys.stderr, flush=True)
        os._exit(1)  # Qt crashes in the destructors of a window that was built in part


def _not_started(error: Exception) -> str:
    """The traceback of what prevented the window from opening, then its message."""
    import traceback

    from workbench.base import paths

    lines = "".join(traceback.format_exception(error))
    paths.append_to_log(lines)
    message = _("Error: Glossbench could not be started: {error}", error=error)
    return f"{lines}{message}"


def _no_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return False
    return not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )


def _work(arguments: list[str]) -> None:
    """Does not return. Skips interpreter finalization, which can hang or crash in libraries."""
    from workbench.jobs.worker import main as worker

    code = worker(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
