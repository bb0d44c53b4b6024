"""What runs show on the terminal: progress, with Ctrl+C to stop, and the first batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import Cancelled
from workbench.base.i18n import _, ngettext
from workbench.cli.output import ProgressLine, note, say
from workbench.cli.runs.on_cluster import AT_ONCE, chosen_cluster
from workbench.cli.session import CommandSession, interrupts, seconds_in_words

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.operations.experiments.experiment import Cell, Experiment


def follow(opened: CommandSession, job: Job, title: str, stopping: str) -> None:
    """Wait for a training with progress. Ctrl+C stops it, saying `stopping`; twice cancels."""
    from workbench.jobs.events import Output

    progress = ProgressLine(title)
    drop = job.changed.connect(
        lambda event: _tell(progress, event.payload) if isinstance(event, Output) else None
    )
    try:
        _wait(opened, progress, partial(opened.queue.wait, job), job.stop, job.cancel, stopping)
    finally:
        drop()


def follow_experiment(opened: CommandSession, work: Experiment) -> None:
    """Compute the cells with progress. Ctrl+C ends after the runs of now, twice cancels them."""
    from workbench.operations.experiments import experiment

    work.run_on = chosen_cluster(opened.project, work.run_on)
    work.at_once = click.get_current_context().meta.get(AT_ONCE) or work.at_once
    progress = ProgressLine("")
    for cell in {cell.message: cell for cell in work.cells if cell.spec is None}.values():
        note(_("{rung} is left out: {reason}.", rung=cell.title, reason=cell.message))
    listed: list[Cell] = []

    def tell() -> None:
        for cell in work.cells:
            if cell.status == experiment.DONE and not any(cell is item for item in listed):
                listed.append(cell)
                progress.line(_cell_line(work, cell))
        if running := [cell for cell in work.running if cell.run is not None]:
            name = running[0].run.name if running[0].run is not None else ""
            words = _("{done} of {total}", done=len(listed), total=work.total)
            progress.title = ngettext(
                "Computing {name}", "Computing {n} runs", len(running), name=name
            )
            progress.show(fmean(cell.fraction or 0.0 for cell in running), words)

    stopping = _("Ending after the current run. Press Ctrl+C again to cancel it.")
    wait, cancel = partial(experiment.run, work, opened.queue), partial(work.cancel, opened.queue)
    drop = work.changed.connect(tell)
    try:
        _wait(opened, progress, wait, work.pause, cancel, stopping)
    finally:
        drop()


def check_complete(work: Experiment) -> None:
    """Raises WorkbenchError for an experiment that is not complete."""
    if work.status == "paused" and not work.error:
        raise Cancelled(_("The experiment was interrupted. Repeat the command to continue."))
    work.check_complete()


def _cell_line(work: Experiment, cell: Cell) -> str:
    name, score = cell.run.name if cell.run else cell.name, work.score_of(cell)
    message = _("{name}: {score:.3f}")
    if cell.reused:
        message = _("{name}: {score:.3f} (an earlier run)")
    elif cell.ends_early:
        message = _("{name}: {score:.3f} (stopped early)")
    return message.format(name=name, score=score if score is not None else float("nan"))


def _wait(
    opened: CommandSession,
    progress: ProgressLine,
    wait: Callable[[], object],
    stop: Callable[[], None],
    cancel: Callable[[], None],
    stopping: str,
) -> None:
    """Ctrl+C stops, saying `stopping`; twice cancels."""

    def interrupted(count: int) -> None:
        progress.line(stopping if count == 1 else _("Cancelling."))
        stop() if count == 1 else cancel()

    try:
        with interrupts(interrupted, post=opened.mailbox):
            wait()
    finally:
        progress.end()


def _tell(progress: ProgressLine, payload: Mapping[str, Any]) -> None:
    kind = payload.get("kind")
    if kind == "step":
        loss = sum(payload.get("losses", {}).values())
        left = payload.get("seconds_left")
        words = [f"{payload['step']}/{payload['total']}", _("loss {loss:.3f}", loss=loss)]
        if left is not None:
            words.append(_("{time} left", time=seconds_in_words(left)))
        progress.show(payload["step"] / max(1, payload["total"]), "  ".join(words))
    elif kind == "features":
        message = _("Computing features: input {done:,} of {total:,}", **payload)
        progress.show(payload["done"] / max(1, payload["total"]), message)
    elif kind == "adapting":
        message = _("Adapting: step {step}/{total}", **payload)
        progress.show(payload["step"] / max(1, payload["total"]), message)
    elif kind == "adapted":
        scores = "  ".join(f"{name} {value:.2f}" for name, value in payload["scores"].items())
        progress.line(
            _("Language model, step {step}: {scores}", step=payload["step"], scores=scores)
        )
    elif kind == "evaluated":
        scores = "  ".join(
            f"{name} {value:.3f}" for name, value in payload.get("scores", {}).items()
        )
        progress.line(
            _(
                "Step {step}, {split}: {scores}",
                step=payload["step"],
                split=payload.get("split", "dev"),
                scores=scores,
            )
        )
    elif kind == "log":
        progress.line(str(payload.get("line", "")))


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Each input as a line, its predicted units in brackets and spans in braces."""
    say(_("Predictions as [input→target], spans in braces."))
    for number, row in enumerate(rows, 1):
        notes = ", ".join(f"{name}: {value}" for name, value in row["notes"].items())
        titled = _("Input {n}: {notes}") if notes else _("Input {n}")
        say()
        say(titled.format(n=number, notes=notes))
        starts, ends = ({edges[side] for edges in row.get("spans", ())} for side in (0, 1))
        words = []
        for place, unit in enumerate(row["units"]):
            same = unit["target"] is None
            text = unit["input"] if same else f"[{unit['input']}→{unit['target']}]"
            words.append("{ " * (place in starts) + text + " }" * (place + 1 in ends))
        say(" ".join(words))
        if row.get("written"):
            say(_("Writes: {text}", text=" ".join(row["written"])))
        _show_boundaries(row)


def _show_boundaries(row: Mapping[str, Any]) -> None:
    """What the span boundary objective predicts in an input, with its probabilities."""
    units = row["units"]
    for item in row.get("boundaries", ()):
        say(
            _(
                "{token}: from “{left}” and “{right}”, position {place}: {own:.1%}; most probable: "
                "{best}",
                token=units[item["unit"]]["target"],
                left=units[item["left"]]["input"],
                right=units[item["right"]]["input"],
                place=item["place"],
                own=item["own"],
                best=", ".join(f"{name} {share:.1%}" for name, share in item["best"]),
            )
        )
