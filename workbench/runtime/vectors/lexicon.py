"""Words with their vectors: nearest words, and words that complete an analogy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.base.watch import QUIET, Watch
from workbench.runtime.vectors import store
from workbench.runtime.vectors.ngrams import Ngrams
from workbench.runtime.vectors.words import WordIndex

COSINE, DOT, EUCLID = "cosine", "dot", "euclid"
MEASURES = {
    COSINE: N_("Cosine similarity"),
    DOT: N_("Dot product"),
    EUCLID: N_("Euclidean distance"),
}
BLOCK = 1 << 16  # rows per step


@dataclass(frozen=True)
class Neighbour:
    """score: cosine in [-1, 1], dot product, or distance, which is smaller for nearer words."""

    word: str
    score: float


class Lexicon:
    """table float32 (N, H): the vector of each word. grams: rows of the n-grams' buckets."""

    def __init__(
        self,
        words: WordIndex,
        table: np.ndarray,
        ngrams: Ngrams | None = None,
        grams: np.ndarray | None = None,
    ):
        self.words, self.table, self.ngrams, self.grams = words, table, ngrams, grams

    @classmethod
    def open(cls, path: Path, watch: Watch = QUIET) -> Lexicon:
        """Open a file of vectors. Raises ModelError."""
        opened = store.open_file(path, watch.part(0, 0.5))
        grams = opened.rows[len(opened.words) :]
        return cls(opened.words, opened.table(watch.part(0.5, 1)), opened.ngrams, grams)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def norms(self) -> np.ndarray:
        """float32 (N,): the length of each vector."""
        norms = np.empty(len(self.table), dtype=np.float32)
        for start in range(0, len(norms), BLOCK):
            part = self.table[start : start + BLOCK]
            norms[start : start + BLOCK] = np.sqrt(np.einsum("ij,ij->i", part, part))
        return norms

    @cached_property
    def _repeated(self) -> list[int]:
        return sorted(self.words.repeated())

    def vector(self, word: str) -> np.ndarray | None:
        """float32 (H,): of a word as written, else made of its n-grams; None without either."""
        row = self.words.row(word)
        if row >= 0:
            own: np.ndarray = self.table[row]
            return own
        rows = self.ngrams.rows(word) if self.ngrams is not None else []
        if not rows or self.grams is None:
            return None
        vector: np.ndarray = self.grams[rows].mean(0)
        return vector

    def known(self, word: str) -> str | None:
        """The form under which a word has a vector: as written, in lower case, from n-grams."""
        for form in (word, word.lower()):
            if self.words.row(form) >= 0:
                return form
        return word if self.vector(word) is not None else None

    def scores(self, query: np.ndarray, by: str) -> np.ndarray:
        """float32 (N,): of every word, higher for nearer words; distances are negated."""
        scores = np.empty(len(self.table), dtype=np.float32)
        for start in range(0, len(scores), BLOCK):
            part = self.table[start : start + BLOCK]
            if by == "euclid":
                difference = part - query
                scores[start : start + BLOCK] = -np.sqrt(
                    np.einsum("ij,ij->i", difference, difference)
                )
            else:
                scores[start : start + BLOCK] = part @ query
        if by == "cosine":
            length = float(np.linalg.norm(query))
            scores /= np.maximum(self.norms * (length or 1.0), np.finfo(np.float32).tiny)
        return scores

    def nearest(
        self, query: np.ndarray, *, by: str = "cosine", top: int = 10, without: Collection[int] = ()
    ) -> tuple[Neighbour, ...]:
        """The `top` words nearest to a vector (H,), except for the rows `without`."""
        scores = self.scores(query, by)
        scores[[*without, *self._repeated]] = -np.inf
        sign = -1.0 if by == "euclid" else 1.0
        return tuple(
            Neighbour(self.words.word(row), sign * float(scores[row]))
            for row in best(scores, top)
            if np.isfinite(scores[row])
        )

    def neighbours(
        self, word: str, *, by: str = "cosine", top: int = 10
    ) -> tuple[Neighbour, ...] | None:
        """The nearest words of a word, without itself; None if it has no vector."""
        vector = self.vector(word)
        if vector is None:
            return None
        return self.nearest(vector, by=by, top=top, without=self._rows([word]))

    def combined(
        self, positive: Sequence[str], negative: Sequence[str] = (), *, unit: bool = True
    ) -> np.ndarray:
        """float32 (H,): the mean of unit vectors, those of `negative` with a negative sign; the sum
        of the vectors as they are without `unit`.

        Source: Mikolov, Yih and Zweig 2013. Raises ModelError for a word without a vector.
        """
        total = np.zeros(self.table.shape[1], dtype=np.float32)
        for sign, words in ((1, positive), (-1, negative)):
            for word in words:
                vector = self.vector(word)
                if vector is None:
                    raise ModelError(_("The word {word!r} has no vector in this model.", word=word))
                length = float(np.linalg.norm(vector)) if unit else 1.0
                total += sign * vector / (length or 1.0)
        return total / (len(positive) + len(negative)) if unit else total

    def analogy(
        self, a: str, b: str, c: str, *, by: str = COSINE, top: int = 10
    ) -> tuple[Neighbour, ...]:
        """Words that are to `c` as `b` is to `a`: nearest to b - a + c, without these three.

        By cosine of unit vectors; by the dot product and the distance of the vectors as they are.
        """
        query = self.combined((b, c), (a,), unit=by == COSINE)
        return self.nearest(query, by=by, top=top, without=self._rows([a, b, c]))

    def _rows(self, words: Sequence[str]) -> list[int]:
        return [row for word in words if (row := self.words.row(word)) >= 0]


def best(scores: np.ndarray, top: int) -> list[int]:
    """Positions of the `top` highest scores, highest first, the earlier one on a tie.

    scores (N,).
    """
    top = min(top, len(scores))
    if top < len(scores):
        limit = np.partition(scores, len(scores) - top)[len(scores) - top]
        chosen = np.flatnonzero(scores >= limit)
    else:
        chosen = np.arange(len(scores))
    order = np.argsort(-scores[chosen], kind="stable")
    return [int(row) for row in chosen[order][:top]]
