"""`open`: its help. The program's door opens the window itself, before any command is looked up."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _


@click.command("open")
@click.argument("file", type=click.Path(path_type=Path), metavar="[FILE]", required=False)
def open_window(file: Path | None) -> None:
    """Open the window: on Annotate at the first document to do if FILE is named, else on the Welcome page.

    Needs a display. `glossbench` without any command does the same as `glossbench open`.
    """
    raise WorkbenchError(
        _("The window opens only from the program itself."),
        hint=_("Call `glossbench open` or `python -m workbench open`."),
    )
