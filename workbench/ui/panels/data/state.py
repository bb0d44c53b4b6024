"""State of the Data page: documents that pass the filters, counts, and bulk edits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.base.watch import Watch, pause
from workbench.operations.documents import corpus, notes, removal, splits
from workbench.operations.documents.splits import SplitChoice, SplitPreview
from workbench.operations.schema import labels as schema
from workbench.text.labels import Label, Layer
from workbench.text.parts import is_part
from workbench.text.query import QueryError
from workbench.text.rows import row_id
from workbench.ui.dialogs import parts_state
from workbench.ui.panels.data.filters import FilterState
from workbench.ui.project import shown_layers

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.data.duplicates_state import DuplicatesState
    from workbench.ui.panels.data.statistics_state import StatisticsState

COLUMNS = "data.columns"  # setting: project uid → further columns of the table
VIEWS = DOCUMENTS, STATISTICS, DUPLICATES = ("documents", "statistics", "duplicates")
Removal = removal.RemovalSummary
MOST_COPIED = 1000  # maximum number of documents whose text is copied to the clipboard
TYPING = 0.1  # seconds after the first rows of a search; the rest is not read while one types on
SEARCH = "documents"  # task
SHOWN = ("document", "mark", "span", "state", "suggestion", "body", "note", "flag")


class DataState(FilterState):
    """`ids`: the documents that pass the filters. `chosen`: the selected ones among them.
    `followed`: the documents selected on another page. `query`: the filters as text; split, label
    and state are conditions in it.

    `layers`: available ones; `off`: ids of hidden ones.

    Classes, spans, states and counts cover the visible layers, as in Annotate. `searching` is true
    while documents are looked up, `partial` while `ids` are only the first ones of a search,
    `acting` during a long operation. `view`: one of VIEWS.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.ids = array("q")
        self.chosen: Sequence[int] = ()
        self.followed: tuple[int, ...] = self.project.selection
        self.order: corpus.SortOrder | None = None
        columns = context.settings.window.get(COLUMNS, {})
        self.columns: tuple[str, ...] = tuple(columns.get(self.project.uid, ()))
        self.found_by = ""  # the search text that `ids` belong to
        self.counts: corpus.DocumentCounts | None = None
        self.labels: dict[tuple[str, str], Label] = {}
        self.touched: frozenset[int] | None = frozenset()  # rows to read again; None: all
        self.searching = self.acting = self.partial = False
        self.stale = False
        self.query_changes = 0  # a number that changes with each change of `query`
        self.view = VIEWS[0]
        self._statistics: StatisticsState | None = None
        self._duplicates: DuplicatesState | None = None
        self._counted: tuple[int, ...] | None = None  # the layers of `counts`; None: out of date
        self._found: tuple[corpus.Filter, Sequence[int]] | None = None  # the last complete search
        self.listen(self.project.changed, self._project_changed)
        self.listen(self.project.layers_shown, self._layers_shown)
        self.listen(self.project.selected, self._on_selected)
        self.listen(context.work.changed, lambda: self.update(acting=context.work.active))
        self.acting = context.work.active
        self.listen(self.query.changed, self._query_changed)
        self._read_schema()
        self.refresh()

    # ------------------------------------------------------------ queries

    @property
    def editable(self) -> bool:
        return not self.project.read_only

    @property
    def can_act(self) -> bool:
        return self.editable and not self.acting and bool(self.chosen)

    @property
    def can_split(self) -> bool:
        return self.editable and not self.acting and self.total > 0

    @property
    def total(self) -> int:
        return self.counts.documents if self.counts else 0

    def is_field(self, column: str) -> bool:
        """Whether a further column is a metadata field."""
        return column.startswith(corpus.META)

    def rows(self, ids: Sequence[int]) -> tuple[corpus.DocumentRow, ...]:
        layer_ids, found_by = self.shown_ids, self.found_by
        return corpus.rows(self.project, ids, layer_ids, found_by=found_by, more=self.columns)

    @property
    def column_choices(self) -> tuple[str, ...]:
        """The further columns that can be shown: `queries.columns`, then metadata fields."""
        fields = (f"{corpus.META}{name}" for name in self.query.known.fields)
        return tuple(dict.fromkeys((*corpus.COLUMNS, *fields, *self.columns)))

    def show_column(self, name: str, *, on: bool) -> None:
        """Show or hide a further column; stored for this project."""
        columns = tuple(
            column_choice
            for column_choice in self.column_choices
            if column_choice in self.columns or column_choice == name
        )
        columns = columns if on else tuple(column for column in columns if column != name)
        by_project = dict(self.context.settings.window.get(COLUMNS, {}))
        by_project[self.project.uid] = list(columns)
        self.context.settings.window[COLUMNS] = by_project
        self.context.settings.save()
        self.update(columns=columns, touched=None)
        if not on and self.order is not None and self.order.by == name:
            self.update(order=None)
            self.refresh()

    def order_by(self, by: str) -> None:
        """Sort by a column; again: reversed; a third time: in import order."""
        now = self.order
        order: corpus.SortOrder | None
        if now is None or now.by != by:
            order = corpus.SortOrder(by)
        else:
            order = None if now.descending else corpus.SortOrder(by, descending=True)
        self.update(order=order)
        self.refresh()

    def _query_changed(self, fields: frozenset[str]) -> None:
        self.update(query_changes=self.query_changes + 1)
        if "query" in fields:
            self.refresh()

    def close(self) -> None:
        self.query.close()
        for part in (self._statistics, self._duplicates):
            if part is not None:
                part.close()
        super().close()

    # ------------------------------------------------------------ views

    @property
    def statistics(self) -> StatisticsState:
        """Statistics of the documents that pass the filters; created on first use."""
        from workbench.ui.panels.data.statistics_state import StatisticsState

        if self._statistics is None:
            self._statistics = StatisticsState(self)
        return self._statistics

    @property
    def duplicates(self) -> DuplicatesState:
        """Duplicates among the documents that pass the filters; created on first use."""
        from workbench.ui.panels.data.duplicates_state import DuplicatesState

        if self._duplicates is None:
            self._duplicates = DuplicatesState(self)
        return self._duplicates

    def show_view(self, view: str) -> None:
        """Show the documents, their statistics or their duplicates."""
        if view == STATISTICS:
            self.statistics.show()
        elif self._statistics is not None:
            self._statistics.hide()
        self.update(view=view)

    def refresh(self) -> None:
        """Look up ids and counts off the main thread; an outdated search stops.

        In a large project the first rows of a search by text are shown before the others.
        """
        filter, order, project = self.filter, self.order, self.project
        layers, counts, words = self.shown_ids, self.counts, self.query.query.words
        count = self._counted != layers
        narrowed = corpus.narrowed(filter, *self._found) if self._found else filter
        self.update(searching=True, stale=False)

        def search(*, watch: Watch) -> Any:
            ids = corpus.filter_ids(project, narrowed, order, layers, watch=watch)
            return ids, corpus.counts(project, layers) if count else counts

        def search_the_rest(*, watch: Watch) -> Any:
            pause(TYPING, lambda: watch.cancelled)
            return search(watch=watch)

        def done(result: tuple[array[int], corpus.DocumentCounts]) -> None:
            ids, counts = result
            if not self.stale:
                self._found, self._counted = (filter, ids), layers
            fields = {"searching": False, "partial": False, "found_by": words}
            self.update(ids=ids, counts=counts, **fields)

        def first(ids: Sequence[int]) -> None:
            if ids:
                self.update(ids=ids, partial=True, found_by=words)
            self.context.task(SEARCH, search_the_rest, done, failed=failed)

        def failed(error: Exception) -> None:
            self.update(searching=False, partial=False)
            if isinstance(error, QueryError):
                self.query.refuse(error)
            else:
                self.context.fail(error)

        whole = order is not None or narrowed != filter or not filter.text.strip()
        if whole or not corpus.is_large(project):
            self.context.task(SEARCH, search, done, failed=failed)
        else:
            first_ids = partial(corpus.first_ids, project, filter)
            self.context.task(SEARCH, first_ids, first, failed=failed)

    def look_again(self) -> None:
        """Called when the page is shown and the project has changed meanwhile."""
        if self.stale:
            self.update(touched=None)
            self.refresh()

    def _project_changed(self, changes: Changes) -> None:
        self._counted = self._found = None
        if changes.touches("layer") or changes.touches("label"):
            self._read_schema()
            self.update(stale=True, touched=None)
        elif any(changes.touches(table) for table in SHOWN):
            self.update(stale=True, touched=changes.documents)

    def _read_schema(self) -> None:
        layers = tuple(layer for layer in schema.layers(self.project) if layer.traits.editor)
        self.update(
            layers=layers,
            labels={(layer.name, label.name): label for layer in layers for label in layer.labels},
            off=shown_layers.hidden(self.context, layers),
        )
        self._drop_lost_filter()

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Show or hide a layer, here and in Annotate; stored for this project."""
        off = self.off - {layer_id} if on else self.off | {layer_id}
        shown_layers.hide(self.context, [layer for layer in self.layers if layer.id in off])

    def _layers_shown(self) -> None:
        self.update(off=shown_layers.hidden(self.context, self.layers), touched=None)
        self._drop_lost_filter()
        self.refresh()

    # ------------------------------------------------------------ the selection

    def choose(self, ids: Sequence[int]) -> None:
        self.update(chosen=ids)
        if ids and not self._is_followed(ids):
            self.update(followed=())
            self.project.select(ids, self)

    def _is_followed(self, ids: Sequence[int]) -> bool:
        """Whether these are the listed ones of the documents selected on another page."""
        if not self.followed or len(ids) > len(self.followed):
            return False
        followed = frozenset(self.followed)
        return followed.issuperset(ids) and sum(id in followed for id in self.ids) == len(ids)

    def _on_selected(self, origin: object) -> None:
        if origin is not self:
            self.update(followed=self.project.selection)

    def open(self, document_id: int) -> None:
        self.context.go("annotate", document=document_id)

    @property
    def can_copy(self) -> bool:
        return 0 < len(self.chosen) <= MOST_COPIED

    def copied(self) -> str:
        """The texts of the selected documents, one below the other."""
        return "\n".join(corpus.texts(self.project, self.chosen)) if self.can_copy else ""

    def keys(self) -> str:
        """The keys of the selected documents, one per line."""
        return "\n".join(row.key for row in self.rows(self.chosen)) if self.can_copy else ""

    def show_on_map(self) -> None:
        """Select the selected documents on the map of Inspect."""
        self.context.go("inspect", documents=tuple(self.chosen))

    def inspect(self, document_id: int) -> None:
        self.context.go("inspect", document=document_id)

    # ------------------------------------------------------------ actions on the selection

    def delete(self) -> None:
        ids = self.chosen
        title = ngettext("Delete {n:,} document", "Delete {n:,} documents", len(ids))
        self.act(
            title.format(n=len(ids)),
            partial(corpus.delete_documents, self.project, ids),
            lambda n: ngettext("{n:,} document deleted.", "{n:,} documents deleted.", n),
        )

    def preview_removal(self, done: Callable[[Removal], None]) -> None:
        """Look for the selected documents everywhere, off the main thread."""
        ids = self.chosen
        self.context.task("removal", partial(removal.described, self.project, ids), done)

    def remove_for_good(self) -> None:
        """Remove the selected documents, also from the history, versions and runs."""
        ids = self.chosen
        title = ngettext(
            "Remove {n:,} document permanently", "Remove {n:,} documents permanently", len(ids)
        )

        self.act(
            title.format(n=len(ids)),
            partial(removal.remove, self.project, ids),
            removal.summary,
            lambda _done: False,
        )

    @property
    def has_parts(self) -> bool:
        """Whether the first selected document is a part of another one."""
        return any(map(is_part, corpus.documents_of(self.project, self.chosen[:1])))

    def join_parts(self) -> None:
        """Join the documents that the selected ones are parts of."""
        parts_state.join(self.context, self.chosen)

    @property
    def flag_names(self) -> tuple[str, ...]:
        """The flags that can be set."""
        return notes.flag_names(self.project)

    def set_flag(self, name: str, *, on: bool) -> None:
        """Set or remove a flag of the selected documents."""
        ids = self.chosen
        title = ngettext("Flag {n:,} document", "Flag {n:,} documents", len(ids))

        def describe(n: int) -> str:
            words = (
                ngettext("{n:,} document flagged {name}.", "{n:,} documents flagged {name}.", n)
                if on
                else ngettext(
                    "Flag {name} removed from {n:,} document.",
                    "Flag {name} removed from {n:,} documents.",
                    n,
                )
            )
            return words.format(n=n, name=name)

        self.act(
            title.format(n=len(ids)),
            partial(notes.set_flag, self.project, ids, name, on=on),
            describe,
        )

    def set_split(self, split: str | None) -> None:
        ids, name = self.chosen, term(split) if split else _("no split")
        title = ngettext("Set split of {n:,} document", "Set split of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            return ngettext(
                "{n:,} document moved to {split}.",
                "{n:,} documents moved to {split}.",
                n,
                split=name,
            )

        self.act(
            title.format(n=len(ids)),
            partial(corpus.set_split, self.project, ids, split),
            describe,
        )

    def suggest(self) -> None:
        """Open Results to choose the run that suggests labels for the selected documents."""
        self.context.go("results", suggest=tuple(self.chosen))

    def set_class(self, layer: Layer, label: Label | None) -> None:
        ids = self.chosen
        title = ngettext("Set class of {n:,} document", "Set class of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            words = (
                ngettext(
                    "Class of {n:,} document set to {label}.",
                    "Class of {n:,} documents set to {label}.",
                    n,
                )
                if label
                else ngettext(
                    "Class of {n:,} document cleared.",
                    "Class of {n:,} documents cleared.",
                    n,
                )
            )
            return words.format(n=n, label=label.name if label else "")

        self.act(
            title.format(n=len(ids)),
            partial(
                corpus.set_class, self.project, ids, row_id(layer), label.id if label else None
            ),
            describe,
        )

    def set_state(self, layer: Layer, state: str) -> None:
        ids = self.chosen
        title = ngettext("Set state of {n:,} document", "Set state of {n:,} documents", len(ids))

        def describe(n: int) -> str:
            return ngettext(
                "State of {n:,} document set to {state} in layer {layer}.",
                "State of {n:,} documents set to {state} in layer {layer}.",
                n,
                state=term(state),
                layer=layer.name,
            )

        self.act(
            title.format(n=len(ids)),
            partial(corpus.set_state, self.project, ids, row_id(layer), state),
            describe,
        )

    def make_splits(self, choice: SplitChoice) -> None:
        def describe(preview: SplitPreview) -> str:
            counts = _("{train:,} train, {dev:,} dev, {test:,} test", **preview.counts)
            return ngettext(
                "{n:,} document assigned to splits: {counts}.",
                "{n:,} documents assigned to splits: {counts}.",
                preview.changed,
                counts=counts,
            )

        self.act(
            _("Create splits"),
            partial(splits.divide, self.project, choice),
            describe,
            lambda preview: bool(preview.changed),
        )

    def act(
        self,
        title: str,
        act: Callable[..., Any],
        describe: Callable[[Any], str],
        changed: Callable[[Any], bool] = bool,
    ) -> None:
        """Run a bulk edit off the main thread; a message offers to undo it. `act` takes `watch` if
        it can be cancelled.
        """
        if not self.acting and self.editable:
            self.context.task(
                "bulk-edit",
                act,
                lambda result: self.context.note(describe(result), undo=changed(result)),
                title=title,
                writes=True,
            )
