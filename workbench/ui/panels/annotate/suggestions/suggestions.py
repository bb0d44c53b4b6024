"""Suggestions of labels: which are shown, and accepting and rejecting them. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import provenance, suggestion_edits
from workbench.ui.panels.annotate.session import SUGGESTED
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SuggestionRow
    from workbench.storage.annotation.provenance import Origin
    from workbench.ui.panels.annotate.session import DocumentSession

IN_TEXT, BY_SCORE, BY_SOURCE = "text", "score", "source"  # orders of the suggestions
EVERY, SURE_ONES, BELOW = "every", "sure", "below"  # their scores
ACCEPT_ALL_THRESHOLD = 0.85  # initial score from which "Accept all" accepts suggestions


class SuggestionTool(Tool):
    """`source`: only suggestions of this origin are shown, None for all. `order`: of the list.

    `scores`: EVERY, or only those from the score `sure` on (SURE_ONES), or BELOW it.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.source: Origin | None = None
        self.scores, self.sure = EVERY, ACCEPT_ALL_THRESHOLD
        self.order = IN_TEXT
        self._arranged: tuple[Any, ...] = ()

    # ------------------------------------------------------------ which are shown

    def _arrange(self) -> None:
        """Let the session show what is chosen now."""
        if self.source is None and self.order == IN_TEXT and self.scores == EVERY:
            self.session.update(arrange=None)
        else:
            self.session.update(arrange=lambda rows: self._rows(rows))

    def _rows(self, rows: tuple[SuggestionRow, ...]) -> tuple[SuggestionRow, ...]:
        """The suggestions of the chosen origin and scores, in the chosen order."""
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
                matching.sort(key=self.session.origins.maker)
            self._arranged = (*key, tuple(matching))
        arranged: tuple[SuggestionRow, ...] = self._arranged[-1]
        return arranged

    def _has_score(self, row: SuggestionRow) -> bool:
        is_sure = row.score is None or row.score >= self.sure
        return self.scores == EVERY or is_sure == (self.scores == SURE_ONES)

    @property
    def origins(self) -> tuple[tuple[Origin, str, int], ...]:
        """Origins of the suggestions of the document, with title and number of suggestions."""
        counts = Counter(map(provenance.origin_of, self.session.every_suggestion))
        return tuple(
            (origin, self.session.origins.names.of(origin), n) for origin, n in counts.items()
        )

    def show_source(self, origin: Origin | None) -> None:
        """Show only the suggestions of this origin, or with None all."""
        self.update(source=origin)
        self._arrange()
        self.session.choose(None)

    def show_scores(self, scores: str) -> None:
        """Show only the suggestions with such a score."""
        self.update(scores=scores)
        self._arrange()
        self.session.choose(None)

    def sort_suggestions(self, order: str) -> None:
        self.update(order=order)
        self._arrange()

    def decide_here(self, origin: Origin, *, accept: bool) -> None:
        """Accept or reject the suggestions of an origin in this document."""
        rows = (row for row in self.session.every_suggestion if provenance.origin_of(row) == origin)
        self._decide_these([row.id for row in rows], accept=accept)

    @property
    def unsure(self) -> list[int]:
        """Ids of the suggestions of the document with a score below `sure`."""
        rows = self.session.every_suggestion
        return [row.id for row in rows if row.score is not None and row.score < self.sure]

    def reject_unsure(self) -> None:
        """Reject those with a score below `sure` in this document."""
        self._decide_these(self.unsure, accept=False)

    def _decide_these(self, ids: list[int], *, accept: bool) -> None:
        act = suggestion_edits.accept if accept else suggestion_edits.reject
        done = self.session.attempt(self.session.deciding(act), ids)
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
            self.session.active_ids,
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
            title=_("Revert {source}", source=self.session.origins.names.of(origin)),
            writes=True,
        )

    def _first_suggestion(self) -> SuggestionRow | None:
        return self.session.chosen_suggestion() or next(iter(self.session.suggestions), None)

    def accept(self, suggestion_id: int | None = None) -> None:
        """Accept this suggestion, else the selected one, else the first; then select the next."""
        self._decide(self.session.deciding(suggestion_edits.accept), suggestion_id)

    def reject(self, suggestion_id: int | None = None) -> None:
        """Reject the suggestion, chosen as in `accept`."""
        self._decide(self.session.deciding(suggestion_edits.reject), suggestion_id)

    def delete_chosen(self) -> bool:
        """Reject the selected suggestion; in error review, keep gold and open the next."""
        if self.session.chosen_suggestion() is None:
            return False
        if self.session.errors:
            self.session.queue.next_error()
        else:
            self.reject()
        return True

    def _decide(self, act: Callable[..., Any], suggestion_id: int | None) -> None:
        if not self.session.can_edit:
            return
        row = (
            next((r for r in self.session.suggestions if r.id == suggestion_id), None)
            if suggestion_id is not None
            else self._first_suggestion()
        )
        if row is None:
            return
        ids = [suggestion.id for suggestion in self.session.suggestions]
        rest = ids[ids.index(row.id) + 1 :] + ids[: ids.index(row.id)]
        was_chosen = self.session.chosen is not None
        self.session.attempt(act, [row.id])
        left = {suggestion.id for suggestion in self.session.suggestions}
        following = next((id for id in rest if id in left), None)
        self.session.choose(
            (SUGGESTED, following) if following is not None and was_chosen else None
        )

    def set_sure(self, sure: float) -> None:
        self.update(sure=sure)
        if self.scores != EVERY:
            self._arrange()

    @property
    def sure_suggestions(self) -> list[int]:
        """Ids of the suggestions that "Accept all" accepts."""
        return [r.id for r in self.session.suggestions if r.score is None or r.score >= self.sure]

    def accept_all(self) -> None:
        """Accept every suggestion of this document with a score of at least `sure`, or without a
        score.
        """
        self._all(
            self.session.deciding(suggestion_edits.accept),
            self.sure_suggestions,
            lambda n: ngettext("Accepted {n} suggestion.", "Accepted {n} suggestions.", n),
        )

    def reject_all(self) -> None:
        self._all(
            self.session.deciding(suggestion_edits.reject),
            [r.id for r in self.session.suggestions],
            lambda n: ngettext("Rejected {n} suggestion.", "Rejected {n} suggestions.", n),
        )

    def _all(self, act: Callable[..., Any], ids: list[int], words: Callable[[int], str]) -> None:
        if self.session.can_edit and ids:
            done = self.session.attempt(act, ids)
            if done:
                self.context.note(words(done).format(n=done), undo=True)


def _decided(n: int, *, accept: bool) -> str:
    message = (
        ngettext("Accepted {n:,} suggestion.", "Accepted {n:,} suggestions.", n)
        if accept
        else ngettext("Rejected {n:,} suggestion.", "Rejected {n:,} suggestions.", n)
    )
    return message.format(n=n)
