"""Which documents the Data page shows: those that pass the filters, and the selected ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import Signal, State
from workbench.base.i18n import _
from workbench.base.watch import Watch, pause
from workbench.operations.documents import corpus
from workbench.operations.people import people
from workbench.operations.schema import labels as schema
from workbench.text.labels import Label
from workbench.text.queries import query_edit
from workbench.text.queries.query import QueryError, Term
from workbench.text.rows import row_id
from workbench.ui.project import shown_layers
from workbench.ui.project.opened import opened
from workbench.ui.project.query_text import QueryText

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext


COLUMNS = "data.columns"  # setting: project uid → further columns of the table
HIDDEN_IN_BLIND_MODE = ("labels", "score")  # columns that count labels of others and suggestions
MOST_COPIED = 1000  # maximum number of documents whose text is copied to the clipboard
TYPING = 0.1  # seconds after the first rows of a search; the rest is not read while one types on
SEARCH = "documents"  # task
SHOWN = ("document", "mark", "span", "state", "suggestion", "body", "note", "flag")


class DocumentFilter(State):
    """`query`: the filters as text; split, label and state are conditions in it. `query_changes`: a
    number that changes with it.

    `only`: only these documents, with a caption. `layers`: available ones; `off`: ids of hidden
    ones.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.query = QueryText(context)
        self.query_changes = 0
        self.listen(self.query.changed, self._query_changed)
        self.only: tuple[tuple[int, ...], str] | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()

    def _query_changed(self, _fields: frozenset[str]) -> None:
        self.update(query_changes=self.query_changes + 1)

    def close(self) -> None:
        self.query.close()
        super().close()

    @property
    def shown(self) -> tuple[Layer, ...]:
        """The layers that are not hidden."""
        return tuple(layer for layer in self.layers if layer.id not in self.off)

    @property
    def shown_ids(self) -> tuple[int, ...]:
        return tuple(layer.id for layer in self.shown if layer.id is not None)

    @property
    def filtered(self) -> bool:
        return bool(self.query.query.nodes or self.only)

    @property
    def split(self) -> str | None:
        """The split that the query asks for; None for all splits or another condition."""
        return self._value("split")

    @property
    def state(self) -> str | None:
        """The state that the query asks for; None for all states or another condition."""
        return self._value("state")

    def asks(self, key: str) -> bool:
        """Whether the query has a condition with this key."""
        return any(term.key == key for term in self.query.query.terms())

    def _value(self, key: str) -> str | None:
        condition = self.query.query.value(key)
        return condition.values[0] if condition is not None and not condition.name else None

    @property
    def label(self) -> tuple[int, int | None] | None:
        """Layer id and label id that the query asks for; None as label id for all of the layer."""
        layer, label = (self.query.query.value(key) for key in ("layer", "label"))
        if layer is not None and label is None:
            return next(
                ((row_id(item), None) for item in self.shown if item.name == layer.values[0]), None
            )
        if label is None or layer is not None:
            return None
        return next(iter(self._labels_of(label)), None)

    def _labels_of(self, term: Term) -> list[tuple[int, int]]:
        return [
            (row_id(layer), row_id(label))
            for layer in self.shown
            for label in layer.labels
            if label.name == term.values[0] and term.name in ("", layer.name)
        ]

    @property
    def filter(self) -> corpus.Filter:
        ids = self.only[0] if self.only else None
        text, rest = self.query.query.parted()
        return corpus.Filter(text=text, query=rest, queue_layers=self.shown_ids, ids=ids)

    def set_filter(self, **values: Any) -> None:
        """`text` of the query, `split`, `label` and `state` in it, `only`: change any of them."""
        self.update(only=values.pop("only", self.only))
        text = values.pop("text", self.query.text)
        for key, value in values.items():
            if key == "label":
                text = self._with_label(text, value)
            else:
                text = query_edit.with_term(text, key, query_edit.term(key, value) if value else "")
        self.query.set(text)

    def _with_label(self, text: str, label_filter: tuple[int, int | None] | None) -> str:
        text = query_edit.with_term(text, "layer", "")
        layer = next(
            (layer for layer in self.layers if label_filter and layer.id == label_filter[0]), None
        )
        if label_filter is None or layer is None:
            return query_edit.with_term(text, "label", "")
        if label_filter[1] is None:
            text = query_edit.with_term(text, "label", "")
            return query_edit.with_term(text, "layer", query_edit.term("layer", layer.name))
        name = next(label.name for label in layer.labels if label.id == label_filter[1])
        several = sum(label.name == name for layer in self.layers for label in layer.labels) > 1
        condition = query_edit.term("label", name, name=layer.name if several else "")
        return query_edit.with_term(text, "label", condition)

    def clear_filters(self) -> None:
        self.set_filter(text="", only=None)

    def show_only(self, ids: Sequence[int], caption: str) -> None:
        """Show only these documents, until the caption is closed."""
        self.set_filter(text="", only=(tuple(ids), caption or _("Selected documents")))

    def drop_lost(self) -> None:
        """Remove a filter by a deleted label or hidden layer, which would hide every document."""
        query = self.query.query
        label, layer = query.value("label"), query.value("layer")
        if label is not None and not label.patterns[0] and not self._labels_of(label):
            self.query.put("label", "")
        if layer is not None and layer.values[0] not in {layer.name for layer in self.shown}:
            self.query.put("layer", "")


