"""What a training shows on the terminal: its progress, with Ctrl+C to stop, and a first batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.cli.output import ProgressLine, say
from workbench.cli.session import CommandSession, interrupts, seconds_in_words

if TYPE_CHECKING:
    from workbench.jobs.queue import Job


def follow(opened: CommandSession, job: Job, title: str, stopping: str) -> None:
    """Wait for a training with progress. Ctrl+C stops it, saying `stopping`; twice cancels."""
    from workbench.jobs.events import Output

    progress = ProgressLine(title)
    drop = job.changed.connect(
        lambda event: _tell(progress, event.payload) if isinstance(event, Output) else None
    )

    def interrupted(count: int) -> None:
        if count == 1:
            progress.line(stopping)
            job.stop()
        else:
            progress.line(_("Cancelling."))
            job.cancel()

    try:
        with interrupts(interrupted, post=opened.mailbox):
            opened.queue.wait(job)
    finally:
        drop()
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
