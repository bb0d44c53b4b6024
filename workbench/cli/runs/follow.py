"""What runs show on the terminal: progress, with Ctrl+C to stop, and the first batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import ProgressLine, note, say
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
    """Compute the cells with progress. Ctrl+C ends after the current run, twice cancels it."""
    from workbench.operations.experiments import experiment

    progress, total = ProgressLine(""), sum(cell.spec is not None for cell in work.cells)
    for cell in {cell.message: cell for cell in work.cells if cell.spec is None}.values():
        note(_("{rung} is left out: {reason}.", rung=cell.title, reason=cell.message))
    listed: list[Cell] = []

    def tell() -> None:
        for cell in work.cells:
            if cell.status == experiment.DONE and not any(cell is item for item in listed):
                listed.append(cell)
                progress.line(_cell_line(work, cell))
        if work.current is not None and work.current.run is not None:
            words = _("{done} of {total}", done=len(listed), total=total)
            progress.title = _("Computing {name}", name=work.current.run.name)
            progress.show(work.current.fraction or 0.0, words)

    stopping = _("Ending after the current run. Press Ctrl+C again to cancel it.")
    wait, cancel = partial(experiment.run, work, opened.queue), partial(work.cancel, opened.queue)
    drop = work.changed.connect(tell)
    try:
        _wait(opened, progress, wait, work.pause, cancel, stopping)
    finally:
        drop()


def check_complete(work: Experiment) -> None:
    """Raises WorkbenchError for an experiment that is not complete."""
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


def _cell_line(work: Experiment, cell: Cell) -> str:
    name, score = cell.run.name if cell.run else "", work.score_of(cell)
    message = _("{name}: {score:.3f} (an earlier run)") if cell.reused else _("{name}: {score:.3f}")
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
