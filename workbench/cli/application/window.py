"""`open`: its help text. The program opens the window itself, before any command is looked up."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _


@click.command("open")
@click.argument("file", type=click.Path(path_type=Path), metavar="[FILE]", required=False)
def open_window(file: Path | None) -> None:
    """Open the window, optionally with FILE: a project, or data for a new one.

    With a project, Annotate opens at the first document to label; without FILE, the Welcome page
    opens. Requires a display. `glossbench` without a command does the same.
    """
    raise WorkbenchError(
        _("The window cannot be opened from within a command."),
        hint=_("Run `glossbench open` or `python -m workbench open`."),
    )
