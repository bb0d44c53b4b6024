"""State of the Data page: documents that pass the filters, counts, and bulk edits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.operations import corpus, splits
from workbench.operations import labels as schema
from workbench.operations.background import is_large
from workbench.operations.splits import SplitChoice, SplitPreview
from workbench.text import query_edit
from workbench.text.labels import Label, Layer
from workbench.text.query import QueryError, Term
from workbench.text.rows import row_id
from workbench.ui import shown_layers
from workbench.ui.opened import opened
from workbench.ui.query_text import QueryText

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

MOST_COPIED = 1000  # maximum number of documents whose text is copied to the clipboard
SHOWN = ("document", "mark", "span", "state", "suggestion", "body")


class DataState(State):
    """`ids`: the documents that pass the filters. `query`: the filters as text; split, label and
    state are conditions in it.

    `layers`: available ones; `off`: ids of hidden ones.

    Classes, spans, states and counts cover the visible layers, as in Annotate. `searching` is true
    while documents are looked up, `partial` while `ids` are only the first ones of a search,
    `acting` during a long operation.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.query = QueryText(context)
        self.only: tuple[tuple[int, ...], str] | None = None  # only these documents, with a caption
        self.order: corpus.Order | None = None
        self.ids = array("q")
        self.found_by = ""  # the search text that `ids` belong to
        self.counts: corpus.Counts | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()
        self.labels: dict[tuple[str, str], Label] = {}
        self.chosen: Sequence[int] = ()
        self.touched: frozenset[int] | None = frozenset()  # rows to read again; None: all
        self.searching = self.acting = self.partial = False
        self.stale = False
        self.query_changes = 0  # a number that changes with each change of `query`
        self._asked = 0
        self._counted: tuple[int, ...] | None = None  # the layers of `counts`; None: out of date
        self._found: tuple[corpus.Filter, Sequence[int]] | None = None  # the last complete search
        self.listen(self.project.changed, self._project_changed)
        self.listen(self.project.layers_shown, self._layers_shown)
        self.listen(context.work.changed, lambda: self.update(acting=context.work.active))
        self.acting = context.work.active
        self.listen(self.query.changed, self._query_changed)
        self._read_schema()
        self.look()

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
    def shown(self) -> tuple[Layer, ...]:
        """The layers that are not hidden."""
        return tuple(layer for layer in self.layers if layer.id not in self.off)

    @property
    def shown_ids(self) -> tuple[int, ...]:
        return tuple(layer.id for layer in self.shown if layer.id is not None)

    @property
    def total(self) -> int:
        return self.counts.documents if self.counts else 0

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
        found = self.query.query.value(key)
        return found.values[0] if found is not None and not found.name else None

    @property
    def label(self) -> tuple[int, int | None] | None:
        """Layer id and label id that the query asks for; None as label id for all of the layer."""
        layer, label = (self.query.query.value(key) for key in ("layer", "label"))
        if layer is not None and label is None:
            return next(
                ((row_id(one), None) for one in self.shown if one.name == layer.values[0]), None
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

    def rows(self, ids: Sequence[int]) -> tuple[corpus.DocumentRow, ...]:
        return corpus.rows(self.project, ids, self.shown_ids, found_by=self.found_by)

    def set_filter(self, **values: Any) -> None:
        """`text` of the query, `split`, `label` and `state` in it, `only`: change any of them."""
        only = values.pop("only", self.only)
        if only is not self.only:
            self.update(only=only)
            self.look()
        text = values.pop("text", self.query.text)
        for key, value in values.items():
            if key == "label":
                text = self._with_label(text, value)
            else:
                text = query_edit.with_term(text, key, query_edit.term(key, value) if value else "")
        self.query.set(text)

    def _with_label(self, text: str, wanted: tuple[int, int | None] | None) -> str:
        text = query_edit.with_term(text, "layer", "")
        layer = next((one for one in self.layers if wanted and one.id == wanted[0]), None)
        if wanted is None or layer is None:
            return query_edit.with_term(text, "label", "")
        if wanted[1] is None:
            text = query_edit.with_term(text, "label", "")
            return query_edit.with_term(text, "layer", query_edit.term("layer", layer.name))
        name = next(label.name for label in layer.labels if label.id == wanted[1])
        several = sum(label.name == name for one in self.layers for label in one.labels) > 1
        condition = query_edit.term("label", name, name=layer.name if several else "")
        return query_edit.with_term(text, "label", condition)

    def clear_filters(self) -> None:
        self.set_filter(text="", only=None)

    def order_by(self, by: str) -> None:
        """Sort by a column; again: reversed; a third time: in import order."""
        now = self.order
        order: corpus.Order | None
        if now is None or now.by != by:
            order = corpus.Order(by)
        else:
            order = None if now.descending else corpus.Order(by, descending=True)
        self.update(order=order)
        self.look()

    def show_only(self, ids: Sequence[int], caption: str) -> None:
        """Show only these documents, until the caption is closed."""
        self.set_filter(text="", only=(tuple(ids), caption or _("Selected documents")))

    def _query_changed(self, fields: frozenset[str]) -> None:
        self.update(query_changes=self.query_changes + 1)
        if "query" in fields:
            self.look()

    def close(self) -> None:
        self.query.close()
        super().close()

    def look(self) -> None:
        """Look up ids and counts off the main thread; an outdated search stops.

        In a large project the first rows of a search by text are shown before the others.
        """
        self._asked += 1
        asked, wanted, order, project = self._asked, self.filter, self.order, self.project
        layers, counts, words = self.shown_ids, self.counts, self.query.query.words
        count = self._counted != layers
        narrowed = corpus.narrowed(wanted, *self._found) if self._found else wanted
        self.update(searching=True, stale=False)

        def work() -> Any:
            ids = corpus.filter_ids(project, narrowed, order, layers, stop=outdated)
            return ids, corpus.counts(project, layers) if count else counts

        def outdated() -> bool:
            return asked != self._asked

        def done(found: Any) -> None:
            if not outdated():
                ids, counts = found
                if not self.stale:
                    self._found, self._counted = (wanted, ids), layers
                fields = {"searching": False, "partial": False, "found_by": words}
                self.update(ids=ids, counts=counts, **fields)

        def first(ids: Sequence[int]) -> None:
            if ids and not outdated():
                self.update(ids=ids, partial=True, found_by=words)
            self.context.run(work, done, failed)

        def failed(error: Exception) -> None:
            if not outdated():
                self.update(searching=False, partial=False)
                if isinstance(error, QueryError):
                    self.query.refuse(error)
                else:
                    self.context.fail(error)

        whole = order is not None or narrowed != wanted or not wanted.text.strip()
        if whole or not is_large(project):
            self.context.run(work, done, failed)
        else:
            self.context.run(lambda: corpus.first_ids(project, wanted), first, failed)

    def look_again(self) -> None:
        """Called when the page is shown and the project has changed meanwhile."""
        if self.stale:
            self.update(touched=None)
            self.look()

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

    def _drop_lost_filter(self) -> None:
        """Remove a filter by a deleted label or hidden layer, which would hide every document."""
        query = self.query.query
        label, layer = query.value("label"), query.value("layer")
        if label is not None and not label.patterns[0] and not self._labels_of(label):
            self.query.put("label", "")
        if layer is not None and layer.values[0] not in {one.name for one in self.shown}:
            self.query.put("layer", "")

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Show or hide a layer, here and in Annotate; stored for this project."""
        off = self.off - {layer_id} if on else self.off | {layer_id}
        shown_layers.hide(self.context, [layer for layer in self.layers if layer.id in off])

    def _layers_shown(self) -> None:
        self.update(off=shown_layers.hidden(self.context, self.layers), touched=None)
        self._drop_lost_filter()
        self.look()

    # ------------------------------------------------------------ actions on the selection

    def choose(self, ids: Sequence[int]) -> None:
        self.update(chosen=ids)

    def open(self, document_id: int) -> None:
        self.context.go("annotate", document=document_id)

    @property
    def can_copy(self) -> bool:
        return 0 < len(self.chosen) <= MOST_COPIED

    def copied(self) -> str:
        """The texts of the selected documents, one below the other."""
        return "\n".join(corpus.texts(self.project, self.chosen)) if self.can_copy else ""

    def keys(self) -> str:
        """Their keys, one per line."""
        return "\n".join(one.key for one in self.rows(self.chosen)) if self.can_copy else ""

    def show_on_map(self) -> None:
        """Select the selected documents on the map of Inspect."""
        self.context.go("inspect", documents=tuple(self.chosen))

    def inspect(self, document_id: int) -> None:
        self.context.go("inspect", document=document_id)

    def delete(self) -> None:
        ids = self.chosen
        title = ngettext("Delete {n:,} document", "Delete {n:,} documents", len(ids))
        self._act(
            title.format(n=len(ids)),
            lambda watch: corpus.delete_documents(self.project, ids, watch=watch),
            lambda n: ngettext("{n:,} document deleted.", "{n:,} documents deleted.", n).format(
                n=n
            ),
        )

    def set_split(self, split: str | None) -> None:
        ids, name = self.chosen, term(split) if split else _("no split")
        title = ngettext("Set split of {n:,} document", "Set split of {n:,} documents", len(ids))

        def told(n: int) -> str:
            words = ngettext(
                "{n:,} document moved to {split}.", "{n:,} documents moved to {split}.", n
            )
            return words.format(n=n, split=name)

        self._act(
            title.format(n=len(ids)),
            lambda watch: corpus.set_split(self.project, ids, split, watch=watch),
            told,
        )

    def suggest(self) -> None:
        """Open Results to choose the run that suggests labels for the selected documents."""
        self.context.go("results", suggest=tuple(self.chosen))

    def set_class(self, layer: Layer, label: Label | None) -> None:
        ids = self.chosen
        title = ngettext("Set class of {n:,} document", "Set class of {n:,} documents", len(ids))

        def told(n: int) -> str:
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

        self._act(
            title.format(n=len(ids)),
            lambda watch: corpus.set_class(
                self.project, ids, row_id(layer), label.id if label else None, watch=watch
            ),
            told,
        )

    def set_state(self, layer: Layer, state: str) -> None:
        ids = self.chosen
        title = ngettext("Set state of {n:,} document", "Set state of {n:,} documents", len(ids))

        def told(n: int) -> str:
            words = ngettext(
                "State of {n:,} document set to {state} in layer {layer}.",
                "State of {n:,} documents set to {state} in layer {layer}.",
                n,
            )
            return words.format(n=n, state=term(state), layer=layer.name)

        self._act(
            title.format(n=len(ids)),
            lambda watch: corpus.set_state(self.project, ids, row_id(layer), state, watch=watch),
            told,
        )

    def make_splits(self, choice: SplitChoice) -> None:
        def told(found: SplitPreview) -> str:
            counts = _("{train:,} train, {dev:,} dev, {test:,} test").format(**found.counts)
            moved = ngettext(
                "{n:,} document assigned to splits: {counts}.",
                "{n:,} documents assigned to splits: {counts}.",
                found.changed,
            )
            return moved.format(n=found.changed, counts=counts)

        self._act(
            _("Create splits"),
            lambda watch: splits.divide(self.project, choice, watch=watch),
            told,
            lambda found: bool(found.changed),
        )

    def _act(
        self,
        title: str,
        act: Callable[[Watch], Any],
        told: Callable[[Any], str],
        changed: Callable[[Any], bool] = bool,
    ) -> None:
        """Run a bulk edit off the main thread. It can be cancelled; a message offers to undo it."""
        if not self.acting and self.editable:
            self.context.long(
                title, act, lambda result: self.context.note(told(result), undo=changed(result))
            )
