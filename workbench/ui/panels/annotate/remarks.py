"""Notes and flags of the open document and its selected span. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.documents import notes
from workbench.operations.documents.notes import Remarks
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext


GOLD = "gold"  # a span that is selected
Name = tuple[str, int]  # (GOLD or "suggested", id)


class RemarkState(State):
    """`found`: the notes and flags of the document and its spans.

    The actions are on the selected span (`span_id`), or on the document if none is selected.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.document_id: int | None = None
        self.span_id: int | None = None
        self.found = Remarks()
        self.listen(self.project.changed, self._project_changed)

    def show(self, document_id: int | None, span_id: int | None) -> None:
        """Follow the page: another document or span."""
        if document_id != self.document_id:
            self.update(document_id=document_id, span_id=span_id, found=self._read(document_id))
        else:
            self.update(span_id=span_id)

    def _read(self, document_id: int | None) -> Remarks:
        return Remarks() if document_id is None else notes.of_document(self.project, document_id)

    def _project_changed(self, changes: Changes) -> None:
        with_spans = ("span",) if self.found != Remarks() else ()  # those on a span go with it
        tables = ("note", "flag", "document", *with_spans)
        if any(changes.touches(table, self.document_id) for table in tables):
            remarks = self._read(self.document_id)
            self.update(found=self.found if remarks == self.found else remarks)

    # ------------------------------------------------------------ what is shown

    @property
    def note(self) -> str:
        """The note on what is selected."""
        return self.found.note(self.span_id)

    @property
    def names(self) -> tuple[str, ...]:
        """The flags of what is selected."""
        return self.found.names(self.span_id)

    @property
    def choices(self) -> tuple[tuple[str, bool], ...]:
        """The flags that can be set, and whether they are set on what is selected."""
        now = self.names
        return tuple((name, name in now) for name in notes.flag_names(self.project))

    def line(self, span_id: int | None = None) -> str:
        """Flags and note of the document or of a span on one line; "" if it has none."""
        note = " ".join(self.found.note(span_id).split())
        flags = self.found.names(span_id)
        message = _("flag {names}", names=", ".join(flags)) if flags else ""
        return " · ".join(part for part in (message, note) if part)

    # ------------------------------------------------------------ actions

    def set_note(self, text: str) -> None:
        """Raises SpecError for a text that is too long."""
        if self.document_id is not None:
            notes.set_note(self.project, self.document_id, text, span_id=self.span_id, origin=self)

    def set_flag(self, name: str, *, on: bool) -> None:
        """Raises SpecError for an invalid name."""
        if self.document_id is not None:
            ids = [self.document_id]
            notes.set_flag(self.project, ids, name, on=on, span_id=self.span_id, origin=self)

    def toggle(self, name: str) -> None:
        self.context.attempt(self.set_flag, name, on=name not in self.names)
