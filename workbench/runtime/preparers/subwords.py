"""Subwords of a Hugging Face tokenizer, for all transformer models.

A tokenizer with the special tokens of GPT-1 also gives pairs in their other order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.runtime.inputs import EncodedInput, Prepared, paired_windows, prepared_windows
from workbench.runtime.tokenizer import Tokenizer
from workbench.text.document import Document

SWAPPED = "swapped_ids"  # array: `input_ids` with the second text first
OVERLAP = 4  # adjacent windows share 1 / OVERLAP of their length


class Subwords:
    """Inputs with `input_ids` and `token_type_ids`; with `SWAPPED` for the form of GPT-1."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        names = ("input_ids",) if tokenizer.delimiter is None else ("input_ids", SWAPPED)
        self.fill: Mapping[str, int] = dict.fromkeys(names, tokenizer.pad)

    @classmethod
    def load(cls, folder: Path | str) -> Subwords:
        """Load `tokenizer.json`. Raises ModelError if it is missing or damaged."""
        return cls(Tokenizer.load(folder))

    def save(self, folder: Path) -> None:
        self.tokenizer.backend.save(str(folder / "tokenizer.json"))

    def whole(self, documents: Sequence[Document], max_length: int, *, texts: int = 1) -> Prepared:
        encodings = list(
            self.tokenizer.whole([contents(item, texts) for item in documents], max_length)
        )
        cut = np.fromiter((was_cut for _, was_cut in encodings), dtype=bool, count=len(encodings))
        inputs = [self._both_orders(encoded) for encoded, _ in encodings]
        return Prepared(list(documents), inputs, np.arange(len(encodings)), cut)

    def windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        texts = [document.text for document in documents]
        text_windows = self.tokenizer.windows(texts, max_length, max_length // OVERLAP)
        return prepared_windows(
            documents, [tuple(map(self._both_orders, windows)) for windows in text_windows]
        )

    def pair_windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        pairs = [contents(document, 2) for document in documents]
        text_windows = self.tokenizer.pair_windows(pairs, max_length, max_length // OVERLAP)
        return paired_windows(
            documents, [tuple(map(self._both_orders, windows)) for windows in text_windows]
        )

    def _both_orders(self, encoded: EncodedInput) -> EncodedInput:
        """With the other order of a pair: the same tokens, so that both have one length.

        A single text has only one order.
        """
        delimiter = self.tokenizer.delimiter
        if delimiter is None:
            return encoded
        ids = encoded.ids
        between = np.flatnonzero((ids == delimiter) & (encoded.text < 0))
        if len(between):
            at = between[0]
            parts = (ids[:1], ids[at + 1 : -1], ids[at : at + 1], ids[1:at], ids[-1:])
            ids = np.concatenate(parts)
        return replace(encoded, arrays={**encoded.arrays, SWAPPED: ids})

    @property
    def size(self) -> int:
        return self.tokenizer.size

    @property
    def added(self) -> int:
        return self.tokenizer.added

    @property
    def unknown(self) -> int | None:
        return self.tokenizer.unknown

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        return self.tokenizer.count_cut(texts, max_length)

    def pieces(self, encoded: EncodedInput) -> list[str]:
        return [self.tokenizer.piece(item) for item in encoded.ids.tolist()]

    def unknown_share(self, texts: Iterable[str]) -> float:
        return self.tokenizer.unknown_share(texts)


def contents(document: Document, texts: int) -> tuple[str, ...]:
    """The first `texts` texts; a missing second text is empty."""
    filled = tuple(content for _, content in document.texts[:texts])
    return filled + ("",) * (texts - len(filled))
