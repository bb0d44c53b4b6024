"""`import`, `labels` and `export-data`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.cli.choices import ContributionChoice
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import key_values, project_argument, reading, session
from workbench.text.columns import numbered, of_records
from workbench.text.segmenters import base as segmenters

if TYPE_CHECKING:
    from workbench.operations.transfer.import_outcome import ImportOutcome
    from workbench.operations.transfer.import_preview import ImportPreview


SPLITS = ("train", "dev", "test")


def _roles(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    roles = []
    for value in values:
        role, sign, column = value.partition("=")
        if not sign or not role or not column:
            raise click.BadParameter(
                _(
                    "{value!r} is not of the form ROLE=COLUMN, for example text=body or "
                    "label:topic=kind.",
                    value=value,
                )
            )
        roles.append((role, column))
    return tuple(roles)


@click.command("import")
@project_argument
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATA...")
@click.option(
    "--format",
    "format",
    type=ContributionChoice("importer"),
    help=_("Input format; detected from the content by default."),
)
@click.option(
    "--split",
    type=click.Choice((*SPLITS, "by-name")),
    help=_(
        "Split for all imported documents. by-name: use the split that each file name "
        "mentions (train, dev, valid, test, …), unless the data specify one."
    ),
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    callback=_roles,
    metavar="ROLE=COLUMN",
    help=_(
        "Role of a column; columns of CoNLL files are named by number. Several columns may have "
        "the same tag:LAYER or labels:LAYER. Roles: id text text_b tokens (a list) label:LAYER "
        "labels:LAYER (several, between semicolons; or indicators 0 and 1) "
        "tag:LAYER spans:LAYER chains:LAYER score:LAYER written:LAYER split group person "
        "meta:NAME question choice choices answer:LAYER. Columns named like a role have it."
    ),
)
@click.option(
    "--duplicates",
    type=click.Choice(("skip", "skip-text", "suggest", "suggest-text", "add")),
    default="skip",
    show_default=True,
    help=_(
        "How to handle a record whose key and text already exist in the project: skip it, "
        "add its labels as suggestions, or import it again. Variants ending in -text also "
        "apply if only the text exists, under another key; by default such a record is "
        "imported and counted."
    ),
)
@click.option(
    "--near",
    type=click.FloatRange(0.3, 1.0),
    help=_(
        "Also count near-duplicates with at least this Jaccard similarity; --duplicates skip-text "
        "skips them."
    ),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Set an option of the importer, for example of a plugin."),
)
@click.option("--encoding", help=_("Text encoding; detected by default."))
@click.option(
    "--dry-run",
    is_flag=True,
    help=_("Preview the import without changes: columns, spans per column, records with errors."),
)
@click.option(
    "--layer", "target_layer", help=_("Layer for labels whose layer the file does not name.")
)
@click.option(
    "--people",
    default="",
    metavar="all|files|first|one:NAME",
    help=_(
        "Files that name annotators. all: the labels of each person stay theirs. files: each "
        "file holds the labels of the person after whom it is named. first: one version of each "
        "document, the curated one or else the first, as your labels. one:NAME: only the labels "
        "of that person. By default all if several people labelled a document, else first."
    ),
)
@click.option(
    "--segmenter",
    type=ContributionChoice(segmenters.KIND),
    help=_(
        "Word segmenter whose words are stored as tokens of texts without tokens; for Chinese, "
        "Japanese, Thai and other texts without spaces. By default none are stored, and each "
        "letter of such a text is a word."
    ),
)
@as_json
def import_data(
    file: Path,
    data: tuple[Path, ...],
    format: str | None,
    split: str | None,
    mapping: tuple[tuple[str, str], ...],
    duplicates: str,
    near: float | None,
    settings: dict[str, str],
    encoding: str | None,
    target_layer: str | None,
    segmenter: str | None,
    people: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import DATA files into project FILE. A folder or a zip archive stands for the data files in
    it. Imports are all-or-nothing and can be undone. The exit code is 1 if every record has an
    error.
    """
    from workbench.operations.transfer import archives, data_import
    from workbench.operations.transfer.import_choice import chosen, left_out, links_out

    warnings, data = links_out(data), chosen(data)
    click.get_current_context().call_on_close(lambda: archives.remove(data))
    read_as: dict[str, Any] = {
        "format": format,
        "encoding": encoding,
        "mapping": mapping or None,
        "target_layer": target_layer,
        "settings": settings,
    }
    if dry_run:
        reasons = left_out(data)
        data = tuple(path for path in data if path not in reasons)
        previews = _previews(file, data, read_as)
        previews[0] = replace(
            previews[0], warnings=(*warnings, *reasons.values(), *previews[0].warnings)
        )
        emit(_dry_run_json(data, previews)) if as_json else _show_dry_run(data, previews)
        return
    offer = "" if split else _offered_splits(data)
    if offer and not as_json:
        note(_("Warning: {warning}", warning=offer))
    with (
        session(file) as opened,
        opened.progress(_("Importing"), quiet=as_json) as watch,
        opened.cancelling(watch),
    ):
        outcome = data_import.import_files(
            opened.project,
            opened.queue,
            list(data),
            split=split,
            duplicates=duplicates,
            near=near,
            segmenter=segmenter,
            people=people,
            warnings=warnings,
            watch=watch,
            **read_as,
        )
    report = _report(outcome, offer if as_json else "")
    emit(report) if as_json else _show_import(report, outcome.sentence)
    if outcome.failed:
        first = outcome.skipped[0]
        raise ImportFailed(
            _(
                "No record was imported. The first error: {file}, line {line}: {reason}.",
                file=first.file,
                line=first.line,
                reason=first.reason.rstrip("."),
            )
        )


