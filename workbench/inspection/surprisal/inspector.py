"""How unexpected each word of a text is to a language model: the heavy part."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.spec import TokenTable
from workbench.inspection.subject import Subject
from workbench.inspection.surprisal.info import INFO, Surprisal
from workbench.inspection.vocabulary.inspector import VocabularyInspector
from workbench.text.document import Document

MIN_PROBABILITY = 1e-45  # the smallest probability that float32 can hold


class SurprisalInspector:
    """Computes surprisal from the probabilities of the actual tokens, which `vocabulary` computes
    in one pass.
    """

    info = INFO

    def __init__(self) -> None:
        self._expected = VocabularyInspector()

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Surprisal:
        settings = {"top": 1, "start": 0, "direction": options["direction"]}
        expected = self._expected.run(subject, documents, settings)
        owners = _owners(expected)
        counts = Counter(owners.values())
        bits: dict[int, float] = {}
        for at, word in owners.items():
            before = at + 1 if expected.backward else at - 1  # its prediction is that of this token
            own = expected.tokens[before].own if 0 <= before < len(expected.tokens) else None
            if own is None:
                bits[word] = math.inf  # unknown, whatever its other tokens are
            else:
                bits[word] = bits.get(word, 0.0) - math.log2(max(own, MIN_PROBABILITY))
        known = {word: value for word, value in bits.items() if math.isfinite(value)}
        return Surprisal(
            expected.words,
            tuple(known.get(word) for word in range(len(expected.words))),
            sum(counts[word] for word in known),
            expected.backward,
            expected.cut,
        )


def _owners(table: TokenTable) -> dict[int, int]:
    """Token → word. A token between words, such as a space, counts with the word after it."""
    owners: dict[int, int] = {}
    waiting: list[int] = []
    for at, token in enumerate(table.tokens):
        if token.word is None:
            waiting += [] if token.special else [at]
        else:
            owners |= dict.fromkeys(waiting, token.word) | {at: token.word}
            waiting = []
    return owners
