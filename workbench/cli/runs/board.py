"""`board` and `compare`: runs, prompts and baselines on one test set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.cli.documents.filters import checked, where_option
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.runs.evaluate import SPLITS, warn_of_training_texts
from workbench.cli.session import progress_line, project_argument, reading
from workbench.text.columns import Column, ValueKind, numbered

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import Board, BoardEntry
    from workbench.operations.evaluation.board_average import Average
    from workbench.operations.evaluation.compare import Comparison
    from workbench.operations.evaluation.pairs import System, SystemPair


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
    _show_board(entries, score or entries.score, baseline)


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


def _show_board(board: Board, score: str, over: BoardEntry | None) -> None:
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
    if board.ceiling is not None and (sentence := board.ceiling.sentence(score)):
        say(sentence)
    for entry in board.entries:
        warn_of_training_texts(entry.run.name, entry.trained_on, board.n)
    for other in board.others:
        note(_("{run} is not listed: {problem}", run=other.run.name, problem=other.problem))


SHOWN = 10  # labels, slices and documents that are printed


@click.command()
@project_argument
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("--split", type=SPLITS, default="dev", show_default=True, help=_("The test set."))
@click.option("--score", default="", help=_("The score to test. [default: that of the task]"))
@where_option
@as_json
def compare(
    file: Path, names: tuple[str, ...], split: str, score: str, where: str, as_json: bool
) -> None:
    """Compare runs, prompts and baselines on the same documents, from their stored predictions.

    Paired tests: bootstrap and approximate randomisation of the score, and McNemar's exact test of
    the correct documents; p is corrected for the number of pairs (Holm).
    """
    from workbench.operations.evaluation import compare as comparison
    from workbench.operations.evaluation.compare import comparison_report
    from workbench.operations.runs import results

    with reading(file) as opened:
        checked(opened, where)
        ids = [results.run_named(opened, name).id for name in names]
        with progress_line(_("Comparing")) as watch:
            result = comparison.compare(opened, ids, split, score=score, where=where, watch=watch)
    if as_json:
        return emit(comparison_report(result))
    _show_scores(result)
    for system in result.systems:
        warn_of_training_texts(system.run.name, system.trained_on, result.n)
    for pair in result.pairs:
        _show_pair(result, pair)
    if result.settings:
        _show_settings(result)


def _show_scores(result: Comparison) -> None:
    from workbench.tasks import spec as tasks

    message = ngettext(
        "{split}, {n:,} document, fingerprint {fingerprint}",
        "{split}, {n:,} documents, fingerprint {fingerprint}",
        result.n,
        split=term(result.split),
        fingerprint=result.fingerprint,
    )
    say(message)
    names = tasks.score_names(result.systems[0].scores, result.systems[0].evidence.info.id)
    columns = (
        Column(_("Score"), lambda row: tasks.score_title(row[0])),
        Column(_("Run"), lambda row: row[1].run.name),
        Column(_("Value"), partial(_bound, "value")),
        Column(_("Low"), partial(_bound, "low")),
        Column(_("High"), partial(_bound, "high")),
    )
    table(columns, [(name, system) for name in names for system in result.systems])
    say(_(result.definition))


def _bound(part: str, row: tuple[str, System]) -> float | None:
    name, system = row
    return getattr(system.scores.get(name), part, None)


def _show_pair(result: Comparison, pair: SystemPair) -> None:
    from workbench.operations.evaluation import pairs
    from workbench.tasks import spec as tasks

    first, second = (result.system(id).run.name for id in (pair.first, pair.second))
    say()
    say(_("{first} compared with {second}", first=first, second=second))
    say(
        _(
            "Both correct: {both}. Only first: {one}. Only second: {two}. Both wrong: {none}.",
            both=pair.both_right,
            one=len(pair.only_first),
            two=len(pair.only_second),
            none=len(pair.both_wrong),
        )
    )
    documents = _("correct documents")
    columns = (
        Column(_("Test"), lambda test: test.test, kind=ValueKind.TERM),
        Column(_("On"), lambda test: tasks.score_title(test.score) if test.score else documents),
        Column(_("p"), lambda test: test.p, kind=ValueKind.P),
        Column(_("p, Holm"), lambda test: test.holm, kind=ValueKind.P),
    )
    table(columns, pair.tests)
    for title, rows in ((_("Label"), pair.labels), (_("Slice"), pair.slices)):
        if rows:
            table(pairs.part_columns(title), rows[:SHOWN])
    keys = ", ".join(row.key for row in pair.only_first[:SHOWN])
    if keys:
        say(_("Only {first} correct: {keys}", first=first, keys=keys))
    keys = ", ".join(row.key for row in pair.only_second[:SHOWN])
    if keys:
        say(_("Only {first} correct: {keys}", first=second, keys=keys))


def _show_settings(result: Comparison) -> None:
    from workbench.operations.runs import run_settings

    say()
    titles = run_settings.option_titles()
    heads = (_("Settings that differ"), *(system.run.name for system in result.systems))
    rows = [
        [row.title(titles), *(value if value is None else str(value) for value in row.values)]
        for row in result.settings
    ]
    table(numbered(heads), rows)
