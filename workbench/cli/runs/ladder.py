"""`ladder`: train systems of growing transfer on one layer and compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import ProgressLine, as_json, emit, note, say, table
from workbench.cli.session import (
    CommandSession,
    interrupts,
    key_values,
    layer_option,
    project_argument,
    session,
)

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Cell
    from workbench.operations.experiments.ladder import Ladder, LadderSpec


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise click.BadParameter(
            _("{text!r} is not a list of numbers such as 1,2,3.", text=text)
        ) from None


@click.command()
@project_argument
@layer_option
@click.option(
    "--rungs",
    default="",
    help=_(
        "Rungs separated by commas: random, vectors, characters, elmo, flair, frozen-vectors, "
        "frozen-elmo, frozen-flair, bert. [default: random,vectors,characters,elmo,bert]"
    ),
)
@click.option(
    "--add",
    "added",
    multiple=True,
    metavar="RUNG",
    help=_('Add a custom configuration: "Title: MODEL KEY=VALUE …".'),
)
@click.option(
    "--use",
    "parts",
    multiple=True,
    callback=key_values,
    metavar="PART=MODEL",
    help=_(
        "Replace a model of the rungs: vectors, elmo, forward, backward, transformer or recurrent."
    ),
)
@click.option(
    "--decoders",
    default="",
    help=_("Decoders separated by commas. [default: crf,greedy where the task has them]"),
)
@click.option(
    "--seeds", default="1,2,3", show_default=True, callback=_numbers, help=_("Random seeds.")
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="[RUNG.]KEY=VALUE",
    help=_("Change a training option of all rungs that have it, or of one rung."),
)
@click.option(
    "--plan", "plan_only", is_flag=True, help=_("Show the runs and their states, then exit.")
)
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
            _train(opened, work)
        report = work.report()
    emit(report) if as_json else _show(work, report)
    if not plan_only:
        _check(work)


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
    from workbench.operations.experiments import ladder_rungs

    ids = [name.strip() for name in rungs.split(",") if name.strip()]
    own = tuple(map(ladder_rungs.parse, added))
    task = operations.task_of(opened.project, layer)
    known = operations.decoders(task)
    names = tuple(name.strip() for name in decoders.split(",") if name.strip())
    if unknown := [name for name in names if name not in known]:
        raise WorkbenchError(
            _("Task {task} has no decoder {name!r} here.", task=task, name=unknown[0]),
            hint=_("Decoders: {names}.", names=", ".join(filter(None, known)) or "–"),
        )
    chosen = (*ladder_rungs.named(ids), *own)
    return operations.LadderSpec(task, layer, chosen, seeds, names or known, settings, parts)


def _train(opened: CommandSession, work: Ladder) -> None:
    """Train all rungs; Ctrl+C ends after the current run, twice cancels it."""
    from workbench.operations.experiments import experiment

    progress, total = ProgressLine(""), len([cell for cell in work.cells if cell.spec])
    for cell in {cell.message: cell for cell in work.cells if cell.spec is None}.values():
        note(_("{rung} is left out: {reason}.", rung=cell.title, reason=cell.message))
    listed: list[Cell] = []

    def tell() -> None:
        for cell in work.cells:
            if cell.status == experiment.DONE and not any(cell is item for item in listed):
                listed.append(cell)
                progress.line(_run_line(work, cell))
        if work.current is not None and work.current.run is not None:
            words = _("{done} of {total}", done=len(listed), total=total)
            progress.title = _("Training {name}", name=work.current.run.name)
            progress.show(work.current.fraction or 0.0, words)

    def interrupted(count: int) -> None:
        if count == 1:
            progress.line(_("Ending after the current run. Press Ctrl+C again to cancel it."))
            work.pause()
        else:
            progress.line(_("Cancelling."))
            work.cancel(opened.queue)

    drop = work.changed.connect(tell)
    try:
        with interrupts(interrupted, post=opened.mailbox):
            experiment.run(work, opened.queue)
    finally:
        drop()
        progress.end()


def _run_line(work: Ladder, cell: Cell) -> str:
    name, score = cell.run.name if cell.run else "", work.score_of(cell)
    message = _("{name}: {score:.3f} (an earlier run)") if cell.reused else _("{name}: {score:.3f}")
    return message.format(name=name, score=score if score is not None else float("nan"))


def _check(work: Ladder) -> None:
    """Raises for an experiment that is not complete."""
    if work.error:
        raise WorkbenchError(work.error)
    if work.status == "paused":
        raise Cancelled(_("The experiment was interrupted. Repeat the command to continue."))
    failed = [cell for cell in work.cells if cell.status == "failed"]
    if failed:
        template = ngettext(
            "{n} run failed: {message}", "{n} runs failed; the first: {message}", len(failed)
        )
        raise JobFailed(template.format(n=len(failed), message=failed[0].message))


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
