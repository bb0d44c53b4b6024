"""`labels` and `export-data`."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.cli.data_import import SPLITS
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import project_argument, reading

FORMATS = [one.id for one in registry().all("exporter") if one.options.get("what") == "data"]


@click.command()
@project_argument
@as_json
def labels(file: Path, as_json: bool) -> None:
    """List the layers of FILE with their labels: key, colour, and how many marks and spans bear each."""
    from workbench.operations import corpus

    with reading(file) as opened:
        found = corpus.labels(opened)
    if as_json:
        emit(found)
        return
    for layer in found:
        say(f"{layer['layer']} ({layer['kind']})")
        table(
            (_("Label"), _("Key"), _("Colour"), _("Count")),
            [(one["name"], one["key"], one["colour"], one["count"]) for one in layer["labels"]],
        )
        say()


@click.command("export-data")
@project_argument
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    required=True,
    help=_("The format to write; glossbench is complete, others lose what they cannot hold."),
)
@click.option("--split", type=click.Choice(SPLITS), help=_("Only documents of this split."))
@click.option(
    "--source",
    type=click.Choice(("gold", "predictions", "both")),
    default="gold",
    show_default=True,
    help=_(
        "Whose labels to write: gold of all layers, predictions for the layer of the run alone, or both where the format has room."
    ),
)
@click.option("--run", help=_("The run whose predictions are written."))
@click.option(
    "--escape-formulas",
    is_flag=True,
    help=_(
        "CSV and TSV: put ' before cells that spreadsheet programs would run as formulas; an import "
        "of the file removes it again."
    ),
)
@as_json
def export_data(
    file: Path,
    out: Path,
    format: str,
    split,
    source: str,
    run,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """Write the documents and labels of FILE to OUT. Works beside an open window."""
    from workbench.operations import corpus, results

    if source != "gold" and not run:
        raise click.UsageError(_("--source {source} needs --run RUN.").format(source=source))
    if escape_formulas and format not in ("csv", "tsv"):
        raise click.UsageError(
            _("--escape-formulas needs --format csv or tsv, not {format}.").format(format=format)
        )
    with reading(file) as opened:
        chosen = results.run_named(opened, run) if run else None
        outcome = corpus.export_data(
            opened,
            out,
            format=format,
            split=split,
            source=source,
            run=chosen,
            escape_formulas=escape_formulas,
        )
    for warning in outcome.warnings:
        note(_("Warning: {warning}").format(warning=warning))
    if as_json:
        emit({"path": str(out), "documents": outcome.documents, "warnings": list(outcome.warnings)})
    else:
        say(_("{n} documents written to {out}.").format(n=outcome.documents, out=out))
