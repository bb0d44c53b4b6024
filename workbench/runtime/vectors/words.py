"""A list of words that is looked up in memory-mapped arrays: 2 million words open in milliseconds.

A dictionary of 2 million words takes a second and 250 MB in every process. Here a word is found by
binary search for its hash; equal hashes are told apart by the words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1  # FNV-1a, 64 bit
FILES = ("text", "ends", "hashes", "order")


class WordIndex:
    """Words in the order of their rows.

    text uint8: all words as UTF-8, concatenated; ends int64 (N,): where each one ends. hashes
    uint64 (N,), ascending, and order int32 (N,): the row of each hash, ascending for equal ones.
    """

    def __init__(self, text: np.ndarray, ends: np.ndarray, hashes: np.ndarray, order: np.ndarray):
        self.text, self.ends, self.hashes, self.order = text, ends, hashes, order

    @classmethod
    def build(cls, words: Sequence[bytes]) -> WordIndex:
        text = np.frombuffer(b"".join(words), dtype=np.uint8)
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        ends = np.cumsum(lengths)
        hashes = _hashes(text, ends - lengths, lengths)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return cls(text, ends, hashes[order], order)

    @classmethod
    def load(cls, folder: Path) -> WordIndex:
        """Raises OSError or ValueError if a file is missing or damaged."""
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in FILES]
        text, ends, hashes, order = arrays
        if not len(ends) == len(hashes) == len(order) or (len(ends) and ends[-1] != len(text)):
            raise ValueError(str(folder))
        return cls(*arrays)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, row: int) -> bytes:
        start = int(self.ends[row - 1]) if row else 0
        return self.text[start : int(self.ends[row])].tobytes()

    def word(self, row: int) -> str:
        """Bytes that are no UTF-8 are replaced: word2vec cuts long words within a character."""
        return self.raw(row).decode("utf-8", "replace")

    def damaged(self) -> int:
        """How many words have bytes that are no UTF-8."""
        if _is_utf8(self.text.tobytes()):
            return 0
        return sum(not _is_utf8(self.raw(row)) for row in range(len(self)))

    def row(self, word: str) -> int:
        """The first row of a word, -1 if it is not in the list."""
        raw = word.encode("utf-8", "surrogatepass")
        hashed = _hash(raw)
        at = int(np.searchsorted(self.hashes, np.uint64(hashed)))
        while at < len(self.hashes) and int(self.hashes[at]) == hashed:
            if self.raw(row := int(self.order[at])) == raw:
                return row
            at += 1
        return -1

    def repeated(self) -> frozenset[int]:
        """Rows whose word has an earlier row."""
        same = np.flatnonzero(self.hashes[1:] == self.hashes[:-1]) + 1
        rows = (int(row) for row in self.order[same])
        return frozenset(row for row in rows if self._first(row) != row)

    def _first(self, row: int) -> int:
        raw = self.raw(row)
        at = int(np.searchsorted(self.hashes, np.uint64(_hash(raw))))
        while self.raw(int(self.order[at])) != raw:
            at += 1
        return int(self.order[at])

    @property
    def is_cased(self) -> bool:
        """Whether any word has an upper-case ASCII letter."""
        letters = np.asarray(self.text)
        return bool(((letters >= ord("A")) & (letters <= ord("Z"))).any())


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _hash(word: bytes) -> int:
    hashed = _OFFSET
    for byte in word:
        hashed = ((hashed ^ byte) * _PRIME) & _MASK
    return hashed


def _hashes(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The hash of every word, one character of all words at a time."""
    hashes = np.full(len(starts), _OFFSET, dtype=np.uint64)
    left = np.arange(len(starts))
    position = 0
    while len(left := left[lengths[left] > position]):
        hashes[left] = (hashes[left] ^ text[starts[left] + position]) * np.uint64(_PRIME)
        position += 1
    return hashes
