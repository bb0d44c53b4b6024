"""Words as sequences of UTF-8 bytes, the input of ELMo's character CNN. Without torch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from workbench.runtime.inputs import EncodedInput
from workbench.runtime.preparers.words import SPECIAL, Units, WordPreparer

# Ids of bilm-tf before the shift: bytes are 0 to 255.
SENTENCE_START, SENTENCE_END, WORD_START, WORD_END, PADDING = range(256, 261)
SHIFT = 1  # 0 is left for positions of a batch without a word
OPTIONS = "options.json"
CHARACTERS = "characters"


class WordCharacters(WordPreparer):
    """Inputs with `characters` int32 (T, longest): begin of word, bytes, end of word, padding.

    longest: bytes per word with both marks; longer words are truncated.
    Source: bilm/data.py of https://github.com/allenai/bilm-tf (Apache-2.0).
    """

    def __init__(self, longest: int = 50):
        self.longest = longest

    @property
    def size(self) -> int:
        return PADDING + SHIFT + 1

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """`characters` int32 (T, longest).

        A row is 0 for the token that stands for an input without words.
        """
        room = self.longest - 2
        words = [word.encode("utf-8", "ignore")[:room] for word in units.words]
        lengths = np.fromiter(map(len, words), np.int32, len(words))[:, None]
        flat = np.frombuffer(b"".join(word.ljust(self.longest, b"\0") for word in words), np.uint8)
        # The byte of a word at position p stands at p + 1, behind the mark of its begin.
        content = np.roll(flat.astype(np.int32).reshape(len(words), self.longest), 1, axis=1)
        places = np.arange(self.longest)
        rows = np.where(places <= lengths, content, np.int32(PADDING))
        rows[:, 0] = WORD_START
        np.put_along_axis(rows, lengths + 1, WORD_END, axis=1)
        rows += SHIFT
        rows[[text == SPECIAL for text in units.text]] = 0
        return {CHARACTERS: rows}

    def boundaries(self) -> np.ndarray:
        """int32 (2, longest): the tokens before and after a sentence, <S> and </S>."""
        rows = np.full((2, self.longest), PADDING + SHIFT, np.int32)
        rows[:, :3] = [[WORD_START, mark, WORD_END] for mark in (SENTENCE_START, SENTENCE_END)]
        rows[:, :3] += SHIFT
        return rows

    def pieces(self, encoded: EncodedInput) -> list[str]:
        rows = encoded.arrays[CHARACTERS] - SHIFT
        return [
            bytes(row[(row >= 0) & (row < 256)].tolist()).decode("utf-8", "replace") for row in rows
        ]

    def is_known(self, word: str) -> bool:
        """Every word is known by its characters."""
        return True

    def save(self, folder: Path) -> None:
        path = folder / OPTIONS
        if not path.exists():  # a saved model's own options contain it
            sizes = {"char_cnn": {"max_characters_per_token": self.longest}}
            path.write_text(json.dumps(sizes, indent=1), encoding="utf-8")
        self.save_segmenter(folder)
