"""The first batches of a run as text: what the model gets, and where the loss is taken. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.jobs.events import Event, Finished

if TYPE_CHECKING:
    from workbench.jobs.queue import Job

BATCHES = 5  # that are computed at once


@dataclass(frozen=True)
class Input:
    """One input. units: (text, target or None, what). written: units that a decoder writes."""

    title: str
    original: str
    units: tuple[tuple[str, str | None, str], ...]
    written: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def predicted(self) -> int:
        return sum(target is not None for _text, target, _what in self.units)


class BatchState(State):
    """`batches` is None until they are there; `number` is that of the shown one; or an `error`.

    about: model and objective or task, as text. fingerprint: of the texts of the run, "" if its
    texts cannot differ. changed_text: whether they differ from those of these batches.
    """

    def __init__(self, about: str, *, fingerprint: str = "") -> None:
        super().__init__()
        self.about, self._fingerprint = about, fingerprint
        self.changed_text = False
        self.batches: tuple[tuple[Input, ...], ...] | None = None
        self.number = 0
        self.error = ""
        self.closed = False
        self._job: Job | None = None

    def follow(self, job: Job) -> None:
        """Wait for a job that shows batches."""
        self._job = job
        self.listen(job.changed, self._heard)
        if self.closed:
            job.cancel()

    def fail(self, error: Exception) -> None:
        self.update(error=str(error))

    def _heard(self, event: Event) -> None:
        if not isinstance(event, Finished) or self.closed:
            return
        if event.status != "done":
            self.update(error=f"{event.message} {event.hint}".strip() or _("Cancelled."))
            return
        self.show(event.result)

    def show(self, result: Mapping[str, Any]) -> None:
        """Show batches as a job or a model has them: rows, and those of more batches."""
        if self.closed:
            return
        every = (result["rows"], *result.get("more", ()))
        changed = self._fingerprint not in ("", result.get("fingerprint"))
        batches = tuple(tuple(map(_input, rows, range(1, 10_000))) for rows in every)
        self.update(batches=batches, changed_text=changed)

    @property
    def shown(self) -> tuple[Input, ...]:
        """The inputs of the shown batch."""
        return self.batches[self.number] if self.batches else ()

    def move(self, by: int) -> None:
        """Show a later or an earlier batch."""
        if self.batches and 0 <= self.number + by < len(self.batches):
            self.update(number=self.number + by)

    def close(self) -> None:
        self.closed = True
        if self._job is not None and not self._job.over:
            self._job.cancel()
        super().close()


def _input(row: Mapping[str, Any], number: int) -> Input:
    notes = [f"{name.replace('_', ' ')}: {value}" for name, value in row["notes"].items()]
    named = [str(row["document"])] if row.get("document") else []
    title = "  ·  ".join((_("Input {n}").format(n=number), *named, *notes))
    return Input(
        title,
        "\n".join(row["texts"]) if "texts" in row else " ".join(row.get("original", ())),
        tuple((item["input"], item["target"], item.get("what", "")) for item in row["units"]),
        " ".join(row.get("written", ())),
        tuple((start, end) for start, end in row.get("spans", ())),
    )
