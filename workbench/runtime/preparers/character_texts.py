"""Words read through a character language model: the characters of the whole text, and positions.

Source of the layout: Akbik, Blythe and Vollgraf 2018, Contextual String Embeddings for Sequence
Labeling, section 2.2; markers and positions as in flair 0.15 (FlairEmbeddings). numpy only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.runtime.inputs import EncodedInput
from workbench.runtime.preparers.words import Units, WordPreparer

FILE = "character_lm.json"
NEXT, PREVIOUS = "next", "previous"  # what a language model predicts, also its reading direction
UNKNOWN = 0
END = " "  # read after the last word
REPLACEMENT = "\ufffd"


def characters(direction: str) -> str:
    """The name of the array (C,) of character ids, in the order in which they are read."""
    return f"{direction}_characters"


def positions(direction: str) -> str:
    """The name of the array (T,): where in the characters the state of each word is read."""
    return f"{direction}_positions"


@dataclass(frozen=True)
class CharacterTable:
    """The characters of a language model.

    ids: of each character; others are UNKNOWN. size: rows of the embedding table. delimiter: read
    before every text.
    """

    ids: Mapping[str, int]
    size: int
    delimiter: str = "\n"
    _characters: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def encode(self, text: str) -> list[int]:
        get = self.ids.get
        return [get(character, UNKNOWN) for character in text]

    def character(self, number: int) -> str:
        """The character with this id; REPLACEMENT for UNKNOWN and ids of several characters."""
        if not self._characters:
            single = {id: text for text, id in self.ids.items() if len(text) == 1}
            self._characters.update(single)
        return self._characters.get(number, REPLACEMENT)

    @classmethod
    def from_json(cls, raw: Any) -> CharacterTable:
        """Raises ValueError if it does not describe a table."""
        try:
            ids = {str(item): int(number) for item, number in raw["ids"].items()}
            table = cls(ids, int(raw["size"]), str(raw["delimiter"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"incomplete table of characters: {error}") from error
        if any(not 0 <= number < table.size for number in ids.values()) or not table.delimiter:
            raise ValueError("the ids of the characters exceed the size of the table")
        return table

    def to_json(self) -> dict[str, Any]:
        return {"ids": dict(self.ids), "size": self.size, "delimiter": self.delimiter}


class CharacterTexts(WordPreparer):
    """One token per word; the model reads the words joined by spaces, character by character.

    The forward model ("next") reads delimiter, text, space; a word's state is the one after the
    space that follows it. The backward model ("previous") reads delimiter, reversed text, space; a
    word's state is the one after the space that precedes the word in the text.
    """

    reads_words = False
    unknown = None  # tokens are words, and every word has characters

    def __init__(self, tables: Mapping[str, CharacterTable]):
        self.tables = dict(tables)

    @property
    def size(self) -> int:
        return max(table.size for table in self.tables.values())

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """Arrays for each direction: characters int32 (C,) with delimiter and end; positions int32
        (T,).

        C: characters of the text. A position is where the state of a word is read.
        """
        text = " ".join(units.words)
        lengths = np.fromiter(map(len, units.words), dtype=np.int32, count=len(units))
        ends = np.cumsum(lengths + 1) - 1  # of each word in the text, exclusive
        arrays = {}
        for direction, table in self.tables.items():
            forward = direction == NEXT
            read = table.delimiter + (text if forward else text[::-1]) + END
            place = ends if forward else len(text) - ends + lengths
            arrays[characters(direction)] = np.array(table.encode(read), dtype=np.int32)
            arrays[positions(direction)] = (place + len(table.delimiter)).astype(np.int32)
        return arrays

    def is_known(self, word: str) -> bool:
        return any(all(text in table.ids for text in word) for table in self.tables.values())

    def pieces(self, encoded: EncodedInput) -> list[str]:
        """The words as the model reads them, with REPLACEMENT for unknown characters."""
        direction, table = next(iter(self.tables.items()))
        read = encoded.arrays[characters(direction)][len(table.delimiter) :]
        text = [table.character(number) for number in read.tolist()]
        ends = (encoded.arrays[positions(direction)] - len(table.delimiter)).tolist()
        if direction == NEXT:
            return _words(text, ends)
        return ["".join(reversed(word)) for word in _words(text, ends[::-1])[::-1]]

    def save(self, folder: Path) -> None:
        tables = {direction: table.to_json() for direction, table in self.tables.items()}
        (folder / FILE).write_text(json.dumps(tables, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> CharacterTexts:
        """Read the file that `save` writes. Raises OSError or ValueError."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(raw, dict) or not raw.keys() <= {NEXT, PREVIOUS} or not raw:
            raise ValueError("it names no direction")
        return cls({name: CharacterTable.from_json(table) for name, table in raw.items()})


def _words(text: Sequence[str], ends: Iterable[int]) -> list[str]:
    """The words of a text of characters in reading order; `ends` are exclusive."""
    words, start = [], 0
    for end in ends:
        words.append("".join(text[start:end]))
        start = end + 1
    return words
