"""The query of a page: its text, what is wrong with it, completion, saved filters. No Qt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.documents import queries
from workbench.operations.documents.queries import Completion, QueryNames
from workbench.text.queries import query_edit
from workbench.text.queries.query import Query, QueryError, parse
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.storage.queries.saved_filters import SavedFilter
    from workbench.ui.panel import PanelContext

# tables whose names can be completed
NAMED = ("layer", "label", "source", "document", "flag", "saved_filter", "run")


class QueryText(State):
    """`text`: as it is written. `query`: the last one that could be read. `problem`: with `text`.

    `saved`: the saved filters.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.text = ""
        self.query = Query()
        self.problem: QueryError | None = None
        self.known = QueryNames()
        self._stale = True  # whether `known` must be read again
        self.saved: tuple[SavedFilter, ...] = queries.filters(self.project)
        self.listen(self.project.changed, self._project_changed)

    # ------------------------------------------------------------ text

    def set(self, text: str) -> None:
        """Read a new text; `query` stays if it cannot be read."""
        try:
            query = parse(text)
        except QueryError as error:
            self.update(text=text, problem=error)
            return
        if query == self.query and self.problem is None:
            self.update(text=text, query=self.query)
        else:
            self.update(text=text, query=query, problem=None)

    def refuse(self, error: QueryError) -> None:
        """Show that the query has a name that the project does not have."""
        self.update(problem=error)

    def put(self, key: str, condition: str) -> None:
        """Replace the conditions with this key by another one; "" removes them."""
        self.set(query_edit.with_term(self.text, key, condition))

    def remove(self, part: int) -> None:
        """Remove the condition with this number of `query.parts()`."""
        self.set(query_edit.without(self.query.text, part))

    # ------------------------------------------------------------ completion

    def read_names(self) -> None:
        """Read the names for completion, off the main thread, if they have changed."""
        if self._stale:
            self._stale = False

            def failed(error: Exception) -> None:
                self._stale = True  # read with the next word
                self.context.fail(error)

            work = partial(queries.vocabulary, self.project)
            show = lambda known: self.update(known=known)  # noqa: E731
            self.context.task((self, "names"), work, show, failed=failed)

    def offers(self, text: str, caret: int) -> tuple[Completion, ...]:
        """Completions at the caret of a text."""
        return queries.complete(self.known, text, caret)

    # ------------------------------------------------------------ saved filters

    @property
    def can_save(self) -> bool:
        has_query = bool(self.query.nodes) and self.problem is None
        return has_query and not self.project.read_only

    @property
    def current(self) -> SavedFilter | None:
        """The saved filter that the text is, if it is one."""
        return next((filter_ for filter_ in self.saved if filter_.query == self.text.strip()), None)

    def save(self, name: str) -> None:
        """Save the query under a name. Raises SpecError for an invalid name."""
        queries.save_filter(self.project, name, self.text, origin=self)
        self.context.note(_("Filter {name} saved.", name=name.strip()), undo=True)

    def rename(self, saved: SavedFilter, name: str) -> None:
        """Raises SpecError for an invalid name."""
        queries.rename_filter(self.project, saved.id, name, origin=self)

    def delete(self, saved: SavedFilter) -> None:
        queries.delete_filter(self.project, saved.id, origin=self)
        self.context.note(_("Filter {name} deleted.", name=saved.name), undo=True)

    def _project_changed(self, changes: Changes) -> None:
        if any(changes.touches(table) for table in NAMED):
            self._stale = True
        if changes.touches("saved_filter"):
            self.update(saved=queries.filters(self.project))
