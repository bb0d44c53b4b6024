"""The co-occurrence table that GloVe is trained on. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.jobs.events import Event, Finished, Output

if TYPE_CHECKING:
    from workbench.jobs.queue import Job

TOP = 1000  # pairs


@dataclass(frozen=True)
class Pair:
    """count: X, the sum of 1 / distance. weight: f(X) in [0, 1]."""

    word: str
    context: str
    count: float
    weight: float


class PairsState(State):
    """`pairs` is None until they are counted; `share` of the counting; or an `error`.

    options: settings of the training. words, tokens, total: of the vocabulary, the text and the
    different pairs.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.options = options
        self.pairs: tuple[Pair, ...] | None = None
        self.words = self.tokens = self.total = 0
        self.share = 0.0
        self.error, self.filter = "", ""
        self.closed = False
        self._job: Job | None = None

    @property
    def shown(self) -> tuple[Pair, ...]:
        """The pairs with the typed word, all without one."""
        wanted = self.filter.casefold()
        every = self.pairs or ()
        return tuple(pair for pair in every if not wanted or wanted in (pair.word, pair.context))

    def set_filter(self, word: str) -> None:
        self.update(filter=word.strip())

    def follow(self, job: Job) -> None:
        """Wait for a job that counts co-occurrences."""
        self._job = job
        self.listen(job.changed, self._heard)
        if self.closed:
            job.cancel()

    def fail(self, error: Exception) -> None:
        self.update(error=str(error))

    def _heard(self, event: Event) -> None:
        if isinstance(event, Output) and event.payload.get("kind") == "progress":
            self.update(share=event.payload["part"])
        if not isinstance(event, Finished) or self.closed:
            return
        if event.status != "done":
            self.update(error=f"{event.message} {event.hint}".strip() or _("Cancelled."))
            return
        found = event.result
        self.words, self.tokens, self.total = found["words"], found["tokens"], found["pairs"]
        self.update(pairs=tuple(Pair(*row) for row in found["top"]))

    def close(self) -> None:
        self.closed = True
        if self._job is not None and not self._job.over:
            self._job.cancel()
        super().close()
