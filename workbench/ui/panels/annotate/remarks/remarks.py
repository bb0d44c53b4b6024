"""Notes and flags of the open document and its selected span. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.operations.documents import notes
from workbench.operations.documents.notes import Remarks
from workbench.ui.panels.annotate.session import GOLD
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panels.annotate.session import DocumentSession


class RemarkTool(Tool):
    """Keeps `session.remarks`, the notes and flags of the document and its spans.

    The actions are on the selected span (`span_id`), or on the document if none is selected.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.document_id: int | None = None
        self.span_id: int | None = None
        self.listen(session.changed, self._session_changed)
        self.listen(self.project.changed, self._project_changed)

    def _session_changed(self, fields: frozenset[str]) -> None:
        if fields.isdisjoint(("document_id", "chosen", "doc", "spans")):
            return
        kind, id = self.session.chosen or ("", 0)
        other = self.session.document_id != self.document_id
        self.update(document_id=self.session.document_id, span_id=id if kind == GOLD else None)
        if other:
            self.session.update(remarks=self._read())

    def _read(self) -> Remarks:
        if self.document_id is None:
            return Remarks()
        return notes.of_document(self.project, self.document_id)

    def _project_changed(self, changes: Changes) -> None:
        before = self.session.remarks
        with_spans = ("span",) if before != Remarks() else ()  # those on a span go with it
        tables = ("note", "flag", "document", *with_spans)
        if any(changes.touches(table, self.document_id) for table in tables):
            remarks = self._read()
            self.session.update(remarks=before if remarks == before else remarks)

    # ------------------------------------------------------------ what is shown

    @property
    def note(self) -> str:
        """The note on what is selected."""
        return self.session.remarks.note(self.span_id)

    @property
    def names(self) -> tuple[str, ...]:
        """The flags of what is selected."""
        return self.session.remarks.names(self.span_id)

    @property
    def choices(self) -> tuple[tuple[str, bool], ...]:
        """The flags that can be set, and whether they are set on what is selected."""
        now = self.names
        return tuple((name, name in now) for name in notes.flag_names(self.project))

    # ------------------------------------------------------------ actions

    def set_note(self, text: str) -> None:
        """Raises SpecError for a text that is too long."""
        if self.document_id is not None:
            notes.set_note(
                self.project, self.document_id, text, span_id=self.span_id, origin=self.session
            )

    def set_flag(self, name: str, *, on: bool) -> None:
        """Raises SpecError for an invalid name."""
        if self.document_id is not None:
            ids = [self.document_id]
            notes.set_flag(
                self.project, ids, name, on=on, span_id=self.span_id, origin=self.session
            )

    def toggle(self, name: str) -> None:
        self.context.attempt(self.set_flag, name, on=name not in self.names)
