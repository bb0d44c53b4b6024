"""Edits that change nothing but spans, the most frequent ones. No Qt."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.ui.panels.annotate.actions import AnnotateActions

SHOWN_ANYWAY = frozenset({"doc", "chosen"})  # fields of the state after such an edit


class SpansOnly:
    """Tells whether what the page shows of a document differs only in spans from before.

    All parts of the page but the text and the list of spans then stay as they are.
    """

    def __init__(self, state: AnnotateActions) -> None:
        self._state = state
        self._shown: DocumentView | None = None

    def follow(self, changed: frozenset[str]) -> bool:
        """The page is about to show the document of the state; `changed`: fields of the state."""
        before, self._shown = self._shown, self._state.doc
        return changed <= SHOWN_ANYWAY and self._plain() and _same(before, self._shown)

    def _plain(self) -> bool:
        """Whether no other part of the page is made from spans."""
        state = self._state
        others = (state.errors, state.tag_layers, state.question_layer, state.choice_layer)
        return not any(others)


def _same(before: DocumentView | None, now: DocumentView | None) -> bool:
    """Whether two views of a document differ in spans, but not in which layers have any."""
    if before is None or now is None or before.document is not now.document or now.relations:
        return False
    parts = (field.name for field in fields(now) if field.name not in ("document", "spans"))
    if any(getattr(before, name) != getattr(now, name) for name in parts):
        return False
    return before.spans.of_layers.keys() == now.spans.of_layers.keys()
