"""Who or what made the labels and suggestions of the open document, in words. No Qt."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import _
from workbench.operations.annotation import provenance
from workbench.text.rows import row_id
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.storage.annotation.provenance import Origin
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView


class SourcedLabel(provenance.SourcedRow, Protocol):
    """A label or a suggestion, and when it was made (ISO 8601)."""

    @property
    def made_at(self) -> str: ...


class _Session(Protocol):
    """What is known here of a `DocumentSession`."""

    project: Project
    doc: DocumentView | None
    run_changes: int


class Origins:
    def __init__(self, session: _Session) -> None:
        self._session = session
        self._views: dict[int | None, ResultView] = {}
        self._named: tuple[object, object, int, provenance.Names] | None = None
        self._brief: tuple[object, float, dict[object, str]] = (None, 0.0, {})

    @property
    def names(self) -> provenance.Names:
        """Titles of origins, read again for each document, with other suggestions and runs."""
        doc = self._session.doc
        key = (doc.document, doc.suggestions) if doc is not None else (None, None)
        known, runs = self._named, self._session.run_changes
        if known is None or known[0] is not key[0] or known[1] is not key[1] or known[2] != runs:
            known = self._named = (*key, runs, provenance.Names(self._session.project))
        return known[3]

    def view_of(self, run_id: int | None) -> ResultView:
        """How suggestions of a run are shown; None for those of other sources."""
        from workbench.operations.annotation import suggest

        if run_id not in self._views:
            self._views[run_id] = suggest.view_of(self._session.project, run_id)
        return self._views[run_id]

    def origin_of(self, row: SourcedLabel) -> Origin:
        """The origin of a label or suggestion."""
        return provenance.origin_of(row)

    def maker(self, row: SourcedLabel) -> str:
        """Who or what made it."""
        return self.names.of(provenance.origin_of(row))

    def made(self, row: SourcedLabel, *, brief: bool = False) -> str:
        """Who or what made it, and when; with the score of a prediction that is gold now.

        brief: of today only the time, for a narrow column.
        """
        source, at = self.maker(row), formats.when_iso(row.made_at, brief=brief)
        score = getattr(row, "score", None)
        if score is None or hasattr(row, "status"):  # a suggestion shows its score itself
            return _("{source}, {time}", source=source, time=at)
        return _(
            "{source} at {score}, {time}", source=source, score=formats.decimal(score, 2), time=at
        )

    def briefly_made(self, row: SourcedLabel) -> str:
        """`made` with `brief=True`, cached for one minute for rows with the same origin."""
        names, minute = self.names, time.time() // 60
        if self._brief[0] is not names or self._brief[1] != minute:
            self._brief = names, minute, {}
        known = self._brief[2]
        score = None if hasattr(row, "status") else getattr(row, "score", None)
        key = row.source_kind, row.source_ref, row.made_by, row.made_at, score
        if key not in known:
            known[key] = self.made(row, brief=True)
        return known[key]

    def made_here(self, layer: Layer) -> dict[int | None, str]:
        """Who or what made what the document has in a layer: label id → source and time.

        None instead of the id: of its number or written text.
        """
        if self._session.doc is None:
            return {}
        id = row_id(layer)
        origins = {
            row.label_id: self.made(row) for row in self._session.doc.marks if row.layer_id == id
        }
        for text in self._session.doc.written:
            if text.layer_id == id:
                origins[None] = self.made(text)
        return origins

    def answers_made(self, question_id: int) -> str:
        """Who made the answers to a question, one line each; "" without an answer."""
        questions = self._session.doc.questions if self._session.doc is not None else ()
        rows = [
            row for question in questions if question.id == question_id for row in question.rows
        ]
        answers = [row for row in rows if row.start is not None or row.is_null]
        return "\n".join(dict.fromkeys(map(self.made, answers)))
