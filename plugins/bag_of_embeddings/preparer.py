"""Texts as word ids. Without torch: an exported model uses it to prepare its inputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from workbench.runtime.inputs import EncodedInput, Prepared, prepared_windows
from workbench.text.document import Document
from workbench.text.segment import tokens_of
from workbench.text.segment import words as words_of

PADDING, UNKNOWN = "<pad>", "<unk>"


class Words:
    """One unit per word; a word is looked up as written, then in lower case.

    words: in the order of the rows of the table; the first two are PADDING and UNKNOWN.
    """

    fill: Mapping[str, int] = {"input_ids": 0}
    added = 0
    unknown = 1

    def __init__(self, words: Sequence[str]):
        self.words = list(words)
        self._number = {word: number for number, word in reversed(list(enumerate(self.words)))}

    @property
    def size(self) -> int:
        return len(self.words)

    def whole(self, documents: Sequence[Document], max_length: int, *, texts: int = 1) -> Prepared:
        found = [self._encode([text for _, text in one.texts[:texts]]) for one in documents]
        cut = np.array([len(one) > max_length for one in found], dtype=bool)
        short = [_part(one, 0, max_length) for one in found]
        return Prepared(list(documents), short, np.arange(len(short)), cut)

    def windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        found = []
        for document in documents:
            whole = self._encoded([(document.text, tokens_of(document))])
            starts = range(0, len(whole), max_length)
            found.append([_part(whole, start, start + max_length) for start in starts])
        return prepared_windows(documents, found)

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        return sum(sum(len(words_of(one)) for one in pair) > max_length for pair in texts)

    def pieces(self, encoded: EncodedInput) -> list[str]:
        return [self.words[one] for one in encoded.ids.tolist()]

    def unknown_share(self, texts: Iterable[str]) -> float:
        found = [
            self._look_up(text[start:end]) == 1
            for text in texts
            for start, end in words_of(text)
            if any(map(str.isalpha, text[start:end]))
        ]
        return sum(found) / len(found) if found else 0.0

    def save(self, folder: Path) -> None:
        path = folder / "words.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        known["words"] = self.words
        path.write_text(json.dumps(known, ensure_ascii=False), encoding="utf-8")

    def _look_up(self, word: str) -> int:
        return self._number.get(word, self._number.get(word.lower(), 1))

    def _encode(self, texts: Sequence[str]) -> EncodedInput:
        return self._encoded([(text, words_of(text)) for text in texts])

    def _encoded(self, texts: Sequence[tuple[str, Sequence[tuple[int, int]]]]) -> EncodedInput:
        """A text without words becomes one unknown word, as a model needs at least one unit."""
        ids, offsets, origin = [], [], []
        for number, (text, borders) in enumerate(texts):
            ids += [self._look_up(text[start:end]) for start, end in borders]
            offsets += borders
            origin += [number] * len(borders)
        if not ids:
            ids, offsets, origin = [1], [(0, 0)], [-1]
        return EncodedInput(
            {"input_ids": np.array(ids, dtype=np.int32)},
            np.array(offsets, dtype=np.int32).reshape(-1, 2),
            np.array(origin, dtype=np.int8),
        )


def _part(one: EncodedInput, start: int, end: int) -> EncodedInput:
    arrays = {name: array[start:end] for name, array in one.arrays.items()}
    return EncodedInput(arrays, one.offsets[start:end], one.text[start:end])
