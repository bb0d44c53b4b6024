"""Words read through character language models and looked up in tables of static vectors.

Source of the look-up: flair 0.15, WordEmbeddings.get_cached_token_index. numpy only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.runtime.preparers.character_texts import FILE, CharacterTable, CharacterTexts
from workbench.runtime.preparers.words import Units

WORDS = "static_words.json"  # beside the tables of characters
_DIGIT = re.compile(r"\d")


def rows(table: int) -> str:
    """The name of the array (T,): the row of each word in a table of static vectors."""
    return f"static{table}_rows"


class TaggedTexts(CharacterTexts):
    """Arrays of CharacterTexts, and of each word its row in every table of static vectors.

    words: of each table, row by word; unknown words have the row after the last.
    """

    def __init__(self, tables: Mapping[str, CharacterTable], words: Sequence[Mapping[str, int]]):
        super().__init__(tables)
        self.words = tuple(dict(word) for word in words)
        self._row = lru_cache(maxsize=1 << 16)(self._looked_up)

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """As `CharacterTexts.arrays`, and for each table the rows of the words, int32 (T,)."""
        arrays = super().arrays(units)
        for table in range(len(self.words)):
            numbers = [self._row(table, word) for word in units.words]
            arrays[rows(table)] = np.array(numbers, dtype=np.int32)
        return arrays

    def _looked_up(self, table: int, word: str) -> int:
        """As written, in lower case, then with digits as # or 0."""
        known, lower = self.words[table], word.lower()
        for form in (word, lower, _DIGIT.sub("#", lower), _DIGIT.sub("0", lower)):
            if form in known:
                return known[form]
        return len(known)

    def save(self, folder: Path) -> None:
        super().save(folder)
        (folder / WORDS).write_text(json.dumps(self.words, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> TaggedTexts:
        """Read the folder that `save` writes. Raises OSError or ValueError."""
        tables = CharacterTexts.load(path.with_name(FILE)).tables
        raw = json.loads(path.with_name(WORDS).read_text(encoding="utf-8"))
        if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
            raise ValueError("it holds no list of words")
        return cls(tables, raw)