class DocumentSelection(State):
    """What the parts of Data see. `ids`: the documents that pass the filters. `chosen`: the
    selected ones among them. `followed`: the documents selected on another page.

    Classes, spans, states and counts cover the visible layers, as in Annotate. `searching` is true
    while documents are looked up, `partial` while `ids` are only the first ones of a search,
    `acting` during a long operation. `listing` is emitted by a part that wants them listed.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.filters = DocumentFilter(context)
        self.context, self.project = context, self.filters.project
        self.listing = Signal("listing")
        self.ids = array("q")
        self.chosen: Sequence[int] = ()
        self.followed: tuple[int, ...] = self.project.selection
        self.order: corpus.SortOrder | None = None
        self.columns: tuple[str, ...] = ()
        self.found_by = ""  # the search text that `ids` belong to
        self.counts: corpus.DocumentCounts | None = None
        self.labels: dict[tuple[str, str], Label] = {}
        self.touched: frozenset[int] | None = frozenset()  # rows to read again; None: all
        self.searching = self.acting = self.partial = False
        self.stale = False
        self._counted: tuple[int, ...] | None = None  # the layers of `counts`; None: out of date
        self._found: tuple[corpus.Filter, Sequence[int]] | None = None  # the last complete search
        self.listen(self.project.changed, self._project_changed)
        self.listen(self.project.layers_shown, self._layers_shown)
        self.listen(self.project.selected, self._on_selected)
        self.listen(context.work.changed, lambda: self.update(acting=context.work.active))
        self.acting = context.work.active
        self.listen(self.filters.changed, self._filters_changed)
        self.listen(self.filters.query.changed, self._query_changed)
        self._read_schema()
        self.refresh()

    def close(self) -> None:
        self.filters.close()
        super().close()

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
        layer_ids, found_by = self.filters.shown_ids, self.found_by
        return corpus.rows(self.project, ids, layer_ids, found_by=found_by, more=self.columns)

    @property
    def column_choices(self) -> tuple[str, ...]:
        """The further columns that can be shown: `queries.columns`, then metadata fields."""
        fields = (f"{corpus.META}{name}" for name in self.filters.query.known.fields)
        every = dict.fromkeys((*corpus.COLUMNS, *fields, *self.columns))
        hidden = HIDDEN_IN_BLIND_MODE if people.is_blind(self.project) else ()
        return tuple(column for column in every if column not in hidden)

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

    def _filters_changed(self, fields: frozenset[str]) -> None:
        self.changed.emit(fields)
        if "only" in fields:
            self.refresh()

    def _query_changed(self, fields: frozenset[str]) -> None:
        if "query" in fields:
            self.refresh()

    def list_only(self, ids: Sequence[int], caption: str) -> None:
        """List only these documents, whatever the page shows."""
        self.listing.emit()
        self.filters.show_only(ids, caption)

    def refresh(self) -> None:
        """Look up ids and counts off the main thread; an outdated search stops.

        In a large project the first rows of a search by text are shown before the others.
        """
        filters, order, project = self.filters, self.order, self.project
        filter = filters.filter
        layers, counts, words = filters.shown_ids, self.counts, filters.query.query.words
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
                filters.query.refuse(error)
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
        every = tuple(layer for layer in schema.layers(self.project) if layer.traits.editor)
        hidden = people.hidden_layers(self.project)
        layers = tuple(layer for layer in every if layer.id not in hidden)
        labels = {(layer.name, label.name): label for layer in layers for label in layer.labels}
        stored = self.context.settings.window.get(COLUMNS, {}).get(self.project.uid, ())
        unseen = HIDDEN_IN_BLIND_MODE if people.is_blind(self.project) else ()
        columns = tuple(column for column in stored if column not in unseen)
        self.update(labels=labels, columns=columns)
        self.filters.update(layers=layers, off=shown_layers.hidden(self.context, every))
        self.filters.drop_lost()

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Show or hide a layer, here and in Annotate; stored for this project."""
        layers, off = self.filters.layers, self.filters.off
        off = off - {layer_id} if on else off | {layer_id}
        shown_layers.hide(self.context, [layer for layer in layers if layer.id in off])

    def _layers_shown(self) -> None:
        self._read_schema()
        self.update(touched=None)
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
