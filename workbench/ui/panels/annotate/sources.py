"""Where suggestions and spans come from: filter, order, actions on an origin. No Qt."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import provenance, suggestion_edits
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tokens import TokenState
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SuggestionRow
    from workbench.storage.annotation.provenance import Origin
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView
    from workbench.ui.panel import PanelContext


class SourcedLabel(provenance.SourcedRow, Protocol):
    """A label or a suggestion, and when it was made (ISO 8601)."""

    @property
    def made_at(self) -> str: ...


IN_TEXT, BY_SCORE, BY_SOURCE = "text", "score", "source"  # orders of the suggestions
EVERY, SURE_ONES, BELOW = "every", "sure", "below"  # their scores


class SourceState(TokenState):
    """`source`: only suggestions of this origin are shown, None for all. `order`: of the list.

    `scores`: EVERY, or only those from the score `sure` on (SURE_ONES), or BELOW it.
    """

    def __init__(self, context: PanelContext) -> None:
        self.source: Origin | None = None
        self.scores = EVERY
        self.order = IN_TEXT
        self._arranged: tuple[Any, ...] = ()
        self._views: dict[int | None, ResultView] = {}
        self._named: tuple[object, object, int, provenance.Names] | None = None
        self._brief: tuple[object, float, dict[object, str]] = (None, 0.0, {})
        super().__init__(context)

    @property
    def every_suggestion(self) -> tuple[SuggestionRow, ...]:
        """The suggestions of the document in the selected layers, of all origins."""
        return super().suggestions

    @property
    def suggestions(self) -> tuple[SuggestionRow, ...]:
        """The suggestions of the chosen origin and scores, in the chosen order."""
        rows = self.every_suggestion
        if self.source is None and self.order == IN_TEXT and self.scores == EVERY:
            return rows
        key = rows, self.source, self.order, self.scores, self.sure
        if not self._arranged or any(a is not b for a, b in zip(self._arranged, key, strict=False)):
            matching = [
                row
                for row in rows
                if self.source in (None, provenance.origin_of(row)) and self._has_score(row)
            ]
            if self.order == BY_SCORE:  # those without a score last
                matching.sort(
                    key=lambda row: -1.0 if row.score is None else row.score, reverse=True
                )
            elif self.order == BY_SOURCE:
                matching.sort(key=self.maker)
            self._arranged = (*key, tuple(matching))
        arranged: tuple[SuggestionRow, ...] = self._arranged[-1]
        return arranged

    def _has_score(self, row: SuggestionRow) -> bool:
        is_sure = row.score is None or row.score >= self.sure
        return self.scores == EVERY or is_sure == (self.scores == SURE_ONES)

    # ------------------------------------------------------------ names

    @property
    def names(self) -> provenance.Names:
        """Titles of origins, read again for each document, with other suggestions and runs."""
        doc = self.doc
        key = (doc.document, doc.suggestions) if doc is not None else (None, None)
        known, runs = self._named, self.run_changes
        if known is None or known[0] is not key[0] or known[1] is not key[1] or known[2] != runs:
            known = self._named = (*key, runs, provenance.Names(self.project))
        return known[3]

    def view_of(self, run_id: int | None) -> ResultView:
        """How suggestions of a run are shown; None for those of other sources."""
        from workbench.operations.annotation import suggest

        if run_id not in self._views:
            self._views[run_id] = suggest.view_of(self.project, run_id)
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
        """As `made`, brief. Rows that were made together are told of once a minute."""
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
        if self.doc is None:
            return {}
        id = row_id(layer)
        origins = {row.label_id: self.made(row) for row in self.doc.marks if row.layer_id == id}
        for text in self.doc.written:
            if text.layer_id == id:
                origins[None] = self.made(text)
        return origins

    def answers_made(self, question_id: int) -> str:
        """Who made the answers to a question, one line each; "" without an answer."""
        questions = self.doc.questions if self.doc is not None else ()
        rows = [
            row for question in questions if question.id == question_id for row in question.rows
        ]
        answers = [row for row in rows if row.start is not None or row.is_null]
        return "\n".join(dict.fromkeys(map(self.made, answers)))

    @property
    def origins(self) -> tuple[tuple[Origin, str, int], ...]:
        """Origins of the suggestions of the document, with title and number of suggestions."""
        counts = Counter(map(provenance.origin_of, self.every_suggestion))
        return tuple((origin, self.names.of(origin), n) for origin, n in counts.items())

    # ------------------------------------------------------------ actions

    def show_source(self, origin: Origin | None) -> None:
        """Show only the suggestions of this origin, or with None all."""
        self.update(source=origin, chosen=None)

    def show_scores(self, scores: str) -> None:
        """Show only the suggestions with such a score."""
        self.update(scores=scores, chosen=None)

    def sort_suggestions(self, order: str) -> None:
        self.update(order=order)

    def decide_here(self, origin: Origin, *, accept: bool) -> None:
        """Accept or reject the suggestions of an origin in this document."""
        rows = (row for row in self.every_suggestion if provenance.origin_of(row) == origin)
        self._decide_these([row.id for row in rows], accept=accept)

    @property
    def unsure(self) -> list[int]:
        """Ids of the suggestions of the document with a score below `sure`."""
        rows = self.every_suggestion
        return [row.id for row in rows if row.score is not None and row.score < self.sure]

    def reject_unsure(self) -> None:
        """Reject those with a score below `sure` in this document."""
        self._decide_these(self.unsure, accept=False)

    def _decide_these(self, ids: list[int], *, accept: bool) -> None:
        act = suggestion_edits.accept if accept else suggestion_edits.reject
        done = self.context.attempt(self.deciding(act), self.project, ids, origin=self)
        if done:
            self.context.note(_decided(done, accept=accept), undo=True)

    def decide_everywhere(
        self,
        *,
        accept: bool,
        origin: Origin | None = None,
        least: float | None = None,
        below: float | None = None,
    ) -> None:
        """Accept or reject suggestions in all documents, off the main thread, as one undo step."""
        decide = partial(
            provenance.decide,
            self.project,
            self.active_ids,
            accept=accept,
            origin=origin,
            least=least,
            below=below,
        )
        self.context.task(
            "decide",
            decide,
            lambda done: self.context.note(_decided(done, accept=accept), undo=done > 0),
            title=_("Accept suggestions") if accept else _("Reject suggestions"),
            writes=True,
        )

    def revert(self, origin: Origin) -> None:
        """Delete everything that an origin made, in all documents, as one undo step."""
        self.context.task(
            "revert",
            partial(provenance.revert, self.project, origin),
            lambda done: self.context.note(provenance.describe(*done), undo=any(done)),
            title=_("Revert {source}", source=self.names.of(origin)),
            writes=True,
        )


def _decided(n: int, *, accept: bool) -> str:
    message = (
        ngettext("Accepted {n:,} suggestion.", "Accepted {n:,} suggestions.", n)
        if accept
        else ngettext("Rejected {n:,} suggestion.", "Rejected {n:,} suggestions.", n)
    )
    return message.format(n=n)
