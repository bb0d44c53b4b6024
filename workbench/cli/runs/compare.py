"""`compare`: runs, prompts and baselines side by side on one test set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.cli.documents.where import checked, where_option
from workbench.cli.output import ProgressLine, as_json, emit, say, table
from workbench.cli.runs.evaluate import SPLITS
from workbench.cli.runs.train_overlap_warning import warn_of_training_texts
from workbench.cli.session import project_argument, reading
from workbench.text.columns import Column, Kind, numbered

if TYPE_CHECKING:
    from workbench.operations.evaluation.compare import Comparison
    from workbench.operations.evaluation.pairs import PartDifference, System, SystemPair

HOLM = Column(_("p, Holm"), lambda row: row.holm, kind=Kind.P)
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
        progress = ProgressLine(_("Comparing"))
        watch = Watch(progress.show)
        result = comparison.compare(opened, ids, split, score=score, where=where, watch=watch)
        progress.end()
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
        Column(_("Value"), partial(_measured, "value")),
        Column(_("Low"), partial(_measured, "low")),
        Column(_("High"), partial(_measured, "high")),
    )
    table(columns, [(name, system) for name in names for system in result.systems])
    say(_(result.definition))


def _measured(part: str, row: tuple[str, System]) -> float | None:
    name, system = row
    return getattr(system.scores.get(name), part, None)


def _show_pair(result: Comparison, pair: SystemPair) -> None:
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
        Column(_("Test"), lambda test: test.test, kind=Kind.TERM),
        Column(_("On"), lambda test: tasks.score_title(test.score) if test.score else documents),
        Column(_("p"), lambda test: test.p, kind=Kind.P),
        HOLM,
    )
    table(columns, pair.tests)
    _show_parts(_("Label"), pair.labels)
    _show_parts(_("Slice"), pair.slices)
    keys = ", ".join(row.key for row in pair.only_first[:SHOWN])
    if keys:
        say(_("Only {first} correct: {keys}", first=first, keys=keys))
    keys = ", ".join(row.key for row in pair.only_second[:SHOWN])
    if keys:
        say(_("Only {first} correct: {keys}", first=second, keys=keys))


def _show_parts(title: str, rows: tuple[PartDifference, ...]) -> None:
    from workbench.operations.evaluation.slices import MIN_EXAMPLES

    if not rows:
        return
    columns = (
        Column(title, lambda row: row.name),
        Column(_("n"), lambda row: row.n),
        Column(_("First"), lambda row: row.first),
        Column(_("Second"), lambda row: row.second),
        Column(_("Difference"), lambda row: row.difference.value),
        Column(_("Low"), lambda row: row.difference.low if row.n >= MIN_EXAMPLES else None),
        Column(_("High"), lambda row: row.difference.high if row.n >= MIN_EXAMPLES else None),
        HOLM,
    )
    table(columns, rows[:SHOWN])


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
