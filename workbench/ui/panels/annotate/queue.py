"""The documents in the queue of Annotate, their order, and navigation. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import N_, _, ngettext
from workbench.base.terms import term
from workbench.operations.annotation import (
    annotate,
    preannotate,
    progress,
    provenance,
    queue_orders,
    queue_strategies,
)
from workbench.operations.annotation.annotate import TO_DO, DocumentRow, Filter, SourceFile
from workbench.operations.documents import corpus, queries
from workbench.text.queries import query_edit
from workbench.text.queries.query import Node, Query, QueryError, Term
from workbench.text.rows import row_id
from workbench.ui.project.opened import opened
from workbench.ui.project.query_text import QueryText
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.operations.annotation.queue_orders import QueueOrder
    from workbench.storage.annotation.provenance import Origin
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

UNLABELLED = TO_DO  # a state of the filter

READ, ORDERING = "queue", "queue-order"  # keys of tasks
FILES = "file"  # the order without a strategy
LARGE_QUEUE = 20_000  # documents above which counting and listing run off the main thread
MINUTE = 60.0
MAX_SINGLE_CHECKS = 50  # changed documents that are tested against the filter one by one
LATEST = 30  # origins that are offered as a filter
NO_SPLIT = "none"
DONE = ("submitted", "discarded")
_KEYS = {  # field of `Narrowed` → key of the query
    "state": "state",
    "suggested": "has",
    "label_id": "label",
    "split": "split",
    "source": "file",
    "origin": "source",
}
_TITLES = {
    "state": N_("State: {name}"),
    "label": N_("Label: {name}"),
    "split": N_("Split: {name}"),
    "file": N_("File: {name}"),
}


@dataclass(frozen=True)
class Narrowed:
    """What the query asks for, as the filter menu can show it.

    `state`: `TO_DO`, pending, draft, submitted or discarded in the selected layers.
    `suggested`: there are suggestions in them. `source`: the name of an imported file.
    `origin`: who or what made a label or an open suggestion. `query`: all conditions, which are
    the filter.
    """

    state: str | None = None
    suggested: bool = False
    label_id: int | None = None
    split: str | None = None
    source: str | None = None
    origin: Origin | None = None
    query: Query = Query()

    @property
    def empty(self) -> bool:
        return not self.query.nodes


@dataclass(frozen=True)
class OrderChoices:
    """(value, title) of orders of a layer, and of the runs and models of vectors they can read.

    refused: run → why it cannot predict.
    """

    strategies: tuple[tuple[str, str], ...]
    runs: tuple[tuple[int, str], ...]
    models: tuple[tuple[str, str], ...]
    refused: Mapping[int, str] = field(default_factory=dict)


class QueueState(State):
    """`ids`: the queue in order. `query`: its filter as text; `narrowed`: what of it is in use.

    `total`: documents without the filter. `left`: those to label. `queue_order`: None for file
    order; in an order, finished documents fall out of the queue unless a filter asks for them.
    `computing`: whether another order is computed.

    `skipped` come last. The open document stays in the queue until another is opened, even if it no
    longer passes the filter. `AnnotateState` has the document and the layers.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.document_id: int | None = None
        self.doc: DocumentView | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()
        self.errors: tuple[int, ...] = ()
        self.ids: Sequence[int] = array("q")
        self.skipped: tuple[int, ...] = ()
        self.queue_order: QueueOrder | None = None
        self.computing = False
        self.total = 0
        self.left: int | None = None
        self.progress: progress.Progress | None = None
        self._measured, self._measured_of = -MINUTE, tuple[int, ...]()  # `monotonic`, layers
        # while the queue is read: documents that have changed, and whether the order has
        self._meanwhile, self._reordered = set[int](), False
        self.query = QueryText(context)
        self.query_changes = 0  # a number that changes with each change of `query`
        self.narrowed = Narrowed()
        self.listen(self.query.changed, self._query_changed)
        self.source_files: tuple[SourceFile, ...] = ()

    def close(self) -> None:
        self.query.close()
        super().close()

    def open(self, document_id: int, chosen: Any = None) -> None:
        raise NotImplementedError

    @property
    def active_ids(self) -> tuple[int, ...]:
        """The selected layers, of any document."""
        return tuple(id for id in map(row_id, self.layers) if id not in self.off)

    def rows(self, ids: Sequence[int]) -> tuple[DocumentRow, ...]:
        doc = self.doc if self.document_id in ids else None
        return annotate.queue_page(self.project, ids, self.active_ids, shown=doc)

    # ------------------------------------------------------------ filter

    def narrow(self, **values: Any) -> None:
        """Change fields of the filter; opens the first matching document unless the open one
        matches.
        """
        text = self.query.text
        for name, value in values.items():
            text = query_edit.with_term(text, _KEYS[name], self._condition(name, value))
        self.query.set(text)

    def _condition(self, name: str, value: Any) -> str:
        """The condition for a field of `Narrowed`; "" for none."""
        if not value:
            return ""
        if name == "suggested":
            value = "suggestion"
        elif name == "state":
            value = "open" if value == TO_DO else value
        elif name == "origin":
            value = provenance.query_value(self.project, value)
        elif name == "label_id":
            layer, label = self._layer_and_label(value)
            several = sum(item.name == label for all in self.layers for item in all.labels) > 1
            return query_edit.term("label", label, name=layer if several else "")
        return query_edit.term(_KEYS[name], value)

    def _layer_and_label(self, label_id: int) -> tuple[str, str]:
        names = {
            row_id(label): (all.name, label.name) for all in self.layers for label in all.labels
        }
        return names.get(label_id, ("", "?"))

    def _read_narrowed(self, query: Query) -> Narrowed:
        def value(key: str) -> str | None:
            term = query.value(key)
            return term.values[0] if term is not None and not term.name else None

        state, label, maker = value("state"), query.value("label"), value("source")
        ids = [
            row_id(item)
            for layer in self.layers
            for item in layer.labels
            if label and item.name == label.values[0] and label.name in ("", layer.name)
        ]
        makers = provenance.origins(self.project)[:LATEST] if maker else ()
        named = (
            origin for origin in makers if provenance.query_value(self.project, origin) == maker
        )
        return Narrowed(
            state={"open": TO_DO}.get(state or "", state),
            suggested=value("has") == "suggestion",
            label_id=ids[0] if ids else None,
            split=value("split"),
            source=value("file"),
            origin=next(named, None),
            query=query,
        )

    def _query_changed(self, fields: frozenset[str]) -> None:
        self.update(query_changes=self.query_changes + 1)
        if "query" not in fields or self.query.query == self.narrowed.query:
            return
        try:
            queries.check(self.project, self.query.text, self.active_ids)
        except QueryError as error:
            self.query.refuse(error)
            return
        self.update(narrowed=self._read_narrowed(self.query.query), skipped=())
        self._load_queue()

    def _check_query(self) -> None:
        """Remove conditions with names that no longer exist, such as that of a deleted label."""
        nodes = range(len(self.narrowed.query.nodes))
        for number in reversed(nodes):
            part = self.narrowed.query.parts()[number]
            try:
                queries.check(self.project, part, self.active_ids)
            except QueryError:
                self.query.remove(number)

    @property
    def only_unlabelled(self) -> bool:
        return self.narrowed.state == TO_DO

    def toggle_unlabelled(self) -> None:
        self.narrow(state=None if self.only_unlabelled else TO_DO)

    def clear_filters(self) -> None:
        self.query.set("")

    @property
    def filters(self) -> tuple[tuple[int, str], ...]:
        """The conditions of the query as (number, text)."""
        query = self.narrowed.query
        parts = zip(query.nodes, query.parts(), strict=True)
        return tuple((number, self._title(*part)) for number, part in enumerate(parts))

    def _title(self, node: Node, text: str) -> str:
        """What the filter menu calls the condition, else its text."""
        if not isinstance(node, Term) or len(node.values) != 1 or node.operator != "=":
            return text
        key, value = node.key, node.values[0]
        if key == "state" and value == "open" and not node.name:
            return _("Unlabelled")
        if key == "has" and value == "suggestion":
            return _("With suggestions")
        if key == "split" and value == NO_SPLIT:
            return _("No split")
        if key == "source" and self.narrowed.origin is not None:
            name = provenance.Names(self.project).of(self.narrowed.origin)
            return _("Made by: {name}", name=name)
        title = _TITLES.get(key)
        return text if title is None or node.name else _(title, name=term(value))

    @property
    def origin_choices(self) -> list[tuple[Origin, str]]:
        """The latest origins of labels and suggestions, with titles."""
        names = provenance.Names(self.project)
        latest = provenance.origins(self.project)[:LATEST]
        return [(origin, names.of(origin)) for origin in latest]

    def _unfiltered(self) -> Filter:
        """The documents that a selected layer applies to."""
        texts = {layer.texts for layer in self.layers if layer.id not in self.off}
        return Filter(texts=next(iter(texts))) if len(texts) == 1 else Filter()

    def shown_filter(self) -> Filter:
        """The filter of the queue, as one on documents."""
        every = self._unfiltered()
        queued = None if self.queue_order is None or self.narrowed.state else TO_DO
        return replace(
            every, queue_layers=self.active_ids, query=self.narrowed.query, queued=queued
        )

    @property
    def whole(self) -> bool:
        """Whether the queue has every document, finished ones too."""
        return self.narrowed.empty and self.queue_order is None

    def _in_order(self, ids: Sequence[int]) -> Sequence[int]:
        """The documents, given by id, in the order of the queue."""
        return ids if self.queue_order is None else queue_orders.arranged(self.queue_order, ids)

    # ------------------------------------------------------------ loading

    def _load_queue(self) -> None:
        if self.errors:
            return
        every, filter = self._unfiltered(), self.shown_filter()
        project, narrowed, whole = self.project, self.narrowed, self.whole

        def read() -> tuple[Any, ...]:
            ids = annotate.queue(project, filter)
            total = len(ids) if whole else annotate.queue_size(project, every)
            return self._in_order(ids), total, annotate.source_files(project)

        def take(answer: tuple[Any, ...]) -> None:
            if narrowed != self.narrowed or self.errors:
                return
            self._take_queue(*answer)
            if self._reordered:
                self._reorder(self.skipped)
            self._check(self._meanwhile)

        self._meanwhile, self._reordered = set(), False
        many = max(len(self.ids), self.total) > LARGE_QUEUE
        if many or (not self.ids and corpus.is_large(self.project)):
            if self.document_id is None:
                self.next_unlabelled(start=True)
            self.context.task(READ, read, take)
        else:
            self.context.drop(READ)
            take(read())

    def _take_queue(
        self, ids: Sequence[int], total: int, source_files: tuple[SourceFile, ...]
    ) -> None:
        there = set(ids) if self.skipped else set()
        last = tuple(id for id in self.skipped if id in there)
        self.update(ids=_with_last(ids, last), skipped=last, total=total, source_files=source_files)
        self._count()
        if self.document_id not in self.ids:
            self._open_first()

    def _measure(self) -> None:
        """Measure progress and pace off the main thread, in large projects once a minute."""
        now, ids = monotonic(), self.active_ids
        recent = now < self._measured + MINUTE and ids == self._measured_of
        if self.total > LARGE_QUEUE and recent:
            return
        self._measured, self._measured_of = now, ids
        layers = [layer for layer in self.layers if layer.id not in self.off]
        self.context.task(
            "progress",
            partial(progress.progress, self.project, layers),
            lambda measured: self.update(progress=measured),
        )

    def _count(self) -> None:
        ids = self.active_ids
        self._measure()
        if self.total > LARGE_QUEUE:
            count = partial(annotate.open_count, self.project, ids)
            self.context.task("left", count, lambda left: self.update(left=left))
        else:
            self.context.drop("left")
            self.update(left=annotate.open_count(self.project, ids))

    def _open_first(self) -> None:
        if self.ids:
            self.document_id = None
            self.next_unlabelled(start=True)
        elif self.narrowed.empty or not self._is_there(self.document_id):
            self.update(doc=None, document_id=None, chosen=None, predicted=None)

    def _is_there(self, document_id: int | None) -> bool:
        only = Filter(ids=[document_id] if document_id is not None else [])
        return annotate.queue_size(self.project, only) > 0

    def _check(self, ids: Iterable[int]) -> None:
        """Add or remove documents of a filtered queue, as they now pass the filter or not."""
        if self.whole or self.errors:
            return
        changed = set(ids)
        if not changed:
            return
        if self.context.waiting(READ):
            self._meanwhile |= changed
        passing = set(
            annotate.queue(self.project, replace(self.shown_filter(), ids=sorted(changed)))
        )
        if self.document_id is not None and self.document_id in changed:
            passing.add(self.document_id)
        listed = changed.intersection(self.ids)
        if passing != listed:
            remaining = (set(self.ids) - changed) | passing
            last = tuple(id for id in self.skipped if id in remaining)
            self.update(ids=_with_last(self._in_order(sorted(remaining)), last), skipped=last)

    # ------------------------------------------------------------ navigation

    @property
    def place(self) -> int | None:
        """Position of the document in the queue."""
        try:
            return self.ids.index(self.document_id)
        except (ValueError, TypeError):
            return None

    def step(self, way: int) -> bool:
        """Go to the next (+1) or previous (-1) document of the queue; False at its end."""
        at = self.place
        to = 0 if at is None else at + way
        if not 0 <= to < len(self.ids):
            return False
        self.open(self.ids[to])
        return True

    def next_unlabelled(self, *, start: bool = False) -> bool:
        """Go to the next document to label, skipped ones last.

        Returns False, changing nothing, if there is none.
        """
        following = self._next_open(None if start else self.document_id)
        if following is not None:
            self.open(following)
        elif start and self.ids:
            self.open(self.ids[0])
        return following is not None

    def _next_open(self, after: int | None) -> int | None:
        """The next document to label after `after`: first those not skipped, then skipped ones,
        then itself.
        """
        if self.narrowed.state in DONE:
            return None
        if self.queue_order is not None:
            return self._next_in_order(after)
        filter = None if self.narrowed.empty else self.shown_filter()
        waiting: set[int] = set()
        while True:
            following = annotate.next_unlabelled(self.project, after, self.active_ids, filter)
            if following is None or following in waiting:
                break
            if following not in self.skipped and following != self.document_id:
                return following
            waiting.add(following)
            after = following
        rest = (*(id for id in self.skipped if id != self.document_id), self.document_id)
        return next((id for id in rest if id in waiting), None)

    def _next_in_order(self, after: int | None) -> int | None:
        ids = self.ids if isinstance(self.ids, array) else array("q", self.ids)
        at = ids.index(after) + 1 if after is not None and after in ids else 0
        here, skipped = self.document_id, set(self.skipped)
        for number in (*range(at, len(ids)), *range(at)):
            if ids[number] != here and ids[number] not in skipped:
                return int(ids[number])
        return next((id for id in self.skipped if id != here), None)

    def _put_last(self, document_id: int) -> None:
        """Move a document to the end of the queue."""
        rest = tuple(id for id in self.skipped if id != document_id)
        self._reorder((*rest, document_id))

    def _put_back(self, document_id: int) -> None:
        """Undo `_put_last`: restore the position of the document and open it."""
        self._reorder(tuple(id for id in self.skipped if id != document_id))
        self.open(document_id)

    def _reorder(self, skipped: tuple[int, ...]) -> None:
        self._reordered = self.context.waiting(READ)
        ids = _with_last(self._in_order(sorted(self.ids)), skipped)
        if ids != self.ids:
            self.update(ids=ids, skipped=skipped)

    # ------------------------------------------------------------ its order

    def _load_order(self) -> None:
        """Take the kept order of the first selected layer that has one."""
        orders = (queue_orders.kept(self.project, id) for id in self.active_ids)
        self.update(queue_order=next((order for order in orders if order is not None), None))

    def queue_note(self, document_id: int) -> str:
        """The score of a document in the order, and whether it is a control document."""
        if self.queue_order is None or document_id not in self.queue_order.scores:
            return ""
        if self.missing_order or not self.order_needs(self.queue_order.strategy):
            return ""  # of a random order the scores say nothing
        score = formats.decimal(self.queue_order.scores[document_id], 2)
        if document_id not in self.queue_order.control:
            return score
        return _("control {score}", score=score)

    @property
    def control_share(self) -> float:
        """The share of control documents of the order, or the usual one."""
        now = self.queue_order
        return now.share if now is not None and now.share else queue_orders.SHARE

    @property
    def order_title(self) -> str:
        return self.queue_order.title if self.queue_order is not None else _("File order")

    @property
    def missing_order(self) -> str:
        """Why the order of the queue is kept but cannot be computed again; "" if it can."""
        return queue_strategies.missing(self.queue_order.strategy) if self.queue_order else ""

    @property
    def ordered_layers(self) -> tuple[Layer, ...]:
        """The selected layers whose documents can be ordered."""
        return tuple(
            layer
            for layer in self.layers
            if layer.id not in self.off and queue_orders.can_order(layer)
        )

    def order_choices(self, layer_id: int) -> OrderChoices:
        layer = self._layer(layer_id)
        models = queue_orders.vector_models(self.context.settings)
        return OrderChoices(
            tuple((strategy.id, _(strategy.title)) for strategy in queue_orders.strategies(layer)),
            tuple((run.id, run.name) for run in queue_orders.runs_for(self.project, layer)),
            tuple((model.key, model.title) for model in models),
            preannotate.refused(self.project, layer),
        )

    def order_needs(self, strategy: str) -> frozenset[str]:
        """What an order reads: "decisions", "second", "vectors"."""
        return frozenset() if strategy == FILES else queue_orders.needs(strategy)

    def _layer(self, layer_id: int) -> Layer:
        return next(layer for layer in self.layers if layer.id == layer_id)

    def choose_order(
        self, strategy: str, layer_id: int, runs: Sequence[int], model: str, share: float
    ) -> bool:
        """Compute an order in the background; False, with a message, if something is missing."""
        self._stop_computing()
        if strategy == FILES:
            for layer in self.layers:
                queue_orders.forget(self.project, row_id(layer))
            self._take_order(None)
            return True
        layer = self._layer(layer_id)
        known = {run.id: run for run in queue_orders.runs_for(self.project, layer)}
        models = {
            vector_model.key: vector_model
            for vector_model in queue_orders.vector_models(self.context.settings)
        }
        request = queue_orders.OrderSpec(
            strategy, layer, tuple(known[id] for id in runs), models.get(model), share
        )

        try:
            queue_orders.check(self.project, request)
        except WorkbenchError as error:
            self.context.fail(error)
            return False
        work = partial(queue_orders.compute, self.project, self.context.queue, request)
        self.update(computing=True)
        self.context.task(ORDERING, work, self._ordered, failed=self._not_ordered)
        return True

    def _stop_computing(self) -> None:
        """Another order is chosen instead of the one that is computed."""
        self.context.drop(ORDERING)
        self.update(computing=False)

    def _not_ordered(self, error: Exception) -> None:
        self.update(computing=False)
        if not isinstance(error, Cancelled):
            self.context.fail(error)

    def _ordered(self, order: QueueOrder) -> None:
        self.update(computing=False)
        message = ngettext(
            "{order}: {n:,} document to label.", "{order}: {n:,} documents to label.",
            len(order.ids), order=order.title)  # fmt: skip
        self.context.note(message)
        for layer in self.layers:  # one order at a time
            if layer.id != order.layer_id:
                queue_orders.forget(self.project, row_id(layer))
        self._take_order(order)

    def _take_order(self, order: QueueOrder | None) -> None:
        self.update(queue_order=order, skipped=())
        self.document_id = None  # the first document of the order is opened
        self._load_queue()


def _with_last(ids: Sequence[int], last: tuple[int, ...]) -> Sequence[int]:
    """The documents in order, with those of `last` at the end."""
    if not last:
        return ids if isinstance(ids, array) else array("q", ids)
    behind = set(last)
    return array("q", [id for id in ids if id not in behind] + list(last))
