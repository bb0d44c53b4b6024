"""The co-occurrence table that GloVe is trained on. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import State

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.ui.panel import PanelContext

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
        self._drop: Callable[[], None] = lambda: None

    @property
    def shown(self) -> tuple[Pair, ...]:
        """The pairs with the typed word, all without one."""
        word = self.filter.casefold()
        every = self.pairs or ()
        return tuple(pair for pair in every if not word or word in (pair.word, pair.context))

    def set_filter(self, word: str) -> None:
        self.update(filter=word.strip())

    def compute(self, context: PanelContext, work: Callable[..., Mapping[str, Any]]) -> None:
        """Show the pairs that an operation counts, until the dialog is closed."""
        self._drop = partial(context.drop, self)
        context.task(self, work, self._show, failed=self._fail, progress=self._progress)

    def _fail(self, error: Exception) -> None:
        self.update(error=str(error))

    def _progress(self, watch: Watch) -> None:
        self.update(share=float(watch.progress.get("part", 0.0)))

    def _show(self, table: Mapping[str, Any]) -> None:
        self.words, self.tokens, self.total = table["words"], table["tokens"], table["pairs"]
        self.update(pairs=tuple(Pair(*row) for row in table["top"]))

    def close(self) -> None:
        self._drop()
        super().close()
