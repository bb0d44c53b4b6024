"""`repeat`: train the settings of runs with several seeds, on the splits or on every fold."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.on_cluster import several_on_cluster
from workbench.cli.session import CommandSession, layer_option, numbers, project_argument, session
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row
    from workbench.operations.experiments.repeat import Repeat, System


@click.command()
@project_argument
@click.argument("names", nargs=-1, metavar="[RUN]…")
@layer_option
@click.option(
    "--add",
    "added",
    multiple=True,
    metavar="SYSTEM",
    help=_('Add settings that no run has yet: "Title: MODEL KEY=VALUE …".'),
)
@click.option(
    "--seeds", default="1,2,3", show_default=True, callback=numbers, help=_("Random seeds.")
)
@click.option(
    "--folds",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    help=_("Number of folds of train and dev; 0: train and dev as they are."),
)
@click.option(
    "--teacher",
    default="",
    metavar="RUN",
    help=_(
        "Distillation: train each system without and with the probabilities of RUN; alpha, "
        "temperature and unlabelled are settings of a system."
    ),
)
@click.option(
    "--plan", "plan_only", is_flag=True, help=_("Show the runs and their states, then exit.")
)
@several_on_cluster
@as_json
def repeat(
    file: Path,
    names: tuple[str, ...],
    layer_name: str,
    added: tuple[str, ...],
    seeds: tuple[int, ...],
    folds: int,
    teacher: str,
    plan_only: bool,
    as_json: bool,
) -> None:
    """Train the settings of one or several RUNs with every seed, or on every fold, and report mean,
    standard deviation and interval; of several systems, the paired difference to the first one.

    Documents of test are in no fold. `label-errors --model` takes the predictions of all folds of a
    run. Finished runs with the same settings on the same data are used again: repeat the command to
    continue. Ctrl+C once ends after the current run, twice cancels it.
    """
    from workbench.operations.experiments.repeat import Repeat, RepeatSpec

    with session(file) as opened:
        systems = _systems(opened, names, layer_name, added)
        work = Repeat(opened.project, RepeatSpec(systems, seeds, folds, teacher))
        if not plan_only:
            follow_experiment(opened, work)
        report = work.report()
    emit(report) if as_json else _show(work, report)
    if not plan_only:
        check_complete(work)


def _systems(
    opened: CommandSession, names: tuple[str, ...], layer_name: str, added: tuple[str, ...]
) -> tuple[System, ...]:
    from workbench.operations.evaluation import folds
    from workbench.operations.experiments import repeat as operations
    from workbench.operations.runs import results

    project = opened.project
    chosen = [operations.system_of(results.run_named(project, name)) for name in names]
    if not (chosen or added):
        known = ", ".join(run.name for run in operations.offered(project))
        raise WorkbenchError(
            _("Missing RUN: nothing says what is to be trained."),
            hint=_("Runs: {known}. Settings without a run: --add.", known=known or _("none yet")),
        )
    if added:
        layer = layer_name or (chosen[0].spec.layer if chosen else "")
        layer = folds.layer_named(project, layer).name
        chosen += [operations.system(project, layer, text) for text in added]
    return tuple(chosen)


def _show(work: Repeat, report: dict[str, Any]) -> None:
    from workbench.operations.experiments.repeat import repeat_titles
    from workbench.tasks import spec as tasks

    say(_("{score} on {split}, layer {layer}.", **report))
    if tasks.is_error(report["score"]):
        say(_("The score is an error in its own unit: lower is better."))
    table(work.columns(), work.rows)
    runs = [
        Column(
            title,
            kind=ValueKind.SHARE,
            display=partial(_score, work, number),
        )
        for number, title in enumerate(repeat_titles(work.spec))
    ]
    say()
    table((Column(_("System"), lambda row: row.title), *runs), work.students)
    if work.differences:
        say()
        table(work.difference_columns(), work.differences)
    say()
    say(work.method)


def _score(work: Repeat, number: int, row: Row) -> str | None:
    from workbench.tasks import spec as tasks

    score = work.score_of(row.first.cells[number])
    return None if score is None else tasks.score_text(work.score, score)
