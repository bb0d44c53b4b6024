"""Where suggestions and spans come from: filter, order, acts on everything of an origin. No Qt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations import provenance, suggestion_edits
from workbench.ui import formats
from workbench.ui.panels.annotate.tokens import TokenState

if TYPE_CHECKING:
    from workbench.operations.annotate import RelationRow, SpanRow, SuggestionRow
    from workbench.storage.origins import Origin
    from workbench.ui.panel import PanelContext

IN_TEXT, BY_SCORE, BY_SOURCE = "text", "score", "source"  # orders of the suggestions


class SourceState(TokenState):
    """`source`: only suggestions of this origin are shown, None for all. `order`: of the list."""

    def __init__(self, context: PanelContext) -> None:
        self.source: Origin | None = None
        self.order = IN_TEXT
        self._arranged: tuple[Any, ...] = ()
        self._named: tuple[object, provenance.Names] | None = None
        super().__init__(context)

    @property
    def every_suggestion(self) -> tuple[SuggestionRow, ...]:
        """The suggestions of the document in the selected layers, of all origins."""
        return super().suggestions

    @property
    def suggestions(self) -> tuple[SuggestionRow, ...]:
        """Those of the chosen origin, in the chosen order."""
        rows = self.every_suggestion
        if self.source is None and self.order == IN_TEXT:
            return rows
        key = rows, self.source, self.order
        if not self._arranged or any(a is not b for a, b in zip(self._arranged, key, strict=False)):
            kept = [row for row in rows if self.source in (None, provenance.origin_of(row))]
            if self.order == BY_SCORE:  # those without a score last
                kept.sort(key=lambda row: -1.0 if row.score is None else row.score, reverse=True)
            elif self.order == BY_SOURCE:
                kept.sort(key=self.maker)
            self._arranged = (*key, tuple(kept))
        found: tuple[SuggestionRow, ...] = self._arranged[3]
        return found

    # ------------------------------------------------------------ names

    @property
    def names(self) -> provenance.Names:
        """Titles of origins, read again for each document."""
        if self._named is None or self._named[0] is not self.doc:
            self._named = self.doc, provenance.Names(self.project)
        return self._named[1]

    def origin_of(self, row: SpanRow | SuggestionRow | RelationRow) -> Origin:
        """The origin of a span, relation or suggestion."""
        return provenance.origin_of(row)

    def maker(self, row: SpanRow | SuggestionRow | RelationRow) -> str:
        """Who or what made it."""
        return self.names.of(provenance.origin_of(row))

    def made(self, row: SpanRow | SuggestionRow | RelationRow) -> str:
        """Who or what made it, and when."""
        at = formats.when_iso(row.made_at)
        return _("{source}, {time}").format(source=self.maker(row), time=at)

    def briefly_made(self, row: SuggestionRow) -> str:
        """The same for a narrow column: of today only the time."""
        at = formats.when_iso(row.made_at, brief=True)
        return _("{source}, {time}").format(source=self.maker(row), time=at)

    @property
    def origins(self) -> tuple[tuple[Origin, str, int], ...]:
        """Origins of the suggestions of the document, with title and number of suggestions."""
        counts = Counter(map(provenance.origin_of, self.every_suggestion))
        return tuple((origin, self.names.of(origin), n) for origin, n in counts.items())

    # ------------------------------------------------------------ actions

    def show_source(self, origin: Origin | None) -> None:
        """Show only the suggestions of this origin, or with None all."""
        self.update(source=origin, chosen=None)

    def sort_suggestions(self, order: str) -> None:
        self.update(order=order)

    def decide_here(self, origin: Origin, *, accept: bool) -> None:
        """Accept or reject the suggestions of an origin in this document."""
        ids = [row.id for row in self.every_suggestion if provenance.origin_of(row) == origin]
        act = suggestion_edits.accept if accept else suggestion_edits.reject
        done = self.context.attempt(self.deciding(act), self.project, ids, origin=self)
        if done:
            self.context.note(_decided(done, accept=accept), undo=True)

    def decide_everywhere(
        self, *, accept: bool, origin: Origin | None = None, least: float | None = None
    ) -> None:
        """Accept or reject suggestions in all documents, off the main thread, as one undo step."""
        project, layers = self.project, self.active_ids
        title = _("Accept suggestions") if accept else _("Reject suggestions")
        self.context.long(
            title,
            lambda watch: provenance.decide(
                project, layers, accept=accept, origin=origin, least=least, watch=watch
            ),
            lambda done: self.context.note(_decided(done, accept=accept), undo=done > 0),
        )

    def revert(self, origin: Origin) -> None:
        """Delete everything that an origin made, in all documents, as one undo step."""
        project = self.project
        self.context.long(
            _("Revert {source}").format(source=self.names.of(origin)),
            lambda watch: provenance.revert(project, origin, watch=watch),
            lambda done: self.context.note(provenance.told(*done), undo=any(done)),
        )


def _decided(n: int, *, accept: bool) -> str:
    told = (
        ngettext("Accepted {n:,} suggestion.", "Accepted {n:,} suggestions.", n)
        if accept
        else ngettext("Rejected {n:,} suggestion.", "Rejected {n:,} suggestions.", n)
    )
    return told.format(n=n)
