"""Tokenization of a text: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import TokenTable
from workbench.inspection.subject import Subject
from workbench.inspection.subwords.info import INFO
from workbench.text.document import Document


class SubwordsInspector:
    """Needs only a preparer."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TokenTable:
        (document,) = documents
        words, prepared = words_of(document, subject.texts), subject.prepared(document)
        rows = [token_rows(one, document, words, subject.preparer) for one in prepared.inputs]
        tokens = tuple(rows[window][position] for window, position in stitch(prepared.inputs))
        return TokenTable(tokens, words, bool(prepared.cut[0]))