def _previews(file: Path, data: tuple[Path, ...], read_as: dict[str, Any]) -> list[ImportPreview]:
    """One preview per file, with the layer names of the project; `read_as`: see `preview`."""
    from workbench.operations.schema import labels as schema
    from workbench.operations.transfer import import_preview

    with reading(file) as opened:
        layers = schema.layers(opened)
    return [import_preview.preview(path, layers=layers, **read_as) for path in data]


def _report(outcome: ImportOutcome, offer: str) -> dict[str, Any]:
    """`offer`: another warning, "" for none."""
    return {
        "documents": outcome.documents,
        "labelled": outcome.labelled,
        "labels": outcome.labels,
        "splits": dict(outcome.splits),
        "spans": outcome.spans,
        "questions": outcome.questions,
        "skipped": [
            {"file": str(record.file), "line": record.line, "reason": record.reason}
            for record in outcome.skipped
        ],
        "warnings": [*outcome.warnings, *([offer] if offer else [])],
        "suggestions": outcome.suggestions,
        "same_texts": asdict(outcome.same_texts),
        "people": dict(outcome.people),
        "added": outcome.added,
    }


def _offered_splits(data: tuple[Path, ...]) -> str:
    """A sentence about the splits that the file names suggest, "" if they suggest none."""
    from workbench.operations.transfer.import_choice import described_splits, suggested_splits

    if not (splits := suggested_splits(data)):
        return ""
    return _(
        "The file names suggest splits: {splits}. To set them, use --split by-name.",
        splits=described_splits(splits),
    )


def _show_import(report: dict[str, Any], sentence: str) -> None:
    say(sentence)
    for item in report["skipped"][:20]:
        note(_("Skipped {file}, line {line}: {reason}", **item))
    if len(report["skipped"]) > 20:
        note(
            ngettext(
                "… and {n:,} more skipped record. Use --json to list all of them.",
                "… and {n:,} more skipped records. Use --json to list all of them.",
                len(report["skipped"]) - 20,
            )
        )
    for warning in report["warnings"]:
        note(_("Warning: {warning}", warning=warning))


# ---------------------------------------------------------------- --dry-run


def _dry_run_json(files: Sequence[Path], previews: Sequence[ImportPreview]) -> list[dict[str, Any]]:
    """One object per file."""
    return [_preview_json(file, preview) for file, preview in zip(files, previews, strict=True)]


def _preview_json(file: Path, preview: ImportPreview) -> dict[str, object]:
    return {
        "file": str(file),
        "format": preview.format,
        "encoding": preview.encoding,
        "columns": [
            {"name": name, "role": role, "spans": preview.spans.get(name)}
            for name, role in _column_roles(preview)
        ],
        "checked": preview.checked,
        "complete": preview.complete,
        "failed": preview.failed,
        "problems": [{"line": line, "reason": reason} for line, reason in preview.problems],
        "warnings": list(preview.warnings),
        "question": preview.question,
        "people": dict(preview.people),
    }


def _show_dry_run(files: Sequence[Path], previews: Sequence[ImportPreview]) -> None:
    from workbench.operations.transfer.import_people import listed

    for file, preview in zip(files, previews, strict=True):
        say(
            _(
                "{file}: format {format} ({why}), encoding {encoding}",
                file=file,
                format=preview.format,
                why=preview.why,
                encoding=preview.encoding,
            )
        )
        _show_columns(preview)
        message = (
            _("Records with errors: {failed:,} of {checked:,}")
            if preview.complete
            else _("Records with errors: {failed:,} of the first {checked:,}")
        )
        say(message.format(checked=preview.checked, failed=preview.failed))
        if preview.people:
            say(_("Labels by {people}.", people=listed(preview.people.items())))
        for line, reason in preview.problems:
            note(_("Line {line:,}: {reason}", line=line, reason=reason))
        for warning in (*preview.warnings, *([preview.question] if preview.question else [])):
            note(_("Warning: {warning}", warning=warning))
        say()


def _show_columns(preview: ImportPreview) -> None:
    head: tuple[str, ...] = (_("Column"), _("Role"), _("Example"))
    example = next((row.cells for row in preview.rows if not row.problem), ())
    rows: list[tuple[object, ...]] = [
        (name, role or _("left out"), " ".join(cell.split())[:60])
        for (name, role), cell in zip(
            _column_roles(preview), (*example, *[""] * len(preview.columns)), strict=False
        )
    ]
    if preview.spans:
        head = (*head[:2], _("Spans"), head[2])
        rows = [(*row[:2], preview.spans.get(str(row[0])), row[2]) for row in rows]
    table(numbered(head), rows)
    if preview.spans and preview.examined:
        say(preview.examined)


def _column_roles(preview: ImportPreview) -> list[tuple[str, str]]:
    """(column, role) in file order."""
    roles = {column: role for role, column in preview.mapping}
    return [(name, roles.get(name, "")) for name in preview.columns]


@click.command()
@project_argument
@as_json
def labels(file: Path, as_json: bool) -> None:
    """List the layers and labels of FILE: key, colour and number of class labels and spans.

    Sublabels follow their parent; `glossbench relabel parent` sets it.
    """
    from workbench.operations.annotation import questions
    from workbench.operations.documents import corpus
    from workbench.operations.schema.labels import columns

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
        several = any("parent" in label for label in layer["labels"])
        described = columns() if several else columns()[:-1]
        table(of_records(described), [{"parent": "", **label} for label in layer["labels"]])
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
    type=click.Choice(("gold", "people", "predictions", "both")),
    default="gold",
    show_default=True,
    help=_(
        "Labels to export: gold labels of all layers, those of all people (for label-studio and "
        "prodigy), predictions (only for the layer of "
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

    if source in ("predictions", "both") and not run:
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
