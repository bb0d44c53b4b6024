"""Words whose embeddings are stacked from several parts. numpy only.

A part is a vocabulary of words, characters of each word, or the preparer of another model. The
words are joined by spaces for a part with tokens of its own (subwords), which are then aligned.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.decoding import align
from workbench.runtime.inputs import EncodedInput, Prepared, Preparer
from workbench.runtime.preparers.words import Units, WordPreparer
from workbench.text.document import TEXT, TEXT_B, Document

VOCABULARY = "words.json"  # words and characters, beside the parts
IDS, UNITS, FIRST, END = "ids", "units", "first", "end"
NO_LIMIT = 1 << 24  # tokens
MAX_WORD_CHARS = 24  # characters; longer words are truncated
UNKNOWN, BEGIN, STOP, RESERVED = 1, 2, 3, 4  # ids of characters; 0 is padding


def part_folder(folder: Path, part: int) -> Path:
    """Where the files of a part that is a model are in the folder of the stack."""
    return folder / f"part{part}"


def array(part: int, name: str) -> str:
    """The name of an array of a part in the inputs of the whole stack."""
    return f"part{part}_{name}"


class Part(ABC):
    """The arrays that one part of a stack reads.

    fill: padding values of its arrays. size: entries of its vocabulary, 0 without one.
    """

    fill: Mapping[str, int] = {}
    size = 0

    @abstractmethod
    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """Arrays by name, without the prefix of the part: (T, …), T tokens, if not stated
        otherwise.
        """

    def fits(self, units: Units) -> int:
        """How many of the first tokens fit into one input of the part."""
        return len(units)

    def is_known(self, word: str) -> bool:
        return True

    def save(self, folder: Path) -> None:
        """Write what `FamilyInfo.preparer` needs to load the part from a folder of its own."""
        raise NotImplementedError(f"{type(self).__name__} is saved with the vocabulary")


class WordNumbers(Part):
    """ids int32 (T,): number of the word + 1, as written or in lower case; 0 for others.

    rare: how many words, the last ones, occur once in the texts of the vocabulary.
    """

    def __init__(self, words: Sequence[str], rare: int = 0):
        self.words, self.rare, self.size = tuple(words), rare, len(words)
        self._numbers = {word: number + 1 for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, words: Iterable[str]) -> WordNumbers:
        """The words of texts, the most frequent first."""
        counts = Counter(words)
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(ordered, sum(count == 1 for count in counts.values()))

    def number(self, word: str) -> int:
        return self._numbers.get(word) or self._numbers.get(word.lower(), 0)

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """`ids` int32 (T,), 0 for unknown words."""
        return {IDS: np.array([self.number(word) for word in units.words], np.int32)}

    def is_known(self, word: str) -> bool:
        return self.number(word) > 0


class CharacterNumbers(Part):
    """ids int32 (T, MAX_WORD_CHARS + 2): begin of word, its characters, end of word, padding."""

    def __init__(self, characters: Iterable[str]):
        self.characters = tuple(characters)
        self.size = RESERVED + len(self.characters)
        self._numbers = {
            character: RESERVED + number for number, character in enumerate(self.characters)
        }
        self._rows = lru_cache(maxsize=1 << 16)(self._row)

    @classmethod
    def of(cls, words: Iterable[str]) -> CharacterNumbers:
        return cls(sorted(set().union(*words)))

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """`ids` int32 (T, MAX_WORD_CHARS + 2)."""
        rows = [self._rows(word) for word in units.words]
        return {IDS: np.stack(rows)}

    def _row(self, word: str) -> np.ndarray:
        row = np.zeros(MAX_WORD_CHARS + 2, np.int32)
        numbers = [self._numbers.get(item, UNKNOWN) for item in word[:MAX_WORD_CHARS]]
        row[: len(numbers) + 2] = [BEGIN, *numbers, STOP]
        return row


class WordModel(Part):
    """A model whose tokens are the words themselves."""

    def __init__(self, preparer: WordPreparer):
        self.preparer, self.fill, self.size = preparer, preparer.fill, preparer.size

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """The arrays (T, …) of its preparer."""
        return self.preparer.arrays(units)

    def is_known(self, word: str) -> bool:
        return self.preparer.is_known(word)

    def save(self, folder: Path) -> None:
        self.preparer.save(folder)


class UnitModel(Part):
    """A model with tokens of its own, at most `longest` per input.

    Besides its arrays: units (S,), 1 at each of its tokens; first, end int32 (T,): those of each
    word, equal for a word without one.
    """

    def __init__(self, preparer: Preparer, longest: int):
        self.preparer, self.fill, self.longest = preparer, preparer.fill, longest
        self.size = preparer.size

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """The arrays of its preparer, first axis S; units int32 (S,); first, end int32 (T,)."""
        encoded, first, end = self._encoded(units, self.longest)
        ones = np.ones(len(encoded), np.int32)
        return {**encoded.arrays, UNITS: ones, FIRST: first, END: end}

    def fits(self, units: Units) -> int:
        """All words before the first whose tokens are truncated."""
        if not self._whole(_joined(units)[0], self.longest).cut[0]:
            return len(units)
        _encoded, first, end = self._encoded(units, self.longest)
        _encoded, first_of_all, end_of_all = self._encoded(units, NO_LIMIT)
        missing = np.flatnonzero(end - first < end_of_all - first_of_all)
        return int(missing[0]) if len(missing) else len(units)

    def _whole(self, document: Document, longest: int) -> Prepared:
        return self.preparer.whole([document], longest, texts=len(document.texts))

    def _encoded(self, units: Units, longest: int) -> tuple[EncodedInput, np.ndarray, np.ndarray]:
        document, places = _joined(units)
        whole = self._whole(document, longest).inputs[0]
        first, end = (np.zeros(len(units), np.int32) for _ in range(2))
        for number, (name, _text) in enumerate(document.texts):
            where = align(document.tokens[name], [(whole.offsets, whole.text == number)])
            there = where.window >= 0
            at = np.array(places[number], np.int64)[there]
            first[at], end[at] = where.first[there], where.end[there]
        return whole, first, end

    def is_known(self, word: str) -> bool:
        return self.preparer.unknown_share([word]) == 0

    def save(self, folder: Path) -> None:
        self.preparer.save(folder)


def _joined(units: Units) -> tuple[Document, list[list[int]]]:
    """The words of each text joined by spaces, and the tokens that they are."""
    names = (TEXT, TEXT_B)
    texts = max(0, *units.text) + 1 if len(units) else 1
    places = [[n for n, text in enumerate(units.text) if text == number] for number in range(texts)]
    contents, tokens = [], {}
    for name, text_words in zip(names, places, strict=False):
        words = [units.words[number] for number in text_words]
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        word_offsets = tuple(
            (int(end) - len(word), int(end)) for word, end in zip(words, ends, strict=True)
        )
        contents.append((name, " ".join(words)))
        tokens[name] = word_offsets
    return Document("", tuple(contents), tokens=tokens), places


def model_part(preparer: Preparer, longest: int) -> Part:
    """The part for the preparer of a model that reads at most `longest` tokens."""
    if isinstance(preparer, WordPreparer) and preparer.keeps_words:
        return WordModel(preparer)
    return UnitModel(preparer, longest)


class StackedWords(WordPreparer):
    """Arrays of every part, each name with the prefix of the part; see `array`."""

    def __init__(self, parts: Sequence[Part]):
        self.stack = tuple(parts)
        self.fill = {
            array(number, name): value
            for number, part in enumerate(self.stack)
            for name, value in part.fill.items()
        }

    @property
    def size(self) -> int:
        return max((part.size for part in self.stack if isinstance(part, WordNumbers)), default=0)

    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """The arrays (T, …) of all parts, each with the prefix of its part."""
        return {
            array(number, name): value
            for number, part in enumerate(self.stack)
            for name, value in part.arrays(units).items()
        }

    def is_known(self, word: str) -> bool:
        """Whether a part other than the characters knows the word; all do without such parts."""
        parts = [part for part in self.stack if not isinstance(part, CharacterNumbers)]
        return not parts or any(part.is_known(word) for part in parts)

    def encoded(self, units: Units) -> EncodedInput:
        """The words as text are kept for `pieces`."""
        encoded = super().encoded(units)
        words = np.array(units.words or (self.empty,), dtype=object)
        return EncodedInput({**encoded.arrays, "words": words}, encoded.offsets, encoded.text)

    def pieces(self, encoded: EncodedInput) -> list[str]:
        return [str(word) for word in encoded.arrays["words"]]

    def fits(self, units: Units) -> int:
        for part in self.stack:
            units = units[: part.fits(units)]
        return len(units)

    # ---------------------------------------------------------------- files

    def save(self, folder: Path) -> None:
        """The vocabularies, and the files of each part's own preparer."""
        self.save_vocabulary(folder)
        for number, part in enumerate(self.stack):
            if not isinstance(part, WordNumbers | CharacterNumbers):
                own = part_folder(folder, number)
                own.mkdir(parents=True, exist_ok=True)
                part.save(own)

    def save_vocabulary(self, folder: Path) -> None:
        """Words and characters."""
        raw: dict[str, object] = {}
        for part in self.stack:
            if isinstance(part, WordNumbers):
                raw["words"], raw["rare"] = part.words, part.rare
            elif isinstance(part, CharacterNumbers):
                raw["characters"] = "".join(part.characters)
        content = json.dumps(raw, ensure_ascii=False)
        (folder / VOCABULARY).write_text(content, encoding="utf-8")


def read_vocabulary(folder: Path) -> tuple[WordNumbers, CharacterNumbers]:
    """What `StackedWords.save` wrote. Raises ModelError if it is missing or damaged."""
    path = folder / VOCABULARY
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        words, characters = raw.get("words", []), raw.get("characters", "")
        if not all(isinstance(word, str) for word in words) or not isinstance(characters, str):
            raise ValueError(_("it holds no lists of words and characters"))
        return WordNumbers(words, int(raw.get("rare", 0))), CharacterNumbers(characters)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.", path=path, error=error),
            hint=_("Train again, or restore the folder from a backup."),
        ) from error
