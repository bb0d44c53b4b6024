"""The distribution over the labels at every token: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.inspection.base import entropy_bits, stitch, token_rows, words_of
from workbench.inspection.subject import Subject
from workbench.inspection.token_scores.info import INFO, TokenLabels
from workbench.runtime import decoding
from workbench.text.document import Document


class TokenScoresInspector:
    """For tasks whose network has one output per token, named "logits"."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TokenLabels:
        (document,) = documents
        found = subject.predicted(document)
        inputs, predictor = found.prepared.inputs, subject.predictor
        names = predictor.task.info.trained_outputs(subject.labels, predictor.decoder)
        words = words_of(document, 1)
        rows = [token_rows(one, document, words, subject.preparer) for one in inputs]
        scores = [decoding.softmax(one["logits"]) for one in found.logits]
        tokens = []
        for window, position in stitch(inputs):
            row = rows[window][position]
            if not row.special:
                probabilities = scores[window][position]
                surest = best(probabilities, names, options["top"])
                row = replace(row, best=surest, entropy=entropy_bits(probabilities))
            tokens.append(row)
        return TokenLabels(tuple(tokens), words, found.prediction.cut, subject.labels)


def best(scores: np.ndarray, names: Sequence[str], top: int) -> tuple[tuple[str, float], ...]:
    """The `top` most probable labels of (L,) probabilities, descending; by name on a tie."""
    order = np.argsort(-scores, kind="stable")[:top]
    return tuple((names[one], float(scores[one])) for one in order)
