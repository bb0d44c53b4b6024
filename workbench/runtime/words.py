"""The words that a tagger answers for, and their scores from those of subwords in windows. numpy only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.runtime.decoding import Alignment, softmax
from workbench.text.document import TEXT, Document
from workbench.text.segment import words as segment

OVERLAP = 4  # a quarter of the window is shared with its neighbour


def borders_of(document: Document) -> list[tuple[int, int]]:
    """The document's own tokens, white space and empty ones left out, else its words."""
    given = document.tokens.get(TEXT)
    if not given:
        return list(segment(document.text))
    return [(start, end) for start, end in sorted(given) if document.text[start:end].strip()]


def word_scores(
    logits: Sequence[np.ndarray], begin: int, where: Alignment, count: int
) -> np.ndarray:
    """Probabilities (W, L) of a document's words, each from its first subword; a word without a subword is surely O.

    `logits[begin + window]` (T, L) are those of the document's windows.
    """
    scores = np.zeros((len(where.window), count))
    scores[:, 0] = 1.0
    order = np.argsort(where.window, kind="stable")
    order = order[np.searchsorted(where.window[order], 0) :]  # not those without a subword (-1)
    for inside in np.split(order, np.flatnonzero(np.diff(where.window[order])) + 1):
        if len(inside):
            scores[inside] = softmax(logits[begin + where.window[inside[0]]][where.first[inside]])
    return scores
