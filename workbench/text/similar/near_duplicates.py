"""Near-duplicates: texts whose sets of word n-grams (shingles) overlap.

Candidates come from MinHash signatures divided into bands (LSH): texts that agree in a whole band
are compared. The Jaccard similarity of each candidate is then calculated from its shingles, so a
reported pair is never below the threshold; a pair may be missed with the probability `missed`.
Shingles and bands are kept in files, so that memory does not grow with the texts.

Source: Broder 1997, "On the resemblance and containment of documents"; Leskovec, Rajaraman and
Ullman, "Mining of Massive Datasets", section 3.4 (bands).
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.base import deprecation
from workbench.base.watch import QUIET, Watch
from workbench.text.segment import words

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Links="DisjointSets")

MAX_SIGNATURE_ROWS = 160  # length of a signature
MISSED = 1e-3  # probability to miss a pair at the threshold, if MAX_SIGNATURE_ROWS allows it
SEED = 20_011
SIMILARITY = 0.8  # default threshold
ALL_PAIRS = 20  # texts in one bucket up to which each is compared with each
MAX_CACHED_WORDS = 500_000  # hashes of words that are remembered
MAX_CACHED_PAIRS = 2_000_000  # pairs that are remembered as not similar
MAX_CACHED_TEXTS = 256  # texts whose shingles are remembered
_ASCII = re.compile(r"\w+", re.ASCII)
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_END = "\x1f"  # between the texts of a document, and after a text with fewer words than a shingle


def bands_of(threshold: float) -> tuple[int, int]:
    """(bands, rows of each): the most selective ones that miss at most MISSED at the threshold."""
    best = (MAX_SIGNATURE_ROWS, 1)
    for rows in range(1, 33):
        bands = MAX_SIGNATURE_ROWS // rows
        if missed(threshold, bands, rows) <= MISSED:
            needed = 1
            while missed(threshold, needed, rows) > MISSED:
                needed += 1
            best = (needed, rows)
    return best


def missed(similarity: float, bands: int, rows: int) -> float:
    """Probability that two texts of this similarity agree in no band."""
    return float((1.0 - similarity**rows) ** bands)


def tokens(text: str) -> list[str]:
    """The words that shingles are made of: without case, punctuation and symbols.

    Letters of scripts without spaces are words of their own.
    """
    folded = text.casefold()
    if folded.isascii():
        return _ASCII.findall(folded)
    pieces = (folded[start:end] for start, end in words(folded))
    return [word for word in pieces if word[0].isalnum() or word[0] == "_"]


def jaccard(item: np.ndarray, other: np.ndarray) -> float:
    """Similarity of two sets, 0 to 1; 1 for two empty ones.

    item (K,), other (M,): sorted, without repetition.
    """
    common = len(np.intersect1d(item, other, assume_unique=True))
    union = len(item) + len(other) - common
    return common / union if union else 1.0


class DisjointSets:
    """Groups of numbers that are joined by pairs (union-find)."""

    def __init__(self, count: int):
        self._above = array("q", range(count))

    def head(self, number: int) -> int:
        above = self._above
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    def join(self, number: int, other: int) -> None:
        first, second = sorted((self.head(number), self.head(other)))
        self._above[second] = first

    def joined(self, number: int, other: int) -> bool:
        return self.head(number) == self.head(other)


class Shingles:
    """Hashes of the shingles of texts; size: words of each. A shorter text is one shingle."""

    def __init__(self, size: int = 2):
        self.size = size
        self._known: dict[str, int] = {}

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """uint64 (K,) of one document, sorted, without repetition."""
        return np.unique(self.of_all([texts])[0])

    def of_all(self, batch: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
        """uint64 shingles of the documents one after another, int64 where each begins."""
        hashes: list[int] = []
        counts = np.empty(len(batch), dtype=np.int64)
        for number, texts in enumerate(batch):
            before = len(hashes)
            for text in texts:
                if len(hashes) > before:
                    hashes.append(self._hash(_END))
                text_tokens = tokens(text)
                hashes.extend(map(self._hash, text_tokens or [text.strip()]))
            short = self.size - (len(hashes) - before)
            hashes.extend([self._hash(_END)] * short)
            counts[number] = len(hashes) - before
        flat = np.array(hashes, dtype=np.uint64)
        ends = counts.cumsum()
        rolled = flat[: len(flat) - self.size + 1]
        for offset in range(1, self.size):
            rolled = _mixed(rolled) + flat[offset : len(flat) - self.size + 1 + offset]
        inside = np.ones(len(rolled), dtype=bool)
        for offset in range(1, self.size):  # a shingle does not reach into the next document
            inside[ends[:-1] - offset] = False
        shingle_counts = counts - (self.size - 1)
        return _mixed(rolled[inside]), shingle_counts.cumsum() - shingle_counts

    def _hash(self, word: str) -> int:
        hashed = self._known.get(word)
        if hashed is None:
            if len(self._known) >= MAX_CACHED_WORDS:
                self._known.clear()
            raw = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            hashed = self._known[word] = int.from_bytes(raw, "little")
        return hashed


class NearDuplicates:
    """Add texts in batches, then ask for `links`. Its files are in `folder`, an empty one.

    threshold: Jaccard similarity from which two texts are near-duplicates, in (0, 1].
    size: words of a shingle; a shorter text is one shingle.
    """

    def __init__(self, folder: Path, *, threshold: float = SIMILARITY, size: int = 2):
        self.threshold, self.count = threshold, 0
        self._shingles = Shingles(size)
        self.bands, self.rows = bands_of(threshold)
        random = np.random.default_rng(SEED)
        length = self.bands * self.rows
        self._xor = random.integers(0, 2**63, length, dtype=np.uint64)
        self._times = random.integers(0, 2**63, length, dtype=np.uint64) * np.uint64(2)
        self._times += np.uint64(1)
        self._ends: list[np.ndarray] = [np.zeros(1, dtype=np.int64)]
        self._folder = folder

    # ------------------------------------------------------------ adding

    def add(self, batch: Sequence[Sequence[str]]) -> None:
        """Add documents, each as its texts."""
        if not batch:
            return
        shingles, starts = self._shingles.of_all(batch)
        self._append("shingles", shingles)
        ends = np.append(starts[1:], len(shingles))
        self._ends.append(self._ends[-1][-1] + ends)
        self.count += len(batch)
        for number in range(self.bands):
            key = np.zeros(len(batch), dtype=np.uint64)
            for row in range(number * self.rows, (number + 1) * self.rows):
                values = (shingles ^ self._xor[row]) * self._times[row]
                key = _mixed(key + np.minimum.reduceat(values, starts))
            self._append(f"band-{number}", key)

    def _append(self, name: str, values: np.ndarray) -> None:
        with open(self._folder / name, "ab") as file:
            values.tofile(file)

    # ------------------------------------------------------------ asking

    def links(self, *, watch: Watch = QUIET) -> Iterator[tuple[int, int, float]]:
        """(number, number, similarity) of near-duplicates, in the order of `add`.

        Pairs that earlier ones join are left out, so that the links form a forest of all groups.
        """
        ends = np.concatenate(self._ends)
        if self.count < 2:
            return
        self._all = np.memmap(self._folder / "shingles", dtype=np.uint64, mode="r")
        self._limits, self._near = ends, OrderedDict[int, np.ndarray]()
        groups, refuted = DisjointSets(self.count), set[int]()
        for band in range(self.bands):
            keys = np.fromfile(self._folder / f"band-{band}", dtype=np.uint64)
            part = watch.part(band / self.bands, (band + 1) / self.bands)
            for candidate, other in _candidates(keys, part):
                code = candidate * self.count + other
                if groups.joined(candidate, other) or code in refuted:
                    continue
                similarity = self.similarity(candidate, other)
                if similarity >= self.threshold:
                    groups.join(candidate, other)
                    yield candidate, other, similarity
                elif len(refuted) < MAX_CACHED_PAIRS:
                    refuted.add(code)

    def similarity(self, number: int, other: int) -> float:
        """The Jaccard similarity of two texts; 0 where their sizes show that it is too low."""
        first, second = self._set(number), self._set(other)
        few, many = sorted((len(first), len(second)))
        return jaccard(first, second) if few >= self.threshold * many else 0.0

    def _set(self, number: int) -> np.ndarray:
        shingles = self._near.get(number)
        if shingles is None:
            shingles = np.unique(self._all[self._limits[number] : self._limits[number + 1]])
            if len(self._near) >= MAX_CACHED_TEXTS:
                self._near.popitem(last=False)
            self._near[number] = shingles
        return shingles


def _mixed(values: np.ndarray) -> np.ndarray:
    """A bijection that spreads values over all bits (the finalizer of splitmix64).

    Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
    """
    mixed = values + _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
    return mixed ^ (mixed >> np.uint64(31))


def _candidates(keys: np.ndarray, watch: Watch) -> Iterator[tuple[int, int]]:
    """Pairs with one key, the lower number first.

    In a large bucket each is compared with the first ones and its neighbour: enough to join texts
    that are all alike, without the square of their number.
    """
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    starts = np.flatnonzero(same & ~np.append(False, same[:-1]))
    ends = np.flatnonzero(same & ~np.append(same[1:], False)) + 2
    buckets = list(zip(starts.tolist(), ends.tolist(), strict=True))
    for part in watch.over(buckets, 1000):
        for start, end in part:
            numbers = order[start:end].tolist()
            if len(numbers) <= ALL_PAIRS:
                yield from combinations(numbers, 2)
                continue
            for number, item in enumerate(numbers[:ALL_PAIRS]):
                for other in numbers[number + 1 :]:
                    yield item, other
            yield from zip(numbers[ALL_PAIRS:], numbers[ALL_PAIRS + 1 :], strict=False)
