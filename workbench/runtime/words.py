"""The words of a document and their scores from subwords in windows. numpy only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.runtime.decoding import Alignment, softmax


def word_logits(
    logits: Sequence[np.ndarray], begin: int, where: Alignment, count: int
) -> np.ndarray:
    """Logits (W, L) of a document's words, each from its first subword; 0 for a word without one.

    `logits[begin + window]` (T, L) are those of the document's windows.
    """
    rows = np.zeros((len(where.window), count))
    order = np.argsort(where.window, kind="stable")
    order = order[np.searchsorted(where.window[order], 0) :]  # skip those without a subword (-1)
    for inside in np.split(order, np.flatnonzero(np.diff(where.window[order])) + 1):
        if len(inside):
            rows[inside] = logits[begin + where.window[inside[0]]][where.first[inside]]
    return rows


def word_scores(
    logits: Sequence[np.ndarray], begin: int, where: Alignment, count: int
) -> np.ndarray:
    """Probabilities (W, L) of a document's words; O for a word without a subword.

    Arguments as for `word_logits`.
    """
    scores = softmax(word_logits(logits, begin, where, count))
    scores[where.window < 0] = np.eye(1, count)
    return scores
