"""What a fine-tuned model says of a text: the label distribution of every subword, or the probability of every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import TokenOptions
from workbench.runtime import decoding
from workbench.tasks.base import Features
from workbench.tasks.predictor import Predictor, infer
from workbench.text.document import Document
from workbench.text.fields import ClassScores, TokenScores


class TokenScoresInspector:
    """Subwords with their surest labels, and the spans that the words come to."""

    needs = (TokenScores,)
    Options = TokenOptions

    def run(
        self, subject: Predictor, documents: Sequence[Document], options: TokenOptions
    ) -> list[dict]:
        features, logits, predictions = answered(subject, documents)
        names = subject.task.outputs_of(subject.labels)
        begin = np.searchsorted(features.owner, np.arange(len(documents) + 1))
        found = []
        for number, document in enumerate(documents):
            pieces = features.items[begin[number] : begin[number + 1]]
            words = words_of(document, 1)
            rows = [
                token_rows(one, document, words, subject.checkpoint.tokenizer) for one in pieces
            ]
            scores = [decoding.softmax(one) for one in logits[begin[number] : begin[number + 1]]]
            tokens = []
            for window, position in stitch(pieces):
                row = rows[window][position]
                tokens.append(
                    row
                    if row.special
                    else replace(row, best=best(scores[window][position], names, options.top))
                )
            spans = predictions[number].spans
            found.append(
                {
                    "tokens": tokens,
                    "words": words,
                    "spans": spans,
                    "answered": len(tokens),
                    "cut": predictions[number].cut,
                }
            )
        return found


class ClassScoresInspector:
    """The probability of every class, and how the text falls into subwords."""

    needs = (ClassScores,)
    Options = TokenOptions

    def run(
        self, subject: Predictor, documents: Sequence[Document], options: TokenOptions
    ) -> list[dict]:
        features, _, predictions = answered(subject, documents)
        found = []
        for document, piece, prediction in zip(documents, features.items, predictions, strict=True):
            words = words_of(document, subject.task.texts)
            tokens = token_rows(piece, document, words, subject.checkpoint.tokenizer)
            classes = tuple(zip(prediction.classes.labels, prediction.classes.scores, strict=True))
            found.append(
                {"tokens": tokens, "words": words, "classes": classes, "cut": prediction.cut}
            )
        return found


def answered(
    subject: Predictor, documents: Sequence[Document]
) -> tuple[Features, list[np.ndarray], list]:
    """One pass: features, the logits of every item, and the predictions."""
    features = subject.features(documents)
    work = infer(subject.task, subject.checkpoint, features)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return (
                features,
                end.value[0],
                subject.task.decode(end.value[0], features, subject.labels),
            )


def best(scores: np.ndarray, names: Sequence[str], top: int) -> tuple[tuple[str, float], ...]:
    """The `top` surest of a distribution (L,), surest first; the earlier name on a tie."""
    order = np.argsort(-scores, kind="stable")[:top]
    return tuple((names[one], float(scores[one])) for one in order)
