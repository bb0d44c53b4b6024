"""Subwords of a Hugging Face tokenizer, for all transformer models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from workbench.runtime.inputs import EncodedInput, Prepared, prepared_windows
from workbench.runtime.tokenizer import Tokenizer
from workbench.text.document import Document

OVERLAP = 4  # adjacent windows share 1 / OVERLAP of their length


class Subwords:
    """Inputs with `input_ids` and `token_type_ids`."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.fill: Mapping[str, int] = {"input_ids": tokenizer.pad}

    @classmethod
    def load(cls, folder: Path | str) -> Subwords:
        """From `tokenizer.json`. Raises ModelError if it is missing or damaged."""
        return cls(Tokenizer.load(folder))

    def save(self, folder: Path) -> None:
        self.tokenizer.backend.save(str(folder / "tokenizer.json"))

    def whole(self, documents: Sequence[Document], max_length: int, *, texts: int = 1) -> Prepared:
        found = list(self.tokenizer.whole([contents(one, texts) for one in documents], max_length))
        cut = np.fromiter((was_cut for _, was_cut in found), dtype=bool, count=len(found))
        return Prepared(
            list(documents), [encoded for encoded, _ in found], np.arange(len(found)), cut
        )

    def windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        texts = [document.text for document in documents]
        found = self.tokenizer.windows(texts, max_length, max_length // OVERLAP)
        return prepared_windows(documents, list(found))

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
        return [self.tokenizer.piece(one) for one in encoded.ids.tolist()]

    def unknown_share(self, texts: Iterable[str]) -> float:
        return self.tokenizer.unknown_share(texts)


def contents(document: Document, texts: int) -> tuple[str, ...]:
    """The first `texts` texts; a missing second text is empty."""
    found = tuple(content for _, content in document.texts[:texts])
    return found + ("",) * (texts - len(found))
