"""`splits`: assign submitted documents to train, dev and test, or preview this with `--dry-run`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import record

if TYPE_CHECKING:
    from workbench.operations.documents.splits import SplitChoice, SplitPreview
    from workbench.project.project import Project

SPLITS = ("train", "dev", "test")


def _shares(_context: click.Context, _parameter: click.Parameter, value: str) -> dict[str, float]:
    """Three percentages, or three fractions that sum to 1."""
    from workbench.operations.documents.splits import checked_shares

    try:
        train, dev, test = (float(part) for part in re.split(r"[,/:]", value))
    except ValueError:
        message = _("{value!r} is not of the form TRAIN,DEV,TEST, for example 80,10,10.")
        raise click.BadParameter(message.format(value=value)) from None
    scale = 100 if abs(train + dev + test - 1) < 1e-6 else 1
    try:
        return checked_shares(train * scale, dev * scale, test * scale)
    except SpecError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@project_argument
@click.option(
    "--shares",
    default="80,10,10",
    show_default=True,
    callback=_shares,
    metavar="TRAIN,DEV,TEST",
    help=_("Percentages that sum to 100."),
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help=_("Random seed. [default: the seed of the project]"),
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="NAME",
    help=_(
        "Assign the documents submitted in this layer, stratified by its labels. Can be "
        "given several times; all layers by default."
    ),
)
@click.option(
    "--anew",
    is_flag=True,
    help=_("Reassign documents that already have a split; by default they keep it."),
)
@click.option(
    "--by",
    "field",
    default="",
    metavar="FIELD",
    help=_(
        "Train on some values of a metadata field and test on others, such as languages or domains."
    ),
)
@click.option(
    "--train-on",
    multiple=True,
    metavar="VALUE",
    help=_("Value of the field for train and dev, by their shares; several times for several."),
)
@click.option(
    "--test-on",
    multiple=True,
    metavar="VALUE",
    help=_("Value of the field for test. [default: all other values]"),
)
@where_option
@click.option("--dry-run", is_flag=True, help=_("Preview the splits without changes."))
@as_json
def splits(
    file: Path,
    shares: dict[str, float],
    seed: int | None,
    layers: tuple[str, ...],
    anew: bool,
    field: str,
    train_on: tuple[str, ...],
    test_on: tuple[str, ...],
    where: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Assign the submitted documents of FILE to train, dev and test.

    Each label is divided in the given proportions. Documents of one group and equal texts stay in
    the same split. The change is one undo step. Documents that are not submitted keep their split.
    With --by, values of the metadata decide what is test; `evaluate --json` scores each of them.
    """
    from workbench.operations.documents import splits as operations

    values = {
        "shares": shares,
        "keep": not anew,
        "where": where,
        "by": field,
        "train_on": train_on,
        "test_on": test_on,
    }
    if dry_run:
        with reading(file) as project:
            choice = _choice(project, layers, seed, values)
            data = operations.split_data(project, choice.layers, choice.by)
            preview = operations.preview_splits(data, choice)
    else:
        with session(file) as opened:
            choice, watch = _choice(opened.project, layers, seed, values), Watch()
            with opened.cancelling(watch):
                preview = operations.divide(opened.project, choice, watch=watch)
    emit(_as_dict(choice, preview, dry_run)) if as_json else _show(preview, dry_run)


def _choice(
    project: Project, names: tuple[str, ...], seed: int | None, values: dict[str, Any]
) -> SplitChoice:
    from workbench.operations.documents.splits import SplitChoice, split_layers
    from workbench.operations.schema import labels

    known = split_layers(project)
    for name in names:
        labels.layer_named(project, name)
    chosen = names or tuple(name for name, submitted in known.items() if submitted)
    if not any(known[name] for name in chosen):
        raise SpecError(
            _("No document is submitted, so there is nothing to assign."),
            hint=_("Submit documents in Annotate, or import labelled documents."),
        )
    layers = tuple(dict.fromkeys(chosen))
    ids = matching(project, values.pop("where"))
    only = None if ids is None else frozenset(ids)
    return SplitChoice(layers, project.seed if seed is None else seed, ids=only, **values)


def _as_dict(choice: SplitChoice, preview: SplitPreview, dry_run: bool) -> dict[str, object]:
    from workbench.operations.documents import splits as operations

    columns = operations.columns()
    return {
        "dry_run": dry_run,
        "shares": dict(choice.shares),
        "seed": choice.seed,
        "layers": list(choice.layers),
        "anew": not choice.keep,
        "by": choice.by,
        "train_on": list(choice.train_on),
        "test_on": list(choice.test_on),
        "splits": dict(preview.counts),
        "labels": [record(columns, label) for label in preview.labels],
        "changed": preview.changed,
        "kept": preview.kept,
        "left_test": preview.left_test,
        "outside": preview.outside,
        "warnings": list(preview.warnings),
    }


def _show(preview: SplitPreview, dry_run: bool) -> None:
    from workbench.operations.documents import splits as operations

    table(operations.columns(), preview.rows)
    if dry_run:
        message = ngettext(
            "{n:,} document would change its split.",
            "{n:,} documents would change their split.",
            preview.changed,
        )
    else:
        message = ngettext(
            "{n:,} document changed its split.",
            "{n:,} documents changed their split.",
            preview.changed,
        )
    say(message.format(n=preview.changed))
    for warning in preview.warnings:
        note(_("Warning: {warning}", warning=warning))
