"""`doctor`: check whether this computer can run Glossbench, with advice for each problem."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.system_check import PROBLEM, worst
from workbench.cli.output import as_json, emit, say
from workbench.cli.session import PROJECT, session


@click.command()
@click.argument("file", type=PROJECT, metavar="[FILE]", required=False)
@as_json
@click.pass_context
def doctor(context: click.Context, file: Path | None, as_json: bool) -> None:
    """Check versions, devices, fonts, folders and network use.

    Each line shows ok, warning or problem, the result, and advice. With FILE, the folder of that
    project is checked too. The report contains none of your texts or file names. The exit code is 1
    if there is a problem.
    """
    from workbench.operations.application import system_check

    if file is not None and not file.exists():
        raise WorkbenchError(_("There is no file {path}.", path=file), hint=_("Check the path."))
    folder = str(file.absolute().parent) if file is not None else ""
    with session(None) as opened, opened.progress(_("Checking")) as watch:
        checks = system_check.check(opened.queue, project=folder, watch=watch)
    emit(system_check.as_json(checks)) if as_json else say(system_check.as_text(checks))
    if worst(checks) == PROBLEM:
        context.exit(1)
