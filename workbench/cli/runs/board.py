"""`board`: every run, prompt and baseline of a layer on one test set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.cli.documents.where import checked, where_option
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.runs.train_overlap_warning import warn_of_training_texts
from workbench.cli.session import project_argument, reading

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import Board, BoardEntry
    from workbench.operations.evaluation.board_average import Average

SPLITS = click.Choice(("train", "dev", "test"))


@click.command()
@project_argument
@click.option(
    "--layer",
    "layers",
    multiple=True,
    help=_(
        "The layer. Several of them: the main scores of each system in all of them, and their "
        "unweighted mean. [default: that of the newest run]"
    ),
)
@click.option("--split", type=SPLITS, default="dev", show_default=True, help=_("The test set."))
@click.option("--score", default="", help=_("Sort by this score. [default: that of the task]"))
@click.option(
    "--over", default="", help=_("Show gains over this run, and how many errors are gone.")
)
@click.option("--archived", is_flag=True, help=_("List archived runs as well."))
@where_option
@click.option("--csv", "as_csv", is_flag=True, help=_("Print a CSV table with all scores."))
@click.option("--markdown", is_flag=True, help=_("Print a Markdown table."))
@as_json
def board(
    file: Path,
    layers: tuple[str, ...],
    split: str,
    score: str,
    over: str,
    archived: bool,
    where: str,
    as_csv: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """List every run, prompt and baseline of a layer on the same documents, best first.

    From stored predictions against the current gold labels, with 95% intervals, training time,
    size, and CPU seconds per 1,000 documents. The fewer errors of a gain are those of the run it is
    over that are gone: (score - baseline) / (1 - baseline).

    With several layers, runs of one group, or made from the same model in the same way, are one
    system.
    """
    from workbench.operations.evaluation import board as boards
    from workbench.operations.evaluation import board_average, board_export

    if as_json + as_csv + markdown > 1:
        raise click.UsageError(_("Only one of --json, --csv and --markdown is possible."))
    if len(layers) > 1:
        if score or over:
            raise click.UsageError(_("--score and --over are for the board of one layer."))
        with reading(file) as opened:
            checked(opened, where)
            several = board_average.average(opened, layers, split, archived=archived, where=where)
        return _show_average(several, as_json=as_json, as_csv=as_csv, markdown=markdown)
    with reading(file) as opened:
        checked(opened, where)
        layer = layers[0] if layers else ""
        entries = boards.board(opened, layer, split, archived=archived, where=where)
    if score and score not in entries.names:
        known = ", ".join(entries.names) or _("none")
        raise click.UsageError(
            _("There is no score {score!r}; scores: {known}.", score=score, known=known)
        )
    baseline = entries.named(over) if over else None
    if as_json:
        return emit(board_export.board_report(entries, score, baseline))
    if as_csv:
        return say(board_export.to_csv(entries, score, baseline).rstrip("\n"))
    if markdown:
        return say(board_export.to_markdown(entries, score, baseline).rstrip("\n"))
    _show(entries, score or entries.score, baseline)


def _show_average(average: Average, *, as_json: bool, as_csv: bool, markdown: bool) -> None:
    from workbench.operations.evaluation import board_average

    if as_json:
        return emit(board_average.report(average))
    if as_csv or markdown:
        make = board_average.to_csv if as_csv else board_average.to_markdown
        return say(make(average).rstrip("\n"))
    say(f"{term(average.split)}: {board_average.documents_text(average)}")
    table(board_average.columns(average), average.systems)
    say(_(board_average.DEFINITION))
    for sentence in board_average.notes(average):
        note(sentence)
    return None


def _show(board: Board, score: str, over: BoardEntry | None) -> None:
    from workbench.operations.evaluation.board_export import columns
    from workbench.operations.evaluation.quality import interval_method

    message = ngettext(
        "Layer {layer}, {split}, {n:,} document, fingerprint {fingerprint}",
        "Layer {layer}, {split}, {n:,} documents, fingerprint {fingerprint}",
        board.n,
        **vars(board) | {"split": term(board.split)},
    )
    say(message)
    if board.where:
        say(_("Query: {query}", query=board.where))
    table(columns(score, over), board.sorted_by(score))
    if board.definition:
        say(_(board.definition))
    if board.intervals is not None:
        say(interval_method(board.intervals))
    for entry in board.entries:
        warn_of_training_texts(entry.run.name, entry.trained_on, board.n)
    for other in board.others:
        note(_("{run} is not listed: {problem}", run=other.run.name, problem=other.problem))
