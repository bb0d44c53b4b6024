"""`ladder`: train systems of growing transfer on one layer and compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.on_cluster import several_on_cluster
from workbench.cli.session import (
    CommandSession,
    key_values,
    layer_option,
    numbers,
    project_argument,
    session,
)

if TYPE_CHECKING:
    from workbench.operations.experiments.ladder import Ladder, LadderSpec
    from workbench.operations.experiments.ladder_rungs import Rung

added_option = click.option(
    "--add",
    "added",
    multiple=True,
    metavar="RUNG",
    help=_('Add a custom configuration: "Title: MODEL KEY=VALUE …".'),
)
parts_option = click.option(
    "--use",
    "parts",
    multiple=True,
    callback=key_values,
    metavar="PART=MODEL",
    help=_(
        "Replace a model of the rungs: vectors, elmo, forward, backward, transformer or recurrent."
    ),
)
settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="[RUNG.]KEY=VALUE",
    help=_("Change a training option of all rungs that have it, or of one rung."),
)
plan_option = click.option(
    "--plan", "plan_only", is_flag=True, help=_("Show the runs and their states, then exit.")
)


@click.command()
@project_argument
@layer_option
@click.option(
    "--rungs",
    default="",
    help=_(
        "Rungs separated by commas: random, vectors, characters, elmo, flair, frozen-vectors, "
        "frozen-elmo, frozen-flair, frozen-bert, bert, adapted. [default: "
        "random,vectors,characters,elmo,bert]"
    ),
)
@added_option
@parts_option
@click.option(
    "--decoders",
    default="",
    help=_("Decoders separated by commas. [default: crf,greedy where the task has them]"),
)
@click.option(
    "--seeds", default="1,2,3", show_default=True, callback=numbers, help=_("Random seeds.")
)
@settings_option
@plan_option
@several_on_cluster
@as_json
def ladder(
    file: Path,
    layer_name: str,
    rungs: str,
    added: tuple[str, ...],
    parts: dict[str, str],
    decoders: str,
    seeds: tuple[int, ...],
    settings: dict[str, str],
    plan_only: bool,
    as_json: bool,
) -> None:
    """Train the ladder of transfer on a layer of project FILE: a BiLSTM with random embeddings,
    with word vectors, with a character CNN, with ELMo or Flair, and a fine-tuned BERT; for tags
    with CRF and without.

    All rungs are trained on the same splits with every seed, as ordinary runs. Finished runs with
    the same settings on the same data are used again: repeat the command to continue. Ctrl+C once
    ends after the current run, twice cancels it.
    """
    from workbench.operations.evaluation import folds
    from workbench.operations.experiments.ladder import Ladder

    with session(file) as opened:
        layer = folds.layer_named(opened.project, layer_name).name
        spec = _spec(opened, layer, rungs, added, parts, decoders, seeds, settings)
        work = Ladder(opened.project, spec)
        if not plan_only:
            follow_experiment(opened, work)
        report = work.report()
    emit(report) if as_json else _show(work, report)
    if not plan_only:
        check_complete(work)


def systems(names: str, added: Iterable[str], usual: Sequence[str] = ()) -> tuple[Rung, ...]:
    """The rungs with these ids, separated by commas, and those that are described."""
    from workbench.operations.experiments import ladder_rungs

    ids = [name.strip() for name in names.split(",") if name.strip()]
    return (*ladder_rungs.named(ids, usual), *map(ladder_rungs.parse, added))


def _spec(
    opened: CommandSession,
    layer: str,
    rungs: str,
    added: Iterable[str],
    parts: Mapping[str, str],
    decoders: str,
    seeds: tuple[int, ...],
    settings: Mapping[str, str],
) -> LadderSpec:
    from workbench.operations.experiments import ladder as operations

    task = operations.task_of(opened.project, layer)
    known = operations.decoders(task)
    names = tuple(name.strip() for name in decoders.split(",") if name.strip())
    if unknown := [name for name in names if name not in known]:
        raise WorkbenchError(
            _("Task {task} has no decoder {name!r} here.", task=task, name=unknown[0]),
            hint=_("Decoders: {names}.", names=", ".join(filter(None, known)) or "–"),
        )
    chosen = systems(rungs, added)
    return operations.LadderSpec(task, layer, chosen, seeds, names or known, settings, parts)


def _show(work: Ladder, report: dict[str, Any]) -> None:
    from workbench.tasks import spec as tasks

    say(
        _(
            "{score} on {split}, layer {layer}; mean ± standard deviation over seeds {seeds}.",
            **{**report, "seeds": ", ".join(map(str, report["seeds"]))},
        )
    )
    if tasks.is_error(report["score"]):
        say(_("The score is an error in its own unit: lower is better."))
    table(work.columns(), work.rows)
    for rung in report["rungs"]:
        if rung["missing"]:
            say(_("{title} is left out: {missing}.", **rung))
