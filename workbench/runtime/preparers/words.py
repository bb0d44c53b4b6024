"""Inputs of models that read whole words: static vectors, ELMo, LSTM language models.

numpy only. A family gives the arrays of a sequence of words, the rest is done here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.runtime.inputs import (
    EncodedInput,
    Prepared,
    Preparer,
    first_room,
    paired_windows,
    prepared_windows,
)
from workbench.text.document import TEXT, Document
from workbench.text.segment import tokens_of
from workbench.text.segment import words as words_of
from workbench.text.segmenters import base as segmenters
from workbench.text.segmenters import stored

OVERLAP = 4  # adjacent windows share 1 / OVERLAP of their length
SPECIAL = -1  # `text` of tokens that belong to no text


@dataclass(frozen=True)
class Units:
    """The tokens of one input before they are numbered.

    words: the token at each position as text. offsets: code points, (0, 0) at special tokens.
    text: 0 first text, 1 second text, SPECIAL.
    """

    words: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    text: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, part: slice) -> Units:
        return Units(self.words[part], self.offsets[part], self.text[part])

    def joined(self, other: Units) -> Units:
        return Units(self.words + other.words, self.offsets + other.offsets, self.text + other.text)


class WordPreparer(ABC):
    """A preparer with one token per word: the document's tokens where it has them.

    Subclasses implement `arrays`, `size`, `is_known` and `save`, and `units` if they split or mark
    words in their own way. `empty` is the word of an input without words, as a model needs at
    least one token.
    """

    fill: Mapping[str, int] = {}
    added = 0
    unknown: int | None = None
    empty = ""
    segmenter = segmenters.DEFAULT  # id of the one that splits texts; `split` is the default
    reads_words = True  # whether texts are read word by word, not character by character
    keeps_words = True  # whether tokens are the words themselves, each once and nothing else

    @property
    @abstractmethod
    def size(self) -> int:
        """Entries of the vocabulary, 0 without one."""

    @abstractmethod
    def arrays(self, units: Units) -> dict[str, np.ndarray]:
        """The arrays of one input, by name; usually one row per token, first axis T."""

    @abstractmethod
    def is_known(self, word: str) -> bool:
        """Whether the vocabulary, or what replaces it, has the word."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """See `Preparer.save`."""

    def split(self, text: str) -> Sequence[tuple[int, int]]:
        """The words of a text that was imported without tokens."""
        return words_of(text)

    def words_of(self, text: str) -> Sequence[tuple[int, int]]:
        """The words of a text without tokens, by the segmenter if there is one.

        Raises ModelError if it is not installed.
        """
        if self.segmenter == segmenters.DEFAULT:
            return self.split(text)
        return segmenters.load(self.segmenter).words(text)

    def save_segmenter(self, folder: Path) -> None:
        """Part of `save`, for models that are pretrained on words."""
        stored.write(self.segmenter, folder)

    def _word_offsets(self, document: Document, name: str = TEXT) -> Sequence[tuple[int, int]]:
        """The imported tokens of a text, else its words."""
        has_tokens = bool(document.tokens.get(name))
        return tokens_of(document, name) if has_tokens else self.words_of(document.content(name))

    def units(self, text: str, words: Sequence[tuple[int, int]], number: int) -> Units:
        """The tokens of text `number`, whose words are at the given offsets."""
        offsets = tuple(words)
        return Units(
            tuple(text[start:end] for start, end in offsets), offsets, (number,) * len(offsets)
        )

    def framed(self, units: Units) -> Units:
        """The tokens of a whole input or window with the special tokens around them."""
        return units

    def whole(self, documents: Sequence[Document], max_length: int, *, texts: int = 1) -> Prepared:
        """See `Preparer.whole`. The longer of two texts is truncated first."""
        inputs, cut = [], []
        for document in documents:
            parts = self._texts(document, texts)
            units = self._truncated(parts, max_length - self.added)
            cut.append(len(units) < sum(map(len, parts)))
            inputs.append(self.encoded(units))
        return Prepared(list(documents), inputs, np.arange(len(inputs)), np.array(cut, dtype=bool))

    def _truncated(self, parts: Sequence[Units], room: int) -> Units:
        while True:
            units = Units((), (), ())
            lengths = _shortened([len(part) for part in parts], room)
            for part, length in zip(parts, lengths, strict=True):
                units = units.joined(part[:length])
            fits = self.fits(units)
            if fits >= len(units) or len(units) == 1:
                return units
            room = max(1, fits)

    def fits(self, units: Units) -> int:
        """How many of the first tokens fit into one input for reasons besides its length."""
        return len(units)

    def windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        """See `Preparer.windows`."""
        room = max(1, max_length - self.added)
        windows = []
        for document in documents:
            units = self.units(document.text, self._word_offsets(document), 0)
            windows.append([self.encoded(window) for window in self._windows(units, room)])
        return prepared_windows(documents, windows)

    def pair_windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        """See `Preparer.pair_windows`."""
        document_windows = []
        for document in documents:
            first, second = self._texts(document, 2)
            first = first[: first_room(max_length)]
            room = max(1, max_length - self.added - len(first))
            windows, start = [], 0
            while True:
                window = second[start : start + room]
                fits = self.fits(first.joined(window)) - len(first)
                window = window[: max(1, fits)]
                windows.append(self.encoded(first.joined(window)))
                if start + len(window) >= len(second):
                    break
                start += max(1, len(window) - len(window) // OVERLAP)
            document_windows.append(windows)
        return paired_windows(documents, document_windows)

    def _windows(self, units: Units, room: int) -> Iterator[Units]:
        start = 0
        while True:
            window = units[start : start + room]
            window = window[: max(1, self.fits(window))]
            yield window
            if start + len(window) >= len(units):
                return
            start += max(1, len(window) - len(window) // OVERLAP)

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        room = max_length - self.added
        return sum(
            sum(len(self.units(text, self.words_of(text), 0)) for text in pair) > room
            for pair in texts
        )

    def pieces(self, encoded: EncodedInput) -> list[str]:
        """The words as they are looked up. Subclasses without `input_ids` override it."""
        return [self.word(number) for number in encoded.ids.tolist()]

    def word(self, number: int) -> str:
        """The vocabulary entry with this id."""
        raise NotImplementedError(f"{type(self).__name__} has no vocabulary")

    def unknown_share(self, texts: Iterable[str]) -> float:
        known = [
            self.is_known(text[start:end])
            for text in texts
            for start, end in self.words_of(text)
            if any(map(str.isalpha, text[start:end]))
        ]
        return 1 - sum(known) / len(known) if known else 0.0

    def encoded(self, units: Units) -> EncodedInput:
        units = units if len(units) else Units((self.empty,), ((0, 0),), (SPECIAL,))
        units = self.framed(units)
        return EncodedInput(
            self.arrays(units),
            np.array(units.offsets, dtype=np.int32).reshape(-1, 2),
            np.array(units.text, dtype=np.int8),
        )

    def _texts(self, document: Document, texts: int) -> list[Units]:
        """The tokens of the first `texts` texts; a missing second text has none."""
        names = [name for name, _content in document.texts[:texts]]
        text_units = [
            self.units(document.content(name), self._word_offsets(document, name), number)
            for number, name in enumerate(names)
        ]
        return text_units or [self.units(document.content(TEXT), self._word_offsets(document), 0)]


def segmenter_of(preparer: Preparer) -> str:
    """The id of the word segmenter that a model was pretrained with, the default without one."""
    return preparer.segmenter if isinstance(preparer, WordPreparer) else segmenters.DEFAULT


def _shortened(lengths: Sequence[int], room: int) -> list[int]:
    """Lengths with a sum of at most `room`: the longest text is cut first, the later on a tie."""
    shortened = list(lengths)
    while sum(shortened) > max(1, room):
        longest = max(reversed(range(len(shortened))), key=shortened.__getitem__)
        rest = sorted(shortened)[-2] if len(shortened) > 1 else 0
        over = sum(shortened) - max(1, room)
        shortened[longest] -= max(1, min(over, shortened[longest] - rest))
    return shortened
