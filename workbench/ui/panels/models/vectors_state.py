"""Dialogs on word vectors: a map in two dimensions, analogies, and scores on data sets of
similarity. Without Qt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.models import vectors
from workbench.operations.models.vectors import WordMap
from workbench.runtime.vectors.evaluation import Analogies, SimilarityResult
from workbench.runtime.vectors.lexicon import COSINE, MEASURES

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.models.spec import ModelInfo
    from workbench.runtime.vectors.lexicon import Lexicon, Neighbour
    from workbench.ui.panel import PanelContext

set_columns, with_ngrams = vectors.set_columns, vectors.with_ngrams
OPEN, MAP, COMPLETE, EVALUATE = KEYS = ("open", "map", "complete", "evaluate")  # of tasks
TITLES = {by: _(title) for by, title in MEASURES.items()}
TOP = 20  # words that complete an analogy
USUAL = ("man", "king", "woman")  # Mikolov, Yih and Zweig 2013
DEFAULT_WORDS, MAX_WORDS = 150, 1000  # most frequent words of a map
NEAREST_WORDS = 8  # nearest words of each typed word


class VectorsState(State):
    """The words of a model, opened when they are first used. `share`: of the work, in [0, 1]."""

    def __init__(self, context: PanelContext, card: ModelInfo) -> None:
        super().__init__()
        self.context, self.card = context, card
        self.share, self.error = 0.0, ""
        self._lexicon: Lexicon | None = None
        self._later: dict[str, Callable[[Lexicon], None]] = {}  # key → work once they are opened

    @property
    def busy(self) -> bool:
        return any(self.context.waiting((self, key)) for key in KEYS)

    def _start(self, key: str, work: Callable[..., object], done: Callable[..., None]) -> None:
        """Do `work(lexicon)` in a thread, or `work(lexicon, watch=…)`; the newest of a key wins.

        A file that is new is converted first, which may take minutes.
        """

        def begin(lexicon: Lexicon) -> None:
            self._task(key, partial(work, lexicon), done)

        self.update(error="", share=self.share if self.busy else 0.0)
        if self._lexicon is not None:
            begin(self._lexicon)
            return
        self._later[key] = begin
        if not self.context.waiting((self, OPEN)):
            self._task(OPEN, partial(vectors.open_lexicon, self.card), self._opened)

    def _opened(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        later, self._later = self._later, {}
        for begin in later.values():
            begin(lexicon)

    def _task(self, key: str, work: Callable[..., object], done: Callable[..., None]) -> None:
        self.context.task((self, key), work, done, failed=self._failed, progress=self._progressed)
        self.changed.emit(frozenset({"busy"}))

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share)

    def _failed(self, error: Exception) -> None:
        if self._lexicon is None:
            self._later.clear()
        self.update(error="" if isinstance(error, Cancelled) else str(error))
        self.changed.emit(frozenset({"busy"}))

    def stop(self) -> None:
        """Cancel what is computed."""
        for key in KEYS:
            self.context.cancel((self, key))

    def close(self) -> None:
        for key in KEYS:
            self.context.drop((self, key))
        super().close()


class WordMapState(VectorsState):
    """`map` is None until the words have been read; `busy` while it is computed again."""

    def __init__(self, context: PanelContext, card: ModelInfo) -> None:
        super().__init__(context, card)
        self.words, self.count, self.near = "", DEFAULT_WORDS, NEAREST_WORDS
        self.map: WordMap | None = None
        self.refresh()

    def choose(self, words: str, count: int, near: int) -> None:
        """Show these words with the nearest of each, or the most frequent ones without words."""
        if (words, count, near) != (self.words, self.count, self.near):
            self.words, self.count, self.near = words, count, near
            self.refresh()

    def refresh(self) -> None:
        """Compute the map in a thread."""
        words, count, near = self.words.split(), self.count, self.near
        self._start(
            MAP,
            lambda lexicon: vectors.word_map(lexicon, words, top=count, near=near),
            lambda map: self.update(map=map),
        )


class AnalogiesState(VectorsState):
    """terms: the words a, b and c; neighbours: words that are to c as b is to a, None before the
    first.

    results: of the data sets, by the measure `measured`; files: the data sets, () for the known
    ones.
    """

    def __init__(self, context: PanelContext, card: ModelInfo) -> None:
        super().__init__(context, card)
        self.terms, self.by = USUAL, COSINE
        self.neighbours: tuple[Neighbour, ...] | None = None
        self.results: tuple[SimilarityResult | Analogies, ...] = ()
        self.measured, self.files = "", tuple[Path, ...]()

    def ask(self, a: str, b: str, c: str) -> None:
        """Complete an analogy; nothing happens while one of the words is missing."""
        self.update(terms=(a.strip(), b.strip(), c.strip()))
        self.complete()

    def choose(self, by: str) -> None:
        """Complete the analogy by another measure."""
        if by != self.by:
            self.update(by=by)
            self.complete()

    def complete(self) -> None:
        (a, b, c), by = self.terms, self.by
        if a and b and c:
            self._start(
                COMPLETE,
                lambda lexicon: vectors.analogy(lexicon, a, b, c, by=by, top=TOP),
                lambda neighbours: self.update(neighbours=neighbours),
            )

    def evaluate(self, files: Sequence[Path] | None = None) -> None:
        """Measure on data sets: the known ones, or files."""
        self.update(files=self.files if files is None else tuple(files))
        names, by = [str(path) for path in self.files], self.by

        def measure(lexicon: Lexicon, watch: Watch) -> list[SimilarityResult | Analogies]:
            return vectors.evaluate(lexicon, vectors.set_files(names), watch, by=by)

        self._start(
            EVALUATE, measure, lambda results: self.update(results=tuple(results), measured=by)
        )
