"""What a fine-tuned model says of a text: the label distribution of every subword, or the probability of every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import TokenOptions
from workbench.runtime import decoding
from workbench.runtime.inputs import Prepared
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import Features
from workbench.tasks.predictor import Logits, Predictor, infer
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction, TokenScores


class TokenScoresInspector:
    """Subwords with their surest labels, and the spans that the words come to."""

    needs = (TokenScores,)
    Options = TokenOptions

    def run(
        self, subject: Predictor, documents: Sequence[Document], options: TokenOptions
    ) -> list[dict]:
        prepared, logits, predictions = answered(subject, documents)
        names = subject.task.info.output_names(subject.labels)
        found = []
        for number, document in enumerate(documents):
            inputs = [prepared.inputs[position] for position in prepared.of(number)]
            words = words_of(document, 1)
            rows = [token_rows(one, document, words, tokenizer_of(subject)) for one in inputs]
            scores = [
                decoding.softmax(logits[position]["logits"]) for position in prepared.of(number)
            ]
            tokens = []
            for window, position in stitch(inputs):
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
        prepared, _logits, predictions = answered(subject, documents)
        found = []
        for document, encoded, prediction in zip(
            documents, prepared.inputs, predictions, strict=True
        ):
            words = words_of(document, subject.task.info.texts)
            tokens = token_rows(encoded, document, words, tokenizer_of(subject))
            classes = tuple(zip(prediction.classes.labels, prediction.classes.scores, strict=True))
            found.append(
                {"tokens": tokens, "words": words, "classes": classes, "cut": prediction.cut}
            )
        return found


def answered(
    subject: Predictor, documents: Sequence[Document]
) -> tuple[Prepared, Logits, list[Prediction]]:
    """One pass: the inputs, their logits, and the predictions."""
    prepared = subject.prepare(documents)
    work = infer(subject.task, subject.model, Features(prepared, {}))
    while True:
        try:
            next(work)
        except StopIteration as end:
            return prepared, end.value, subject.decode(end.value, prepared)


def tokenizer_of(subject: Predictor) -> Tokenizer:
    return subject.encoder.preparer.tokenizer


def best(scores: np.ndarray, names: Sequence[str], top: int) -> tuple[tuple[str, float], ...]:
    """The `top` surest of a distribution (L,), surest first; the earlier name on a tie."""
    order = np.argsort(-scores, kind="stable")[:top]
    return tuple((names[one], float(scores[one])) for one in order)
