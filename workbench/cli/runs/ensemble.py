"""`ensemble`: average the class probabilities of several runs."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit
from workbench.cli.runs.evaluate import scores_json, show_scores
from workbench.cli.session import project_argument, session


@click.command()
@project_argument
@click.option(
    "--run", "names", multiple=True, required=True, help=_("Name of a run; give two or more.")
)
@click.option("--name", default="", help=_("Name of the ensemble. [default: task-ensemble]"))
@as_json
def ensemble(file: Path, names: tuple[str, ...], name: str, as_json: bool) -> None:
    """Average the class probabilities of runs, for example of a forward and a backward model.

    The ensemble is a run of its own, evaluated on dev: it can be evaluated, compared, and used for
    predictions and suggestions. It predicts with each of its runs.
    """
    from workbench.operations.runs import ensemble, results

    with session(file) as opened:
        members = [results.run_named(opened.project, name) for name in names]
        with opened.progress(_("Predicting")) as watch:
            run = ensemble.create(opened.project, opened.queue, members, name=name, watch=watch)
        single = {member.name: member.scores.get("dev", {}) for member in members}
    scored = results.original(run, "dev")
    report = {
        "run": run.name,
        "members": single,
        **(scores_json(run, scored) if scored is not None else {}),
    }
    emit(report) if as_json else show_scores(_("Ensemble {run}", run=run.name), report)
