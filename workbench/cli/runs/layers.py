"""`layers`: experiments about the layers of an encoder. `multitask`: about layers of labels that
are trained together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.on_cluster import several_on_cluster
from workbench.cli.session import CommandSession, numbers, project_argument, session

if TYPE_CHECKING:
    from workbench.operations.experiments.layers import LayerWeights, Transfer
    from workbench.operations.experiments.multitask import Multitask

seeds_option = click.option(
    "--seeds", default="1,2,3", show_default=True, callback=numbers, help=_("Random seeds.")
)
plan_option = click.option(
    "--plan", "plan_only", is_flag=True, help=_("Show the runs and their states, then exit.")
)


@click.group()
def layers() -> None:
    """Which layers of an encoder can be transferred, and which ones a task reads."""


@layers.command()
@project_argument
@click.argument("run")
@click.option(
    "--from",
    "source",
    default="",
    metavar="MODEL",
    help=_("Model or run that is the source. [default: the model that RUN was fine-tuned from]"),
)
@click.option(
    "--levels",
    default="",
    metavar="NUMBERS",
    help=_(
        "Numbers of lowest levels to copy, separated by commas: 0 for none, 1 for the embeddings, "
        "2 for the embeddings and one layer. [default: all]"
    ),
)
@seeds_option
@plan_option
@several_on_cluster
@as_json
def transfer(
    file: Path,
    run: str,
    source: str,
    levels: str,
    seeds: tuple[int, ...],
    plan_only: bool,
    as_json: bool,
) -> None:
    """Copy the lowest levels of RUN (B) or of a source (A) under new layers and train on the layer
    of RUN: BnB and AnB with the copied levels frozen, BnB+ and AnB+ with all of them trained
    (Yosinski et al. 2014).

    Finished runs with the same settings on the same data are used again: repeat the command to
    continue.
    """
    from workbench.operations.experiments.layers import Transfer, transfer_spec
    from workbench.operations.runs import results

    with session(file) as opened:
        target = results.run_named(opened.project, run)
        counts = tuple(int(part) for part in levels.split(",") if part.strip().isdecimal())
        spec = transfer_spec(opened.project, target, source, seeds=seeds, levels=counts)
        _report(opened, Transfer(opened.project, spec), plan_only, as_json)


@layers.command()
@project_argument
@click.argument("run")
@seeds_option
@plan_option
@several_on_cluster
@as_json
def weights(file: Path, run: str, seeds: tuple[int, ...], plan_only: bool, as_json: bool) -> None:
    """Train the settings of RUN on the last layer, the mean of all layers, and scalar mixes with
    λ = 1 and 0.001 (Peters et al. 2018, table 2).

    Finished runs with the same settings on the same data are used again: repeat the command to
    continue.
    """
    from workbench.operations.experiments.layers import LayerWeights
    from workbench.operations.experiments.repeat import system_of
    from workbench.operations.runs import results

    with session(file) as opened:
        target = system_of(results.run_named(opened.project, run)).spec
        _report(opened, LayerWeights(opened.project, target, seeds), plan_only, as_json)


@click.command()
@project_argument
@click.argument("run")
@seeds_option
@plan_option
@as_json
def multitask(file: Path, run: str, seeds: tuple[int, ...], plan_only: bool, as_json: bool) -> None:
    """Compare three ways to train the layers of RUN, which was trained on several with --also: each
    alone, all together, and each again from the model of all (Liu et al. 2019, MT-DNN).

    Finished runs with the same settings on the same data are used again: repeat the command to
    continue.
    """
    from workbench.operations.experiments.multitask import Multitask
    from workbench.operations.experiments.repeat import system_of
    from workbench.operations.runs import results

    with session(file) as opened:
        target = system_of(results.run_named(opened.project, run)).spec
        _report(opened, Multitask(opened.project, target, seeds), plan_only, as_json)


def _report(
    opened: CommandSession,
    work: Transfer | LayerWeights | Multitask,
    plan_only: bool,
    as_json: bool,
) -> None:
    if not plan_only:
        follow_experiment(opened, work)
    report = work.report()
    emit(report) if as_json else _show(work)
    if not plan_only:
        check_complete(work)


def _show(work: Transfer | LayerWeights | Multitask) -> None:
    from workbench.operations.experiments.layers import Transfer
    from workbench.operations.experiments.multitask import Multitask

    if isinstance(work, Multitask):
        say(_("Main score of each layer on {split}.", split=work.split))
    else:
        say(_("{score} on {split}, layer {layer}.", **vars(work), score=work.score))
    if isinstance(work, Transfer):
        table(work.columns(), work.table)
        say(_("Base: {score}", score=work.base_text()))
    else:
        table(work.columns(), work.rows)
    say()
    say(work.reading)
