"""`import`, `labels` and `export-data`."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.cli.output import Progress, as_json, emit, note, say, table
from workbench.cli.session import Session, project_argument, reading, session

FORMATS = ("glossbench", "doccano", "prodigy", "csv", "tsv", "conll", "conllu", "text")
SPLITS = ("train", "dev", "test")


def _roles(_context, _parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = []
    for value in values:
        role, sign, column = value.partition("=")
        if not sign or not role or not column:
            raise click.BadParameter(
                _(
                    "{value!r} is not ROLE=COLUMN, for example text=body or label:topic=kind."
                ).format(value=value)
            )
        found.append((role, column))
    return tuple(found)


@click.command("import")
@project_argument
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATA...")
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    help=_("The format; guessed from the content if left out."),
)
@click.option("--split", type=click.Choice(SPLITS), help=_("Put every document into this split."))
@click.option(
    "--map",
    "mapping",
    multiple=True,
    callback=_roles,
    metavar="ROLE=COLUMN",
    help=_(
        "Say what a column is. Roles: id text text_b label:LAYER tag:LAYER spans:LAYER split group meta:NAME."
    ),
)
@click.option(
    "--duplicates",
    type=click.Choice(("skip", "suggest", "add")),
    default="skip",
    show_default=True,
    help=_("What to do with a record whose key and text stand in the project already."),
)
@click.option("--encoding", help=_("The encoding; guessed if left out."))
@click.option(
    "--layer", "target_layer", help=_("The layer that labels go to where the file names none.")
)
@as_json
def import_data(
    file: Path,
    data: tuple[Path, ...],
    format,
    split,
    mapping,
    duplicates,
    encoding,
    target_layer,
    as_json: bool,
) -> None:
    """Read DATA files into project FILE, all or nothing. Works out format, columns and encoding where they are not said.

    Records with a fault are skipped whole and named with line and reason; the rest comes in.
    """
    from workbench.operations import corpus

    with session(file) as opened:
        handle = corpus.import_files(
            opened.project,
            opened.queue,
            list(data),
            format=format,
            split=split,
            mapping=mapping or None,
            encoding=encoding,
            duplicates=duplicates,
            target_layer=target_layer,
        )
        outcome = _wait(opened, handle, as_json)
    found = {
        "documents": outcome.documents,
        "spans": outcome.spans,
        "skipped": [
            {"file": str(one.file), "line": one.line, "reason": one.reason}
            for one in outcome.skipped
        ],
        "warnings": list(outcome.warnings),
    }
    emit(found) if as_json else _show_import(found)


def _wait(opened: Session, handle, quiet: bool):
    progress = Progress(_("Importing"), quiet=quiet)
    opened.wait(handle.job, progress.heard)
    progress.end()
    if handle.outcome is None:
        raise handle.error or ImportFailed(
            _("The import ended without a result; nothing was changed.")
        )
    return handle.outcome


def _show_import(found: dict) -> None:
    say(
        _("{documents} documents and {spans} spans came in.").format(
            documents=found["documents"], spans=found["spans"]
        )
    )
    for one in found["skipped"][:20]:
        note(_("Skipped {file}, line {line}: {reason}").format(**one))
    if len(found["skipped"]) > 20:
        note(
            _("… and {n} more skipped records (all of them with --json).").format(
                n=len(found["skipped"]) - 20
            )
        )
    for warning in found["warnings"]:
        note(_("Warning: {warning}").format(warning=warning))


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
@as_json
def export_data(file: Path, out: Path, format: str, split, source: str, run, as_json: bool) -> None:
    """Write the documents and labels of FILE to OUT. Works beside an open window."""
    from workbench.operations import corpus, results

    if source != "gold" and not run:
        raise click.UsageError(_("--source {source} needs --run RUN.").format(source=source))
    with reading(file) as opened:
        chosen = results.run_named(opened, run) if run else None
        outcome = corpus.export_data(
            opened, out, format=format, split=split, source=source, run=chosen
        )
    for warning in outcome.warnings:
        note(_("Warning: {warning}").format(warning=warning))
    if as_json:
        emit({"path": str(out), "documents": outcome.documents, "warnings": list(outcome.warnings)})
    else:
        say(_("{n} documents written to {out}.").format(n=outcome.documents, out=out))
