"""`doctor`: check whether this computer can run Glossbench, with advice for each problem."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.cli.output import Progress, as_json, emit, say
from workbench.cli.session import PROJECT, Session, session

if TYPE_CHECKING:
    from workbench.operations.application.system_check import SystemCheck


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
        raise WorkbenchError(
            _("There is no file {path}.").format(path=file), hint=_("Check the path.")
        )
    with session(None) as opened:
        folder = str(file.absolute().parent) if file is not None else ""
        check = system_check.SystemCheck(opened.queue, project=folder)
        _wait(opened, check)
    emit(system_check.as_json(check.checks)) if as_json else say(system_check.as_text(check.checks))
    if check.state == "problem":
        context.exit(1)


def _wait(opened: Session, check: SystemCheck) -> None:
    progress = Progress(_("Checking"))
    drop = check.changed.connect(lambda: progress.show(None, check.doing))
    check.start()
    for job in check.jobs:
        with suppress(JobFailed):  # it is a problem that the check lists
            opened.queue.result(job, Watch())
    drop()
    progress.end()
