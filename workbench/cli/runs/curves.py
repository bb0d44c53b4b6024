"""`curves`: train systems on growing numbers of labels, and read off how many are needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.ladder import (
    added_option,
    parts_option,
    plan_option,
    settings_option,
    systems,
)
from workbench.cli.runs.on_cluster import several_on_cluster
from workbench.cli.session import layer_option, project_argument, session

if TYPE_CHECKING:
    from workbench.operations.experiments.curves import Curves, CurvesResult
    from workbench.tasks.spec import TaskInfo


@click.command()
@project_argument
@layer_option
@click.option(
    "--systems",
    "names",
    default="",
    help=_(
        "Systems separated by commas, which are rungs of the ladder: random, frozen-bert, bert, "
        "adapted and the others. [default: random,frozen-bert,bert]"
    ),
)
@added_option
@parts_option
@click.option(
    "--sizes",
    default="",
    help=_(
        "Numbers of labels: “25,100,400”, “25,50,…” to go on up to all of train; all is the "
        "number in train. [default: 25,50,…]"
    ),
)
@click.option(
    "--draws",
    default=3,
    show_default=True,
    type=click.IntRange(1, 50),
    help=_("Random parts of train for each number of labels."),
)
@click.option("--score", default="", help=_("Score that is compared. [default: that of the task]"))
@click.option(
    "--target",
    type=float,
    help=_("Score to read off the labels for: in percent, an error in its own unit."),
)
@click.option("--for", "system", default="", help=_("System of the sentence. [default: the best]"))
@click.option("--reference", default="", help=_("System to compare with. [default: the first one]"))
@settings_option
@plan_option
@click.option("--csv", "as_csv", is_flag=True, help=_("Print a CSV table."))
@click.option("--markdown", is_flag=True, help=_("Print a Markdown table."))
@several_on_cluster
@as_json
def curves(
    file: Path,
    layer_name: str,
    names: str,
    added: tuple[str, ...],
    parts: dict[str, str],
    sizes: str,
    draws: int,
    score: str,
    target: float | None,
    system: str,
    reference: str,
    settings: dict[str, str],
    plan_only: bool,
    as_csv: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """Compare systems over growing numbers of labels on a layer of project FILE, by default a
    BiLSTM without pretraining, a frozen and a fine-tuned BERT. A power law is fitted to the mean of
    the draws; from it the labels that a score needs are read off, and what a system has over a
    reference: a higher start, a higher slope, a higher asymptote.

    Draws are random parts of train, the same for all systems; every class occurs. Finished runs
    with the same settings on the same data are used again: repeat the command to continue, with
    more --draws or --sizes to add runs. The runs are archived in the group “Learning curves”.
    Ctrl+C once ends after the current run, twice cancels it.
    """
    from workbench.operations.evaluation import folds
    from workbench.operations.experiments import curves as operations
    from workbench.operations.experiments import ladder
    from workbench.tasks import spec as tasks
    from workbench.text import columns as texts

    if as_json + as_csv + markdown > 1:
        raise click.UsageError(_("Only one of --json, --csv and --markdown is possible."))
    with session(file) as opened:
        layer = folds.layer_named(opened.project, layer_name).name
        task = ladder.task_of(opened.project, layer)
        _check_score(tasks.info(task), score)
        have = operations.train_size(opened.project, task, layer)
        chosen = systems(names, added, operations.SYSTEMS)
        spec = operations.CurvesSpec(
            task,
            layer,
            chosen,
            tuple(range(1, draws + 1)),
            settings=settings,
            parts=parts,
            sizes=operations.sizes_in(sizes, have),
            score=score,
        )
        work = operations.Curves(opened.project, spec)
        for name in filter(None, (system, reference)):
            _check_system(work, name)
        if not plan_only:
            follow_experiment(opened, work)
        result = work.measure(reference)
        if target is None:
            goal = operations.usual_target(result, is_error=work.is_error)
        else:
            goal = target if work.is_error else target / 100
        described = operations.columns(work, result, goal)
        if as_json:
            emit(operations.to_json(work, result, goal))
        elif as_csv:
            say(texts.delimited(texts.cells(described, result.rows)).rstrip("\n"))
        elif markdown:
            say(texts.markdown(described, result.rows))
        else:
            _show(work, result, goal, system, have)
    if not plan_only:
        check_complete(work)


def _check_score(info: TaskInfo, score: str) -> None:
    names = [item.name for item in info.scores]
    if score and score not in names:
        raise WorkbenchError(
            _("Task {task} has no score {name!r}.", task=info.id, name=score),
            hint=_("Scores: {names}.", names=", ".join(names)),
        )


def _check_system(work: Curves, name: str) -> None:
    if name not in work.rungs:
        raise WorkbenchError(
            _("The experiment has no system {name!r}.", name=name),
            hint=_("Systems: {names}.", names=", ".join(work.rungs)),
        )


def _show(work: Curves, result: CurvesResult, target: float | None, system: str, have: int) -> None:
    from workbench.operations.experiments import curves as operations

    say(
        ngettext(
            "{score} on {split}, layer {layer}; {sizes} labels, {n} draw.",
            "{score} on {split}, layer {layer}; {sizes} labels, {n} draws.",
            len(work.spec.seeds),
            score=work.score,
            split=work.split,
            layer=work.spec.layer,
            sizes=", ".join(f"{size:,}" for size in work.spec.sizes),
        )
    )
    if work.is_error:
        say(_("The score is an error in its own unit: lower is better."))
    table(operations.columns(work, result, target), result.rows)
    if target is not None:
        best = system or operations.best(result, is_error=work.is_error)
        say(operations.verdict(work, result, best, target, have))
        for row in result.rows:
            if why := operations.reason(row, row.needed(target)):
                say(_("{title}: {message}", title=row.title, message=why))
