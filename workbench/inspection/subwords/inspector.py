"""Tokenization of a text, and the embeddings of its tokens: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.subject import Subject
from workbench.inspection.subwords.embedded import embedded
from workbench.inspection.subwords.info import INFO, Tokenized
from workbench.text.document import Document


class SubwordsInspector:
    """Needs only a preparer."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Tokenized:
        (document,) = documents
        words, prepared = words_of(document, subject.texts), subject.prepared(document)
        rows = [token_rows(input_, document, words, subject.preparer) for input_ in prepared.inputs]
        sums = [embedded(subject.encoder, input_) for input_ in prepared.inputs]
        places = stitch(prepared.inputs)
        return Tokenized(
            tuple(rows[window][position] for window, position in places),
            words,
            bool(prepared.cut[0]),
            tuple(sums[window][position] for window, position in places) if all(sums) else (),
        )
