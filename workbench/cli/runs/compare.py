"""`compare`: runs, prompts and baselines side by side on one test set."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from workbench.operations.evaluation.compare import Comparison
    from workbench.operations.evaluation.pairs import PartDifference, SystemPair

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
    rows: list[list[object]] = []
    for name in tasks.score_names(result.systems[0].scores, result.systems[0].evidence.info.id):
        for system in result.systems:
            measured = system.scores.get(name)
            values = (
                (measured.value, measured.low, measured.high)
                if measured is not None
                else (None,) * 3
            )
            rows.append([tasks.score_title(name), system.run.name, *values])
    table((_("Score"), _("Run"), _("Value"), _("Low"), _("High")), rows)
    say(_(result.definition))


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
    rows = [
        (
            term(test.test),
            tasks.score_title(test.score) if test.score else _("correct documents"),
            _p(test.p),
            _p(test.holm),
        )
        for test in pair.tests
    ]
    table((_("Test"), _("On"), _("p"), _("p, Holm")), rows)
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
    heads = (title, _("n"), _("First"), _("Second"), _("Difference"), _("Low"), _("High"))
    table(
        (*heads, _("p, Holm")),
        [
            [row.name, row.n, row.first, row.second, row.difference.value]
            + ([row.difference.low, row.difference.high] if row.n >= MIN_EXAMPLES else [None, None])
            + [_p(row.holm)]
            for row in rows[:SHOWN]
        ],
    )


def _show_settings(result: Comparison) -> None:
    from workbench.operations.runs import run_settings

    say()
    titles = run_settings.option_titles()
    rows = [
        [row.title(titles), *("–" if value is None else str(value) for value in row.values)]
        for row in result.settings
    ]
    table((_("Settings that differ"), *(system.run.name for system in result.systems)), rows)


def _p(value: float | None) -> str | None:
    """A p-value with three decimal places, or "< 0.001"."""
    if value is None:
        return None
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
