"""Counts the subwords of every word; runs in the worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from subword_report.info import INFO, Fertility, SplitWord
from workbench.inspection.base import words_of
from workbench.inspection.subject import Subject
from workbench.text.document import Document

MAX_SUBWORDS = 100_000  # maximum subwords of a word, so that none is truncated


class FertilityInspector:
    """Needs only the preparer of a model, so it supports every model."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Fertility:
        found = Counter(
            word.text
            for document in documents
            for word in words_of(document, len(document.texts))
            if any(map(str.isalnum, word.text))
        )
        lengths = _subwords(subject, list(found))
        words = sum(found.values())
        subwords = sum(lengths[word] * count for word, count in found.items())
        continued = sum(count for word, count in found.items() if lengths[word] > 1)
        unknown = sum(
            count for word, count in found.items() if subject.preparer.unknown_share([word])
        )
        longest = sorted(found, key=lambda word: (-lengths[word], -found[word], word))
        return Fertility(
            len(documents),
            words,
            subwords,
            subwords / words if words else 0.0,
            continued / words if words else 0.0,
            unknown / words if words else 0.0,
            tuple(
                SplitWord(item, lengths[item], found[item]) for item in longest[: options["words"]]
            ),
        )


def _subwords(subject: Subject, words: Sequence[str]) -> dict[str, int]:
    """Number of subwords of each word after a space."""
    documents = [Document("", (("text", f"a {word}"),)) for word in words]
    prepared = subject.preparer.whole(documents, MAX_SUBWORDS)
    return {
        word: max(1, int(((item.text == 0) & (item.offsets[:, 1] > 2)).sum()))
        for word, item in zip(words, prepared.inputs, strict=True)
    }
