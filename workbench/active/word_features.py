"""Vectors of documents and words without a model: counts of what they contain, reduced.

Documents: TF-IDF of words, pairs of words, and character n-grams within words. Words: the same of
their character n-grams and of the words beside them, of each word and its neighbours, and how the
word is written. Both reduced by a truncated singular value decomposition (Deerwester et al. 1990).
Takes about a second of processor time for 3,000 short documents. No torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.text.document import Document
from workbench.text.segment import tokens_of

WIDTH = 256  # of a document
SPELLING, BESIDE = 64, 32  # widths of the parts of a word: its n-grams, the words beside it
NGRAM = 4  # characters, with a mark at each end of the word
MAX_CHARACTERS = 20_000  # characters of a document that are read
MIN_COUNT = 2  # documents or words with a feature, which others are left out for
AFTER = 1 << 20  # features in all; further new ones are left out
SEED = 1


def of_documents(documents: Iterable[Document]) -> tuple[np.ndarray, np.ndarray]:
    """Places int64 (N, 3) as in an index (document, start, end), and vectors float32 (N, WIDTH or
    less) of length 1, 0 for a document that shares nothing with others.
    """
    places, counts = list[tuple[int, int, int]](), _Counts()
    for document in documents:
        places.append((int(document.id or 0), 0, len(document.text)))
        counts.add(_features(_words(document)))
    return np.array(places, np.int64).reshape(-1, 3), counts.reduced(WIDTH)


def of_words(documents: Iterable[Document]) -> tuple[np.ndarray, np.ndarray]:
    """Places int64 (N, 3) of all words, and vectors float16 (N, W)."""
    places, forms = list[tuple[int, int, int]](), list[str]()
    numbers: dict[str, int] = {}
    rows, firsts = list[int](), list[int]()
    for document in documents:
        firsts.append(len(rows))
        for start, end in tokens_of(document):
            form = document.text[start:end]
            if form not in numbers:
                numbers[form] = len(forms)
                forms.append(form)
            rows.append(numbers[form])
            places.append((int(document.id or 0), start, end))
    at = np.array(rows, np.int64)
    before, after = _neighbours(at, firsts, outside=len(forms))
    return np.array(places, np.int64).reshape(-1, 3), _of_words(forms, at, before, after)


def _neighbours(
    at: np.ndarray, firsts: Sequence[int], *, outside: int
) -> tuple[np.ndarray, np.ndarray]:
    """The form before and after each word (N,), `outside` at the ends of a document."""
    first = np.zeros(len(at) + 1, bool)
    first[firsts] = True
    before = np.where(first[:-1], outside, np.roll(at, 1))
    after = np.where(np.append(first[1:-1], True)[: len(at)], outside, np.roll(at, -1))
    return before, after


def _of_words(
    forms: Sequence[str], at: np.ndarray, before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    if not len(at):
        return np.zeros((0, 1), np.float16)
    spelling, beside = _Counts(), _Counts()
    for form in forms:
        spelling.add(_parts(form.casefold()))
    near: list[set[str]] = [set() for _form in forms]
    for number, left, right in zip(at.tolist(), before.tolist(), after.tolist(), strict=True):
        near[number].update((f"{left} _", f"_ {right}"))
    for contexts in near:
        beside.add(contexts)
    by_form = np.concatenate([
        spelling.reduced(SPELLING), beside.reduced(BESIDE), [_written(form) for form in forms]
    ], axis=1)  # fmt: skip
    by_form = np.concatenate([by_form, np.zeros((1, by_form.shape[1]))]).astype(np.float16)
    by_form[-1, -1] = 1  # the end of a document
    return np.concatenate([by_form[at], by_form[before], by_form[after]], axis=1)


def _words(document: Document) -> list[str]:
    text = document.text
    return [
        text[start:end].casefold() for start, end in tokens_of(document) if end <= MAX_CHARACTERS
    ]


def _features(words: Sequence[str]) -> set[str]:
    features = {*words, *(f"{first} {second}" for first, second in pairwise(words))}
    for word in set(words):
        features.update(_parts(word, least=NGRAM))
    return features


def _parts(word: str, least: int = 2) -> Iterator[str]:
    """Its character n-grams, marked so that none is a word."""
    marked = f"<{word}>"
    for length in range(least, NGRAM + 1):
        for start in range(len(marked) - length + 1):
            yield f"\0{marked[start : start + length]}"


def _written(form: str) -> list[float]:
    """How a word is written; the last one is 0, of the end of a document 1."""
    signs = (
        form.istitle(), form.isupper(), form.islower(), form.isdigit(),
        any(character.isdigit() for character in form),
        not any(character.isalnum() for character in form),
        len(form) == 1, len(form) > 7,
    )  # fmt: skip
    return [*(0.3 * sign for sign in signs), 0.0]


class _Counts:
    """Which rows have which features."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._columns, self._ends = list[int](), [0]

    def add(self, features: Iterable[str]) -> None:
        """The next row, which has these features."""
        numbers, full = self._numbers, len(self._numbers) >= AFTER
        for feature in set(features):
            number = numbers.get(feature) if full else numbers.setdefault(feature, len(numbers))
            if number is not None:
                self._columns.append(number)
        self._ends.append(len(self._columns))

    def reduced(self, width: int) -> np.ndarray:
        """TF-IDF rows of length 1, reduced to float32 (N, width or less) of length 1."""
        from scipy import sparse
        from sklearn.utils.extmath import randomized_svd

        count = len(self._ends) - 1
        shape = (count, max(1, len(self._numbers)))
        ones = np.ones(len(self._columns), np.float32)
        table = sparse.csr_matrix((ones, self._columns, self._ends), shape=shape)
        often = np.bincount(self._columns, minlength=shape[1])
        shared = np.flatnonzero(often >= MIN_COUNT)
        if not len(shared):
            return np.zeros((count, 1), np.float32)
        weights = (np.log(count / often[shared]) + 1).astype(np.float32)
        table = _unit(table[:, shared] @ sparse.diags(weights))
        width = min(width, *table.shape)
        left, values, _right = randomized_svd(table, width, n_iter=1, random_state=SEED)
        rows = (left * values).astype(np.float32)
        scaled: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
        return scaled


def _unit(table: Any) -> Any:
    """A sparse matrix with rows of length 1."""
    from scipy import sparse

    lengths = np.sqrt(np.asarray(table.multiply(table).sum(1)).ravel())
    return (sparse.diags((1 / np.maximum(lengths, 1e-9)).astype(np.float32)) @ table).tocsr()
