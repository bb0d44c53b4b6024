"""What one edit, undo or redo changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_WITHOUT_DOCUMENT = frozenset(
    {
        "layer",
        "label",
        "source",
        "saved_filter",
        "prompt",
        "prompt_version",
        "pattern",
        "run",
        "prediction",
    }  # fmt: skip
)


@dataclass(frozen=True)
class Changes:
    """`rows`: table → ids. `documents`: ids of documents whose rows changed.

    Both are None if more than 1,000 rows changed: reload everything.
    """

    title: str
    origin: object = None
    rows: Mapping[str, frozenset[int]] | None = None
    documents: frozenset[int] | None = None

    def touches(self, table: str, document_id: int | None = None) -> bool:
        """Whether rows of `table` changed; with a document id, whether its rows may have."""
        if self.rows is None:
            return True
        if table not in self.rows:
            return False
        if document_id is None or self.documents is None or table in _WITHOUT_DOCUMENT:
            return True
        return document_id in self.documents
