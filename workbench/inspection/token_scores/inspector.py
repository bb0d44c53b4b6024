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
from workbench.runtime.decoding import word_logits
from workbench.text.document import Document

LOGITS = "logits"  # the output of the network


class TokenScoresInspector:
    """For tasks whose network has one output per token, named "logits"."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TokenLabels:
        (document,) = documents
        predicted = subject.predicted(document)
        info, decoder = subject.predictor.task.info, subject.predictor.decoder
        names = info.trained_outputs(subject.labels, decoder)
        words = words_of(document, 1)
        rows, logits = _stitched(subject, predicted, document, words, len(names))
        learned = info.transitions(subject.labels, decoder)
        shares = (
            decoding.softmax(logits)
            if learned is None
            else _marginals(learned, predicted, rows, words, len(names))
        )
        tokens = tuple(
            row
            if row.special or np.isnan(share).any()
            else replace(row, best=best(share, names, options["top"]), entropy=entropy_bits(share))
            for row, share in zip(rows, shares, strict=True)
        )
        table = np.nan_to_num(shares).astype(np.float32)
        every = {"logits": logits, "probabilities": table} if options["logits"] else {}
        return TokenLabels(
            tokens,
            words,
            predicted.prediction.cut,
            subject.labels,
            SOFTMAX if learned is None else MARGINALS,
            tuple(names),
            predicted=tuple(
                PredictedWord(word.start, word.end, word.label or "", word.score)
                for word in predicted.prediction.words
            ),
            temperature=subject.temperature,
            **every,
        )


def _stitched(
    subject: Subject, predicted: Predicted, document: Document, words: Sequence[WordRow], count: int
) -> tuple[list[TokenRow], np.ndarray]:
    """The tokens of all windows, each once, and their logits float32 (T, L)."""
    inputs = predicted.prepared.inputs
    rows = [token_rows(input_, document, words, subject.preparer) for input_ in inputs]
    places = list(stitch(inputs))
    logits = [predicted.logits[window][LOGITS][position] for window, position in places]
    table = np.array(logits, np.float32).reshape(len(places), count)
    return [rows[window][position] for window, position in places], table


def _marginals(
    learned: Transitions,
    predicted: Predicted,
    rows: Sequence[TokenRow],
    words: Sequence[WordRow],
    count: int,
) -> np.ndarray:
    """float64 (T, L): those of a word at its first token, NaN at all others.

    The CRF decides on words, and skips those without a token, as in training.
    """
    prepared = predicted.prepared
    where = prepared.alignments[0]
    word_scores = word_logits(
        [logit[LOGITS] for logit in predicted.logits], prepared.first(0), where, count
    )
    present = where.window >= 0
    decided = np.full(word_scores.shape, np.nan)
    decided[present] = learned.marginals(word_scores[present])
    of_word = dict(zip(prepared.words[0], decided, strict=True))
    shares = np.full((len(rows), count), np.nan)
    words_done: set[int] = set()
    for at, row in enumerate(rows):
        if row.word is not None and row.word not in words_done:
            words_done.add(row.word)
            word = words[row.word]
            shares[at] = of_word.get((word.start, word.end), np.nan)
    return shares


def best(scores: np.ndarray, names: Sequence[str], top: int) -> tuple[tuple[str, float], ...]:
    """The `top` most probable labels of (L,) probabilities, descending; by name on a tie."""
    order = np.argsort(-scores, kind="stable")[:top]
    return tuple((names[item], float(scores[item])) for item in order)
