"""`labels` and `export-data`."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _, ngettext
from workbench.cli.choices import ContributionChoice
from workbench.cli.documents.data_import import SPLITS
from workbench.cli.documents.where import matching, where_option
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import project_argument, reading
from workbench.text.columns import keyed


@click.command()
@project_argument
@as_json
def labels(file: Path, as_json: bool) -> None:
    """List the layers and labels of FILE: key, colour and number of class labels and spans.

    Sublabels follow their parent; `glossbench relabel parent` sets it.
    """
    from workbench.operations.annotation import questions
    from workbench.operations.documents import corpus

    with reading(file) as opened:
        layers = corpus.labels(opened)
    if as_json:
        emit(layers)
        return
    for layer in layers:
        say(f"{layer['layer']} ({layer['kind']})")
        if layer.get("questions"):
            say(questions.in_words(questions.AskedCounts(**layer["questions"])))
            say()
            continue
        titles = {"name": _("Label"), "key": _("Key"), "colour": _("Colour"), "count": _("Count")}
        if any("parent" in item for item in layer["labels"]):
            titles |= {"parent": _("Parent")}
        table(keyed(titles), [{"parent": "", **label} for label in layer["labels"]])
        say()


@click.command("export-data")
@project_argument
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--format",
    "format",
    type=ContributionChoice("exporter"),
    required=True,
    help=_(
        "Output format. Only glossbench is lossless; other formats omit what they cannot "
        "represent. For brat and webanno, OUT is a new folder with files for each document."
    ),
)
@click.option("--split", type=click.Choice(SPLITS), help=_("Export only documents of this split."))
@where_option
@click.option(
    "--source",
    type=click.Choice(("gold", "predictions", "both")),
    default="gold",
    show_default=True,
    help=_(
        "Labels to export: gold labels of all layers, predictions (only for the layer of "
        "the run), or both if the format supports it."
    ),
)
@click.option("--run", help=_("The run whose predictions are exported."))
@click.option(
    "--escape-formulas",
    is_flag=True,
    help=_(
        "CSV and TSV: prefix cells that spreadsheet programs would evaluate as formulas "
        "with '. Glossbench removes the prefix when it imports the file."
    ),
)
@as_json
def export_data(
    file: Path,
    out: Path,
    format: str,
    split: str | None,
    where: str,
    source: str,
    run: str | None,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """Export the documents and labels of FILE to OUT. Can be used while a window has FILE open."""
    from workbench.operations.runs import results
    from workbench.operations.transfer import data_export

    if source != "gold" and not run:
        raise click.UsageError(_("--source {source} requires --run RUN.", source=source))
    if escape_formulas and format not in ("csv", "tsv"):
        raise click.UsageError(
            _("--escape-formulas requires --format csv or tsv, not {format}.", format=format)
        )
    with reading(file) as opened:
        chosen = results.run_named(opened, run) if run else None
        lost = data_export.what_is_lost(format, opened, source=source, run=chosen)
        for sentence in lost:
            note(_("Not kept: {sentence}", sentence=sentence))
        outcome = data_export.export_data(
            opened,
            out,
            format=format,
            split=split,
            ids=matching(opened, where),
            source=source,
            run=chosen,
            escape_formulas=escape_formulas,
        )
    for warning in outcome.warnings:
        if warning not in lost:
            note(_("Warning: {warning}", warning=warning))
    if as_json:
        emit(
            {
                "path": str(out),
                "documents": outcome.documents,
                "lost": list(lost),
                "warnings": list(outcome.warnings),
            }
        )
    else:
        n = outcome.documents
        message = ngettext(
            "{n:,} document written to {out}.", "{n:,} documents written to {out}.", n, out=out
        )
        say(message)
