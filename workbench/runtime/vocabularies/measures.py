"""How well a vocabulary fits a text: tokens per word, unknown words, truncated texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.records import JsonRecord
from workbench.runtime.inputs import EncodedInput, Preparer
from workbench.text.document import TEXT, Document
from workbench.text.segment import words

LIMITS = (128, 256, 512)
NO_LENGTH_LIMIT = 1_000_000  # tokens; in effect no limit
MAX_SPLIT_WORDS = 50  # words that are listed


@dataclass(frozen=True)
class Split:
    """A word that is divided into several tokens."""

    word: str
    units: tuple[str, ...]
    count: int
    texts: int


@dataclass(frozen=True)
class Fit(JsonRecord):
    """Figures of a vocabulary on texts. Words are words, numbers and symbols (text.segment).

    units: without special ones. fertility: tokens per word. unknown: fraction of the words with a
    letter that the vocabulary does not have. cut: limit → fraction of the texts with more tokens,
    special ones included. lengths: of each text, with special tokens. split: words that are divided
    most often, most frequent first.
    """

    texts: int
    words: int
    units: int
    fertility: float
    unknown: float
    cut: dict[str, float]
    lengths: tuple[int, ...]
    split: tuple[Split, ...]


def measure(preparer: Preparer, texts: Sequence[str]) -> Fit:
    """The fit of a preparer's vocabulary to texts; empty texts are left out."""
    texts = [text for text in texts if text.strip()]
    documents = [Document(str(n), ((TEXT, text),)) for n, text in enumerate(texts)]
    inputs = preparer.whole(documents, NO_LENGTH_LIMIT).inputs
    lengths = tuple(map(len, inputs))
    count = sum(len(words(text)) for text in texts)
    units = sum(int((input_.text >= 0).sum()) for input_ in inputs)
    return Fit(
        len(texts),
        count,
        units,
        units / count if count else 0.0,
        preparer.unknown_share(texts),
        {
            str(limit): sum(length > limit for length in lengths) / max(1, len(lengths))
            for limit in LIMITS
        },
        lengths,
        _split(preparer, texts, inputs),
    )


def _split(
    preparer: Preparer, texts: Sequence[str], inputs: Sequence[EncodedInput]
) -> tuple[Split, ...]:
    counts: Counter[str] = Counter()
    where: Counter[str] = Counter()
    units: dict[str, tuple[str, ...]] = {}
    for text, input_ in zip(texts, inputs, strict=True):
        pieces: list[str] | None = None
        inside: set[str] = set()
        starts, ends = input_.offsets[:, 0], input_.offsets[:, 1]
        real = np.flatnonzero((input_.text >= 0) & (ends > starts))
        for start, end in words(text):
            low = int(np.searchsorted(ends[real], start, side="right"))
            high = int(np.searchsorted(starts[real], end, side="left"))
            if high - low < 2:
                continue
            word = text[start:end]
            counts[word] += 1
            inside.add(word)
            if word not in units:
                pieces = pieces or preparer.pieces(input_)
                units[word] = tuple(pieces[int(at)] for at in real[low:high])
        where.update(inside)
    return tuple(
        Split(word, units[word], count, where[word])
        for word, count in counts.most_common(MAX_SPLIT_WORDS)
    )
