"""All occurrences of the selected text: what is found, what is ticked, and adding it. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import ngettext
from workbench.base.watch import Watch
from workbench.operations.annotation import occurrences
from workbench.operations.annotation.annotate import Filter
from workbench.operations.annotation.occurrences import Occurrences
from workbench.text.labels import TEXT, TOKENS
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.text.labels import Label
    from workbench.text.queries.patterns import Pattern
    from workbench.ui.panels.annotate.session import DocumentSession

SEARCH = "occurrences"  # key of the task
DOCUMENT, QUEUE, PROJECT = "document", "queue", "project"  # where to search
MAIN_THREAD_LIMIT = 100  # places that are labelled on the main thread

Free = Mapping[bool, frozenset[int]]  # as gold, as suggestions → indexes that are ticked at first
_NOTHING: Free = {True: frozenset(), False: frozenset()}


def _find(
    project: Project, pattern: Pattern, where: Filter, *, watch: Watch
) -> tuple[Occurrences, Free]:
    places = occurrences.find_occurrences(project, pattern, where, watch=watch)
    rows = places.rows
    return places, {
        gold: frozenset(index for index, row in enumerate(rows) if row.is_free(gold=gold))
        for gold in (True, False)
    }


class OccurrenceTool(Tool):
    """`found`: the places; `ticked`: indexes of those that get the label. `share`: progress of a
    search, None if none is running.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.shown, self.text = False, ""
        self.label_id: int | None = None
        self.where = PROJECT
        self.gold = False
        self.whole_words = self.match_case = True
        self.found = Occurrences()
        self.ticked: frozenset[int] = frozenset()
        self.share: float | None = None
        self._free: Free = _NOTHING
        self._searched = Filter()
        self.listen(self.project.changed, self._on_changed)
        self.listen(session.changed, self._moved)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the layers of spans and tags that are shown."""
        layers = [layer for layer in self.session.active if layer.traits.editor in (TEXT, TOKENS)]
        return tuple(label for layer in layers for label in layer.labels)

    @property
    def filtered(self) -> bool:
        """Whether the queue is filtered, so that it can be searched alone."""
        return self.session.queue.filtered

    @property
    def can_add(self) -> bool:
        return self.session.can_edit and bool(self.ticked) and self.share is None

    def words_of(self, index: int) -> str:
        """What is at a place already, in words."""
        return occurrences.state_words(self.found.rows[index])

    # ------------------------------------------------------------ searching

    def open(self, text: str, label_id: int | None = None) -> None:
        """Search for `text`; the label is `label_id`, else the one used last, else the first."""
        ids = [row_id(label) for label in self.labels]
        if not ids or not self.session.can_edit:
            return
        chosen = next((id for id in (label_id, self.label_id) if id in ids), ids[0])
        where = PROJECT if self.where == QUEUE and not self.filtered else self.where
        self.update(shown=True, text=text, label_id=chosen, where=where)
        self.search()

    def leave(self) -> None:
        """Close the list; a search that is running ends."""
        self.context.drop(SEARCH)
        self.update(shown=False, found=Occurrences(), ticked=frozenset(), share=None)

    def set(self, **values: Any) -> None:
        """`label_id`, `where`, `gold`, `whole_words`, `match_case`: change any, search again."""
        self.update(**values)
        if set(values) == {"gold"}:
            self.update(ticked=self._free[self.gold])
        else:
            self.search()

    def search(self) -> None:
        context = self.context
        context.drop(SEARCH)
        if not self.shown or self.label_id is None:
            return
        self._searched = self._filter()
        self.update(share=0.0)
        context.task(
            SEARCH,
            partial(_find, self.project, self._pattern, self._searched),
            lambda answer: self._take(*answer),
            failed=self._failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    @property
    def _pattern(self) -> Pattern:
        return occurrences.pattern_of(
            self.text,
            self.label_id or 0,
            whole_words=self.whole_words,
            match_case=self.match_case,
        )

    def _filter(self) -> Filter:
        """Where to search."""
        if self.where == DOCUMENT:
            return Filter(ids=[self.session.shown_id])
        return self.session.queue.shown_filter() if self.where == QUEUE else Filter()

    def _take(self, places: Occurrences, free: Free) -> None:
        self._free = free
        self.update(found=places, ticked=free[self.gold], share=None)

    def _failed(self, error: Exception) -> None:
        self.leave()
        self.context.fail(error)

    def _moved(self, fields: frozenset[str]) -> None:
        """Another document was opened, or the queue was filtered."""
        if not self.shown or fields.isdisjoint(("document_id", "place", "off")):
            return
        gone = self.where == DOCUMENT and self.session.document_id is None
        if gone or (self.where == QUEUE and not self.filtered):
            self.leave()
        elif self._filter() != self._searched:
            self.search()

    def _on_changed(self, changes: Changes) -> None:
        """Labels were added or removed, so what is there already has changed."""
        if self.shown and any(changes.touches(table) for table in ("span", "label", "document")):
            if self.label_id in [row_id(label) for label in self.labels]:
                self.search()
            else:
                self.leave()

    # ------------------------------------------------------------ choosing and adding

    def toggle(self, indexes: Iterable[int]) -> None:
        """Tick these places, or untick them if all are ticked; not those that have the label."""
        rows = self.found.rows
        able = {index for index in indexes if rows[index].may_be_labelled(gold=self.gold)}
        self.update(ticked=self.ticked - able if able <= self.ticked else self.ticked | able)

    def add(self) -> None:
        """Label the ticked places, as one undo step, and close the list."""
        if not self.can_add:
            return
        rows = [self.found.rows[index] for index in sorted(self.ticked)]
        pattern, gold, project, context = self._pattern, self.gold, self.project, self.context
        self.leave()
        label = partial(occurrences.label_occurrences, project, pattern, rows, gold=gold)
        if len(rows) > MAIN_THREAD_LIMIT:
            title = occurrences.title(project, pattern, len(rows))
            context.task(
                "occurrences-add",
                label,
                lambda done: self._added(done, gold),
                title=title,
                writes=True,
            )
        elif (done := context.attempt(label)) is not None:
            self._added(done, gold)

    def _added(self, done: int, gold: bool) -> None:
        message = (
            ngettext("Labelled {n:,} place.", "Labelled {n:,} places.", done)
            if gold
            else ngettext("Added {n:,} suggestion.", "Added {n:,} suggestions.", done)
        )
        self.context.note(message.format(n=done), undo=done > 0)
