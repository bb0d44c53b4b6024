"""`search`: train with different settings, chosen by Optuna, and compare the scores on dev."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.on_cluster import several_on_cluster
from workbench.cli.session import (
    CommandSession,
    key_values,
    layer_option,
    project_argument,
    session,
)

if TYPE_CHECKING:
    from workbench.operations.experiments.search import Importance, Search, SearchSpec


@click.command()
@project_argument
@layer_option
@click.option("--model", help=_("Pretrained model: a name from `models list`, or a folder."))
@click.option("--task", help=_("Task to train. [default: the only task that fits the layer]"))
@click.option(
    "--range",
    "ranges",
    multiple=True,
    callback=key_values,
    metavar="KEY=RANGE",
    help=_(
        "Values of a training option: learning_rate=1e-5..1e-4:log, dropout=0..0.3 (linear), "
        "epochs=3..12 (whole numbers), or a list: batch_size=8,16,32. [default: ranges around the "
        "automatic values]"
    ),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("A training option of all trials; `train --options` lists them."),
)
@click.option("--trials", type=click.IntRange(min=1), help=_("Number of trials. [default: 40]"))
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help=_("Start no trial after these minutes, in place of a number of trials."),
)
@click.option(
    "--sampler",
    type=click.Choice(("tpe", "random")),
    default="tpe",
    show_default=True,
    help=_("How trials are chosen: by the scores of the others, or at random."),
)
@click.option("--no-pruning", is_flag=True, help=_("Train every trial to the end, also weak ones."))
@click.option("--score", default="", help=_("Score on dev to search by. [default: the main score]"))
@click.option(
    "--seed", type=int, default=1, show_default=True, help=_("Random seed of the search.")
)
@click.option(
    "--keep-weights", is_flag=True, help=_("Keep the weights of all trials, not of the best only.")
)
@click.option(
    "--continue",
    "name",
    default="",
    metavar="NAME",
    help=_("Continue a search, such as search-1; with --trials or --minutes beyond its budget."),
)
@click.option(
    "--plan", "plan_only", is_flag=True, help=_("Show the ranges and finished trials, then exit.")
)
@several_on_cluster
@as_json
def search(
    file: Path,
    layer_name: str,
    model: str | None,
    task: str | None,
    ranges: dict[str, str],
    settings: dict[str, str],
    trials: int | None,
    minutes: float | None,
    sampler: str,
    no_pruning: bool,
    score: str,
    seed: int,
    keep_weights: bool,
    name: str,
    plan_only: bool,
    as_json: bool,
) -> None:
    """Search for the training settings with the best score on dev of a layer of project FILE.

    Each trial is an ordinary run, archived in the list of runs; that of the best trial is listed.
    The settings without a search are trained too. Ctrl+C once ends after the current trial, twice
    cancels it; --continue goes on.
    """
    from workbench.operations.experiments import search as operations

    if trials is not None and minutes is not None:
        raise click.UsageError(_("--trials and --minutes exclude each other."))
    if not name and model is None:
        raise click.UsageError(_("Missing {what}.", what="--model"))
    budget: dict[str, Any] = {}
    if trials or minutes:
        budget = {"trials": trials, "minutes": minutes}
    with session(file) as opened:
        if name:
            spec = replace(_earlier(opened, name), **budget)
        else:
            spec = operations.described(
                opened.project, str(model), task or "", layer_name, ranges, settings
            )
            chosen: dict[str, Any] = {"sampler": sampler, "prune": not no_pruning, "seed": seed}
            weights = operations.EVERY if keep_weights else operations.BEST
            spec = replace(spec, **budget, **chosen, score=score, weights=weights)
        work = operations.Search(opened.project, spec, operations.trials(opened.project, spec))
        if not plan_only:
            follow_experiment(opened, work)
        verdict = work.verdict()
        importance: tuple[Importance, ...] = ()
        if len(work.finished) >= operations.LEAST_FOR_IMPORTANCE and not work.error:
            importance = work.importance(opened.queue)
        report = work.report() | {
            "verdict": to_plain(verdict),
            "importance": [to_plain(item) for item in importance],
        }
    emit(report) if as_json else _show(work, report)
    if not plan_only and work.error:
        check_complete(work)


def _earlier(opened: CommandSession, name: str) -> SearchSpec:
    from workbench.operations.experiments import search as operations

    known = operations.all_kept(opened.project)
    if name not in known:
        raise WorkbenchError(
            _("The project has no search {name!r}.", name=name),
            hint=_("Searches: {names}.", names=", ".join(known) or _("none")),
        )
    return known[name]


def _show(work: Search, report: dict[str, Any]) -> None:
    from workbench.tasks import spec as tasks

    for name, text in report["ranges"].items():
        say(f"{name}: {text}")
    rows = sorted(
        work.trials,
        key=lambda cell: work.score_of(cell) or 0.0,
        reverse=not tasks.is_error(work.score),
    )
    table(work.columns(), (work.cells[0], *rows))
    say(report["verdict"]["sentence"])
    for item in report["importance"]:
        say(
            _(
                "{name}: {share:.0%} of the variance (80% interval {low:.0%} to {high:.0%})",
                **item,
            )
        )
