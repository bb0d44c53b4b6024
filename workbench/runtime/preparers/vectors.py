"""Words as rows of a table of static vectors, with the n-grams of fastText. numpy only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.preparers.words import Units, WordPreparer
from workbench.runtime.vectors.ngrams import Ngrams
from workbench.runtime.vectors.words import WordIndex
from workbench.text.segmenters import stored

ABOUT, VOCABULARY = "vectors.json", "vocabulary"  # of an exported folder
UNKNOWN = "<unk>"  # the word that GloVe's tools give to all others


class VectorWords(WordPreparer):
    """A word is looked up as written, then in lower case; then it is made of its n-grams, in lower
    case if no word of the vocabulary has an upper-case letter.

    input_ids int32 (T,): row of the word + 1, 0 for a word without one. With n-grams also, for all
    words together, ngrams int32 (P,): row of the n-gram + 1, and ngram_words int32 (P,): the token
    that it belongs to. P is at least 1; a row of 0 counts for nothing.
    """

    def __init__(self, words: WordIndex, ngrams: Ngrams | None = None):
        self.words, self.ngrams = words, ngrams
        self.unknown: int = max(0, words.row(UNKNOWN) + 1)
        self._cased = words.is_cased
        self._numbers = lru_cache(maxsize=1 << 17)(self._number)
        self._parts = lru_cache(maxsize=1 << 14)(self._rows)

    @classmethod
    def load(cls, folder: Path) -> VectorWords:
        """Load an exported folder. Raises ModelError if its files are missing or damaged."""
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            ngrams = about["ngrams"]
            preparer = cls(
                WordIndex.load(folder / VOCABULARY), Ngrams(**ngrams) if ngrams else None
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                _("{folder} cannot be read: {error}.", folder=folder, error=error)
            ) from error
        preparer.segmenter = stored.read(folder)
        return preparer

    def save(self, folder: Path) -> None:
        self.words.save(folder / VOCABULARY)
        about = {"ngrams": self.ngrams.__dict__ if self.ngrams else None}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        self.save_segmenter(folder)

    @property
    def size(self) -> int:
        return len(self.words)

    def word(self, number: int) -> str:
        return self.words.word(number - 1) if number else UNKNOWN

    def is_known(self, word: str) -> bool:
        return self._numbers(word) != self.unknown or bool(self.ngrams and self._parts(word))

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """`input_ids` int32 (T,); with n-grams also `ngrams` and `ngram_words` int32 (G,).

        G: n-grams of all words, at least 1. ngram_words: the word of each.
        """
        ids = np.array([self._numbers(word) for word in units.words], dtype=np.int32)
        if self.ngrams is None:
            return {"input_ids": ids}
        rows = [self._parts(word) for word in units.words]
        flat = [row for word_rows in rows for row in word_rows] or [0]
        owner = np.repeat(
            np.arange(len(rows), dtype=np.int32), [len(word_rows) for word_rows in rows]
        )
        return {
            "input_ids": ids,
            "ngrams": np.array(flat, dtype=np.int32),
            "ngram_words": owner if len(owner) else np.zeros(1, dtype=np.int32),
        }

    def _number(self, word: str) -> int:
        row = self.words.row(word)
        if row < 0 and (lower := word.lower()) != word:
            row = self.words.row(lower)
        return row + 1 if row >= 0 else self.unknown

    def _rows(self, word: str) -> Sequence[int]:
        """Rows + 1 of the n-grams of a word, in the form in which it is looked up."""
        if self.ngrams is None or not word:
            return ()
        number = self._numbers(word)
        form = word if self._cased else word.lower()
        if number != self.unknown:
            form = self.words.word(number - 1)
        return tuple(len(self.words) + row + 1 for row in self.ngrams.rows(form))
