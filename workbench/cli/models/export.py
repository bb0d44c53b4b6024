"""`export`: write the model of a run as folders that other programs can load."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.sizes import size
from workbench.cli.output import as_json, emit, say
from workbench.cli.session import project_argument, session

_KNOWN = registry().all("model_exporter")


@click.command()
@project_argument
@click.argument("outdir", type=click.Path(path_type=Path), metavar="OUTDIR")
@click.option("--run", default="", help=_("Name of the run."))
@click.option(
    "--model",
    default="",
    help=_("Instead of a run: a published model that is trained for a task, by name or folder."),
)
@click.option(
    "--formats",
    default=",".join(entry.id for entry in _KNOWN if entry.options.get("default")),
    show_default=True,
    help=_(
        "Formats to write, separated by commas: {formats}.",
        formats=", ".join(f"{entry.id} ({_(entry.title)})" for entry in _KNOWN),
    ),
)
@as_json
def export(file: Path, outdir: Path, run: str, model: str, formats: str, as_json: bool) -> None:
    """Export the model of a run, each format to a folder in OUTDIR, and verify it on dev and test
    texts.

    Can be used while a window has the project open.
    """
    from workbench.operations.models import export as operations
    from workbench.operations.models import installed
    from workbench.operations.runs import results

    if bool(run) == bool(model):
        raise click.UsageError(_("Give either --run or --model."))
    chosen = operations.formats_of(formats)
    with (
        session(file, read_only=True) as opened,
        opened.progress(_("Exporting"), what=_("The export")) as watch,
    ):
        project, queue = opened.project, opened.queue
        if model:
            card = installed.trained(model)
            result = operations.export_published(project, queue, card, outdir, chosen, watch=watch)
        else:
            named = results.run_named(project, run)
            result = operations.export_run(project, queue, named, outdir, chosen, watch=watch)
    if as_json:
        raw = result.to_json()
        emit({name: raw[name] for name in ("folders", "files", "check", "stored")})
        return
    for written in result.files:
        say(f"{size(written.bytes):>8}  {written.path}")
    if result.stored:
        say(_("The predictions of the run: {sentence}", sentence=result.stored.sentence()))
    if result.check:
        say(result.overall.sentence())
