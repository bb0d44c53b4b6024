"""Analogies of words, and how well vectors agree with judgements of people. Without Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, SpecError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.operations.models import vectors
from workbench.runtime.vectors.evaluation import Analogies, Similarity
from workbench.runtime.vectors.lexicon import COSINE, MEASURES
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.runtime.vectors.lexicon import Lexicon, Neighbour
    from workbench.ui.panel import PanelContext

TITLES = {by: _(title) for by, title in MEASURES.items()}
TOP = 20  # words that complete an analogy
USUAL = ("man", "king", "woman")  # Mikolov, Yih and Zweig 2013


class AnalogiesState(State):
    """asked: the words a, b and c; found: words that are to c as b is to a, None before the first.

    results: of the data sets, by the measure `measured`; files: the data sets, () for the known
    ones. busy while something is computed, of which `share` is done.
    """

    def __init__(self, context: PanelContext, card: ModelInfo) -> None:
        super().__init__()
        self.context, self.card = context, card
        self.asked, self.by = USUAL, COSINE
        self.found: tuple[Neighbour, ...] | None = None
        self.results: tuple[Similarity | Analogies, ...] = ()
        self.measured, self.files = "", tuple[Path, ...]()
        self.busy, self.error = False, ""
        self._watch = Watch()
        self._lexicon: Lexicon | None = None
        self._again = self._closed = False

    @property
    def share(self) -> float:
        return self._watch.share

    def ask(self, a: str, b: str, c: str) -> None:
        """Complete an analogy; nothing happens while one of the words is missing."""
        self.update(asked=(a.strip(), b.strip(), c.strip()))
        self.complete()

    def choose(self, by: str) -> None:
        """Complete the analogy by another measure."""
        if by != self.by:
            self.update(by=by)
            self.complete()

    def complete(self) -> None:
        (a, b, c), by = self.asked, self.by
        if not (a and b and c):
            return
        if self.busy:
            self._again = True
            return

        def answer(lexicon: Lexicon, _watch: Watch) -> tuple[Neighbour, ...]:
            return vectors.analogy(lexicon, a, b, c, by=by, top=TOP)

        self._start(answer, lambda found: self.update(found=found))

    def evaluate(self, files: Sequence[Path] | None = None) -> None:
        """Measure on data sets: the known ones, or files."""
        self.update(files=self.files if files is None else tuple(files))
        named, by = [str(path) for path in self.files], self.by

        def measure(lexicon: Lexicon, watch: Watch) -> list[Similarity | Analogies]:
            return vectors.evaluate(lexicon, vectors.set_files(named), watch, by=by)

        self._start(measure, lambda found: self.update(results=tuple(found), measured=by))

    def _start(self, work: Callable[[Lexicon, Watch], Any], keep: Callable[[Any], None]) -> None:
        """Off the main thread, one thing at a time; a file that is new is converted first."""
        if self.busy:
            return
        watch = self._watch = Watch()
        self.update(busy=True, error="")

        def run() -> Any:
            if self._lexicon is None:
                self._lexicon = vectors.open_lexicon(self.card)
            return work(self._lexicon, watch)

        def done(found: Any) -> None:
            if not self._closed:
                self.update(busy=False)
                keep(found)
                self._next()

        self.context.run(run, done, self._failed)

    def _failed(self, error: Exception) -> None:
        if self._closed:
            return
        hint = error.hint if isinstance(error, SpecError) and error.hint else ""
        message = "" if isinstance(error, Cancelled) else str(error)
        self.update(busy=False, error=" ".join(filter(None, (message, hint))))
        self._next()

    def _next(self) -> None:
        """What was typed meanwhile."""
        if self._again:
            self._again = False
            self.complete()

    def stop(self) -> None:
        """Cancel the evaluation."""
        self._watch.cancel()

    def close(self) -> None:
        self._closed = True
        self.stop()
        super().close()


def with_ngrams(similarity: Similarity | Analogies) -> Similarity | None:
    """The same with vectors made of n-grams for unknown words; None where there are none."""
    return similarity.ngrams if isinstance(similarity, Similarity) else None


def items(similarity: Similarity | Analogies) -> int:
    """Pairs, or questions."""
    return similarity.pairs if isinstance(similarity, Similarity) else similarity.questions


def score(similarity: Similarity | Analogies, *, spearman: bool) -> str:
    """As text; – for the other kind of data set, and where the score is not defined."""
    value = similarity.spearman if isinstance(similarity, Similarity) else similarity.accuracy
    if isinstance(similarity, Similarity) != spearman or not math.isfinite(value):
        return "–"
    return formats.decimal(value, 3) if spearman else formats.points(value)


def made_coverage(similarity: Similarity | Analogies) -> str:
    """Per cent of the items whose words have vectors, of their own or made of n-grams, as text."""
    found = with_ngrams(similarity)
    return formats.points(found.coverage) if found is not None else "–"


def made_spearman(similarity: Similarity | Analogies) -> str:
    """The rank correlation with these vectors, as text."""
    found = with_ngrams(similarity)
    return score(found, spearman=True) if found is not None else "–"
