"""The distribution over the labels at every token: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.inspection.base import entropy_bits, stitch, token_rows, words_of
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subject import Predicted, Subject
from workbench.inspection.token_scores.info import (
    INFO,
    MARGINALS,
    SOFTMAX,
    PredictedWord,
    TokenLabels,
)
from workbench.runtime import decoding
from workbench.runtime.crf import Transitions
from workbench.runtime.words import word_logits
from workbench.text.document import Document

LOGITS = "logits"  # the output of the network


class TokenScoresInspector:
    """For tasks whose network has one output per token, named "logits"."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TokenLabels:
        (document,) = documents
        found = subject.predicted(document)
        info, decoder = subject.predictor.task.info, subject.predictor.decoder
        names = info.trained_outputs(subject.labels, decoder)
        words = words_of(document, 1)
        rows, logits = _stitched(subject, found, document, words, len(names))
        learned = info.transitions(subject.labels, decoder)
        shares = (
            decoding.softmax(logits)
            if learned is None
            else _marginals(learned, found, rows, words, len(names))
        )
        tokens = tuple(
            row
            if row.special or np.isnan(given).any()
            else replace(row, best=best(given, names, options["top"]), entropy=entropy_bits(given))
            for row, given in zip(rows, shares, strict=True)
        )
        table = np.nan_to_num(shares).astype(np.float32)
        every = {"logits": logits, "probabilities": table} if options["logits"] else {}
        return TokenLabels(
            tokens,
            words,
            found.prediction.cut,
            subject.labels,
            SOFTMAX if learned is None else MARGINALS,
            tuple(names),
            predicted=tuple(
                PredictedWord(word.start, word.end, word.label or "", word.score)
                for word in found.prediction.words
            ),
            temperature=subject.temperature,
            **every,
        )


def _stitched(
    subject: Subject, found: Predicted, document: Document, words: Sequence[WordRow], count: int
) -> tuple[list[TokenRow], np.ndarray]:
    """The tokens of all windows, each once, and their logits float32 (T, L)."""
    inputs = found.prepared.inputs
    rows = [token_rows(input_, document, words, subject.preparer) for input_ in inputs]
    places = list(stitch(inputs))
    logits = [found.logits[window][LOGITS][position] for window, position in places]
    table = np.array(logits, np.float32).reshape(len(places), count)
    return [rows[window][position] for window, position in places], table


def _marginals(
    learned: Transitions,
    found: Predicted,
    rows: Sequence[TokenRow],
    words: Sequence[WordRow],
    count: int,
) -> np.ndarray:
    """float64 (T, L): those of a word at its first token, NaN at all others.

    The CRF decides on words, and skips those without a token, as in training.
    """
    prepared = found.prepared
    where = prepared.alignments[0]
    given = word_logits([logit[LOGITS] for logit in found.logits], prepared.first(0), where, count)
    present = where.window >= 0
    decided = np.full(given.shape, np.nan)
    decided[present] = learned.marginals(given[present])
    of_word = dict(zip(prepared.words[0], decided, strict=True))
    shares = np.full((len(rows), count), np.nan)
    seen: set[int] = set()
    for at, row in enumerate(rows):
        if row.word is not None and row.word not in seen:
            seen.add(row.word)
            word = words[row.word]
            shares[at] = of_word.get((word.start, word.end), np.nan)
    return shares


def best(scores: np.ndarray, names: Sequence[str], top: int) -> tuple[tuple[str, float], ...]:
    """The `top` most probable labels of (L,) probabilities, descending; by name on a tie."""
    order = np.argsort(-scores, kind="stable")[:top]
    return tuple((names[item], float(scores[item])) for item in order)
