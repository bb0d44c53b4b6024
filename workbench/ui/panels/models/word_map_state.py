"""A map of word vectors in two dimensions. Without Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.operations.models import vectors
from workbench.operations.models.vectors import WordMap

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.runtime.vectors.lexicon import Lexicon
    from workbench.ui.panel import PanelContext

DEFAULT_WORDS, MAX_WORDS = 150, 1000  # most frequent words
NEAREST_WORDS = 8  # nearest words of each typed word


class WordMapState(State):
    """`found` is None until the words have been read; `busy` while it is computed again."""

    def __init__(self, context: PanelContext, card: ModelInfo) -> None:
        super().__init__()
        self.context, self.card = context, card
        self.words, self.count, self.near = "", DEFAULT_WORDS, NEAREST_WORDS
        self.found: WordMap | None = None
        self.busy, self.error = False, ""
        self._lexicon: Lexicon | None = None
        self._again = self._closed = False
        self.refresh()

    def choose(self, words: str, count: int, near: int) -> None:
        """Show these words with the nearest of each, or the most frequent ones without words."""
        if (words, count, near) != (self.words, self.count, self.near):
            self.words, self.count, self.near = words, count, near
            self.refresh()

    def refresh(self) -> None:
        """Compute the map off the main thread; a file that is new is converted first."""
        self._again = self.busy
        if self.busy:
            return
        self.update(busy=True, error="")
        wanted, count, near = self.words.split(), self.count, self.near

        def work() -> WordMap:
            if self._lexicon is None:
                self._lexicon = vectors.open_lexicon(self.card)
            return vectors.word_map(self._lexicon, wanted, top=count, near=near)

        self.context.run(work, self._done, self._failed)

    def _done(self, found: WordMap) -> None:
        if not self._closed:
            self.update(busy=False, found=found)
            if self._again:
                self.refresh()

    def _failed(self, error: Exception) -> None:
        if not self._closed:
            self.update(busy=False, error=str(error))
            if self._again:
                self.refresh()

    def close(self) -> None:
        self._closed = True
        super().close()
