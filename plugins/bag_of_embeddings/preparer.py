"""Texts as word ids. Without torch: an exported model uses it to prepare its inputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench.runtime.preparers.words import Units, WordPreparer

PADDING, UNKNOWN = "<pad>", "<unk>"


class Words(WordPreparer):
    """One unit per word; a word is looked up as written, then in lower case.

    words: in the order of the rows of the table; the first two are PADDING and UNKNOWN.
    """

    unknown = 1

    def __init__(self, words: Sequence[str]):
        self.words = list(words)
        self._number = {word: number for number, word in reversed(list(enumerate(self.words)))}

    @property
    def size(self) -> int:
        return len(self.words)

    def word(self, number: int) -> str:
        return self.words[number]

    def is_known(self, word: str) -> bool:
        return self._look_up(word) != self.unknown

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        ids = [self._look_up(word) for word in units.words]
        return {"input_ids": np.array(ids, dtype=np.int32)}

    def save(self, folder: Path) -> None:
        path = folder / "words.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        known["words"] = self.words
        path.write_text(json.dumps(known, ensure_ascii=False), encoding="utf-8")

    def _look_up(self, word: str) -> int:
        return self._number.get(word, self._number.get(word.lower(), self.unknown))
