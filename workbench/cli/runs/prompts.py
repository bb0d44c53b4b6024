"""`prompts`: the prompts of a project, and their answers compared."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.evaluate import SPLITS
from workbench.cli.session import project_argument, reading
from workbench.text.columns import TERMINAL

SEGMENTS = ("disagreements", "both-wrong", "no-answer", "all")  # as in operations, without numpy
LONGEST = 60  # characters of a text that are printed


@click.group("prompts")
def prompts() -> None:
    """List and compare the prompts of a project."""


@prompts.command("compare")
@project_argument
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--split", type=SPLITS, default="dev", show_default=True, help=_("The documents."))
@click.option(
    "--show",
    "segment",
    type=click.Choice(SEGMENTS),
    help=_("Which documents to list. [default: disagreements; all with one run]"),
)
@as_json
def compare(
    file: Path, first: str, second: str | None, split: str, segment: str | None, as_json: bool
) -> None:
    """Compare the answers of two runs of prompts on FILE, text by text.

    A and B are names of runs; B may also be a trained run. A text from whose reply no label can be
    read has no answer, which is wrong. Without B the answers of A are listed.
    """
    from workbench.operations.prompts import prompt_answers as operations
    from workbench.operations.runs import results

    with reading(file) as project:
        other = results.run_named(project, second).id if second else None
        id = results.run_named(project, first).id
        comparison = operations.answers(project, id, other, split=split)
    shown = segment or (operations.DISAGREE if second else operations.ALL)
    rows = comparison.shown(shown, operations.FIRST)
    if as_json:
        return emit(operations.report(comparison, rows))
    names = [run.run.name for run in comparison.runs]
    about = ngettext(
        "{n:,} document of {split}",
        "{n:,} documents of {split}",
        len(comparison.rows),
        split=term(split),
    )
    say(about)
    for letter, name in zip("AB", names, strict=False):
        say(f"{letter}: {name}")
    columns = operations.count_columns(TERMINAL)[: 1 + len(names)]
    table(columns, operations.counts(comparison))
    if second:
        joint = comparison.joint
        message = _(
            "Both right: {both}. Only A: {first}. Only B: {second}. Both wrong: {neither}.",
            both=joint[True, True],
            first=joint[True, False],
            second=joint[False, True],
            neither=joint[False, False],
        )
        say(message)
        say(operations.verdict(comparison))
    say()
    table(operations.columns(comparison, longest=LONGEST), rows)
