"""Words with the special tokens of fastai, for AWD-LSTM."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from workbench.runtime.preparers import fastai_rules
from workbench.runtime.preparers.words import SPECIAL, Units, WordPreparer

ITOS = "itos.json"  # the vocabulary as a list of words, in the order of the embeddings
PADDING_ID = 1  # of every published model


class FastaiWords(WordPreparer):
    """One token per word, marks of capitals and repetitions before it, "xxbos" at the beginning.

    vocabulary: in the order of the rows of the embeddings. Marks have no offsets, as they are no
    part of the text: the state after a word, not that after its mark, stands for the word.
    """

    fill: Mapping[str, int] = {"input_ids": PADDING_ID}
    keeps_words = False

    def __init__(self, vocabulary: Sequence[str]):
        self.vocabulary = list(vocabulary)
        self.rules = fastai_rules.rules_of(self.vocabulary)
        self._numbers = {word: n for n, word in reversed(list(enumerate(self.vocabulary)))}
        self.unknown: int = self._numbers.get(self.rules.unknown, 0)
        self.added = len(self.rules.begin)
        self.empty = self.rules.unknown

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    def is_known(self, word: str) -> bool:
        return word.lower() in self._numbers

    def word(self, number: int) -> str:
        return self.vocabulary[number]

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """`input_ids` int32 (T,)."""
        ids = [self._numbers.get(word, self.unknown) for word in units.words]
        return {"input_ids": np.array(ids, dtype=np.int32)}

    def split(self, text: str) -> Sequence[tuple[int, int]]:
        return fastai_rules.split(text)

    def units(self, text: str, words: Sequence[tuple[int, int]], number: int) -> Units:
        """A second text begins with the mark of its field."""
        begin: list[fastai_rules.Unit] = [(self.rules.field, None), ("2", None)]
        every = (begin if number else []) + fastai_rules.units(text, words, self.rules)
        return Units(
            tuple(word for word, _span in every),
            tuple(span or (0, 0) for _word, span in every),
            tuple(number if span else SPECIAL for _word, span in every),
        )

    def framed(self, units: Units) -> Units:
        begin = self.rules.begin
        empty = Units(begin, ((0, 0),) * len(begin), (SPECIAL,) * len(begin))
        return empty.joined(units)

    def save(self, folder: Path) -> None:
        content = json.dumps(self.vocabulary, ensure_ascii=False)
        (folder / ITOS).write_text(content, encoding="utf-8")
        self.save_segmenter(folder)
