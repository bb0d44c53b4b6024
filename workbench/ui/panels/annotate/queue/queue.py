"""The documents in the queue of Annotate, their order, and navigation. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
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
from workbench.ui.panels.annotate.session import DONE, LABELLED, SuggestionSource
from workbench.ui.panels.annotate.tool import Tool
from workbench.ui.project.query_text import QueryText
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.queue_orders import QueueOrder
    from workbench.project.changes import Changes
    from workbench.storage.annotation.provenance import Origin
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.session import DocumentSession

UNLABELLED = TO_DO  # a state of the filter

READ, ORDERING = "queue", "queue-order"  # keys of tasks
FILES = "file"  # the order without a strategy
LARGE_QUEUE = 20_000  # documents above which counting and listing run off the main thread
MINUTE = 60.0
MAX_SINGLE_CHECKS = 50  # changed documents that are tested against the filter one by one
LATEST = 30  # origins that are offered as a filter
NO_SPLIT = "none"
INSTANT = 0  # in place of the id of a run: predictions of the instant model
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


class QueueTool(Tool, SuggestionSource):
    """`ids`: the queue in order. `query`: its filter as text; `narrowed`: what of it is in use.

    `total`: documents without the filter. `left`: those to label. `queue_order`: None for file
    order; in an order, finished documents fall out of the queue unless a filter asks for them.
    `follows`: whether the instant model orders it. `computing`: whether another order is computed.
    `stale_rows`: documents whose row in the list is out of date; None: all.

    `skipped` come last. The open document stays in the queue until another is opened, even if it no
    longer passes the filter.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        session.queue = self
        session.predictors.append(self)
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
        self.follows = False
        self.stale_rows: frozenset[int] | None = frozenset()
        self.query = QueryText(session.context)
        self.query_changes = 0  # a number that changes with each change of `query`
        self.narrowed = Narrowed()
        self.source_files: tuple[SourceFile, ...] = ()
        self.listen(self.query.changed, self._query_changed)
        self.listen(self.changed, self._moved)
        self.listen(session.changed, self._session_changed)
        self.listen(session.opened, self._opened)
        self.listen(session.changing, self._project_changing)
        self.listen(session.suggested_again, self._suggested_again)
        self.listen(self.project.changed, self._project_changed)
        self.listen(self.project.layers_shown, self._layers_shown)

    def start(self) -> None:
        """Read the queue and open its first document, which selects nothing on other pages."""
        self._load_order()
        before = self.project.selection
        self.load()
        self.project.select(before, self.session)

    def close(self) -> None:
        self.query.close()
        super().close()

    def rows(self, ids: Sequence[int]) -> tuple[DocumentRow, ...]:
        """With the numbers of suggestions that are not stored."""
        session = self.session
        doc = session.doc if session.document_id in ids else None
        rows = annotate.queue_page(self.project, ids, session.active_ids, shown=doc)
        if session.blind:
            return tuple(replace(row, suggestion_count=0) for row in rows)
        return tuple(
            replace(row, suggestion_count=max(row.suggestion_count, self._live_count(row)))
            for row in rows
        )

    def _live_count(self, row: DocumentRow) -> int:
        if row.state in DONE:
            return 0
        return sum(predictor.suggestion_count(row) for predictor in self.session.predictors)

    def suggesting_runs(self) -> Iterable[tuple[int, int]]:
        order = self.queue_order
        return ((order.runs[0], order.layer_id),) if order is not None and order.runs else ()

    # ------------------------------------------------------------ following the session

    def _session_changed(self, fields: frozenset[str]) -> None:
        if "layers" in fields:
            self._check_query()
        if "errors" in fields:
            self._show_errors()
        if fields & {"document_id", "off"}:
            self._show_place()

    def _moved(self, fields: frozenset[str]) -> None:
        if fields & {"ids", "left"}:
            self._show_place()

    def _show_place(self) -> None:
        """Tell the session where in the queue the open document is."""
        session = self.session
        if not session.errors:
            filter = self.shown_filter() if self.queue_order is None else None
            session.update(place=preannotate.QueuePlace(self.ids, session.document_id, filter))

    def _opened(self, before: int | None) -> None:
        now = self.session.document_id
        if before != now:
            self._check(id for id in (before, now) if id is not None)

    def _project_changing(self, changes: Changes) -> None:
        if changes.touches("layer") or changes.touches("label"):
            self.update(stale_rows=None)
            self.load()
            if self.session.document_id is None:
                self._open_first()
            return
        labelled = any(changes.touches(table) for table in LABELLED)
        few = changes.documents is not None and len(changes.documents) <= MAX_SINGLE_CHECKS
        if changes.touches("document") or (labelled and not few and self.filtered):
            self.load()
        if labelled and changes.touches("state"):
            self._count()
        if labelled and few:
            self._check(changes.documents or ())

    def _project_changed(self, changes: Changes) -> None:
        if changes.touches("layer") or changes.touches("label"):
            return
        if any(changes.touches(table) for table in LABELLED):
            self.update(stale_rows=changes.documents)  # the row shows what the session knows

    def _suggested_again(self, ids: frozenset[int]) -> None:
        self.update(stale_rows=ids)

    def _layers_shown(self) -> None:
        if not self.follows:  # the order of the instant model is not a kept one
            self._load_order()
        self.load()

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
            several = (
                sum(item.name == label for all in self.session.layers for item in all.labels) > 1
            )
            return query_edit.term("label", label, name=layer if several else "")
        return query_edit.term(_KEYS[name], value)

    def _layer_and_label(self, label_id: int) -> tuple[str, str]:
        names = {
            row_id(label): (all.name, label.name)
            for all in self.session.layers
            for label in all.labels
        }
        return names.get(label_id, ("", "?"))

    def _read_narrowed(self, query: Query) -> Narrowed:
        def value(key: str) -> str | None:
            term = query.value(key)
            return term.values[0] if term is not None and not term.name else None

        state, label, maker = value("state"), query.value("label"), value("source")
        ids = [
            row_id(item)
            for layer in self.session.layers
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
            queries.check(self.project, self.query.text, self.session.active_ids)
        except QueryError as error:
            self.query.refuse(error)
            return
        self.update(narrowed=self._read_narrowed(self.query.query), skipped=())
        self.load()

    def _check_query(self) -> None:
        """Remove conditions with names that no longer exist, such as that of a deleted label."""
        nodes = range(len(self.narrowed.query.nodes))
        for number in reversed(nodes):
            part = self.narrowed.query.parts()[number]
            try:
                queries.check(self.project, part, self.session.active_ids)
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
    def filtered(self) -> bool:
        """Whether conditions leave documents out."""
        return not self.narrowed.empty

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
        texts = {layer.texts for layer in self.session.layers if layer.id not in self.session.off}
        return Filter(texts=next(iter(texts))) if len(texts) == 1 else Filter()

    def shown_filter(self) -> Filter:
        """The filter of the queue, as one on documents."""
        every = self._unfiltered()
        queued = None if self.queue_order is None or self.narrowed.state else TO_DO
        return replace(
            every, queue_layers=self.session.active_ids, query=self.narrowed.query, queued=queued
        )

    @property
    def whole(self) -> bool:
        """Whether the queue has every document, finished ones too."""
        return self.narrowed.empty and self.queue_order is None

    def _in_order(self, ids: Sequence[int]) -> Sequence[int]:
        """The documents, given by id, in the order of the queue; in that of the instant model, the
        open document first: each label changes the order.
        """
        ids = ids if self.queue_order is None else queue_orders.arranged(self.queue_order, ids)
        here = self.session.document_id
        if not self.follows or here is None or here not in ids:
            return ids
        return array("q", [here, *(id for id in ids if id != here)])

    # ------------------------------------------------------------ loading

    def load(self) -> None:
        if self.session.errors:
            return
        every, filter = self._unfiltered(), self.shown_filter()
        project, narrowed, whole = self.project, self.narrowed, self.whole

        def read() -> tuple[Any, ...]:
            ids = annotate.queue(project, filter)
            total = len(ids) if whole else annotate.queue_size(project, every)
            return self._in_order(ids), total, annotate.source_files(project)

        def take(answer: tuple[Any, ...]) -> None:
            if narrowed != self.narrowed or self.session.errors:
                return
            self._take_queue(*answer)
            if self._reordered:
                self._reorder(self.skipped)
            self._check(self._meanwhile)

        self._meanwhile, self._reordered = set(), False
        many = max(len(self.ids), self.total) > LARGE_QUEUE
        if many or (not self.ids and corpus.is_large(self.project)):
            if self.session.document_id is None:
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
        if self.session.document_id not in self.ids:
            self._open_first()

    def _measure(self) -> None:
        """Measure progress and pace off the main thread, in large projects once a minute."""
        now, ids = monotonic(), self.session.active_ids
        recent = now < self._measured + MINUTE and ids == self._measured_of
        if self.total > LARGE_QUEUE and recent:
            return
        self._measured, self._measured_of = now, ids
        layers = [layer for layer in self.session.layers if layer.id not in self.session.off]
        self.context.task(
            "progress",
            partial(progress.progress, self.project, layers),
            lambda measured: self.update(progress=measured),
        )

    def _count(self) -> None:
        ids = self.session.active_ids
        self._measure()
        if self.total > LARGE_QUEUE:
            count = partial(annotate.open_count, self.project, ids)
            self.context.task("left", count, lambda left: self.update(left=left))
        else:
            self.context.drop("left")
            self.update(left=annotate.open_count(self.project, ids))

    def _open_first(self) -> None:
        if self.ids:
            self.session.document_id = None
            self.next_unlabelled(start=True)
        elif self.narrowed.empty or not self._is_there(self.session.document_id):
            self.session.forget()

    def _is_there(self, document_id: int | None) -> bool:
        only = Filter(ids=[document_id] if document_id is not None else [])
        return annotate.queue_size(self.project, only) > 0

    def _check(self, ids: Iterable[int]) -> None:
        """Add or remove documents of a filtered queue, as they now pass the filter or not."""
        if self.whole or self.session.errors:
            return
        changed = set(ids)
        if not changed:
            return
        if self.context.waiting(READ):
            self._meanwhile |= changed
        passing = set(
            annotate.queue(self.project, replace(self.shown_filter(), ids=sorted(changed)))
        )
        if self.session.document_id is not None and self.session.document_id in changed:
            passing.add(self.session.document_id)
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
            return self.ids.index(self.session.document_id)
        except (ValueError, TypeError):
            return None

    def step(self, way: int) -> bool:
        """Go to the next (+1) or previous (-1) document of the queue; False at its end."""
        at = self.place
        to = 0 if at is None else at + way
        if not 0 <= to < len(self.ids):
            return False
        self.session.open(self.ids[to])
        return True

    def next_unlabelled(self, *, start: bool = False) -> bool:
        """Go to the next document to label, skipped ones last.

        Returns False, changing nothing, if there is none.
        """
        following = self._next_open(None if start else self.session.document_id)
        if following is not None:
            self.session.open(following)
        elif start and self.ids:
            self.session.open(self.ids[0])
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
            following = annotate.next_unlabelled(
                self.project, after, self.session.active_ids, filter
            )
            if following is None or following in waiting:
                break
            if following not in self.skipped and following != self.session.document_id:
                return following
            waiting.add(following)
            after = following
        rest = (
            *(id for id in self.skipped if id != self.session.document_id),
            self.session.document_id,
        )
        return next((id for id in rest if id in waiting), None)

    def _next_in_order(self, after: int | None) -> int | None:
        ids = self.ids if isinstance(self.ids, array) else array("q", self.ids)
        at = ids.index(after) + 1 if after is not None and after in ids else 0
        here, skipped = self.session.document_id, set(self.skipped)
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
        self.session.open(document_id)

    def _reorder(self, skipped: tuple[int, ...]) -> None:
        self._reordered = self.context.waiting(READ)
        ids = _with_last(self._in_order(sorted(self.ids)), skipped)
        if ids != self.ids:
            self.update(ids=ids, skipped=skipped)

    def skip(self) -> None:
        """Move the document to the end of the queue, unchanged."""
        if self.session.doc is None or self.session.errors:
            self.next_error()
            return
        here, at, key = self.session.shown_id, self.place, self.session.doc.document.key
        if list(self.ids) == [here]:
            self.context.note(_("This is the only document in the queue."))
            return
        following = self._next_open(here)
        self._put_last(here)
        if following not in (None, here):
            self.session.open(following)
        elif at is not None:
            self.session.open(self.ids[at])
        self.context.note(
            _("Skipped {key}; moved to the end of the queue.", key=key),
            lambda: self._put_back(here),
        )

    def show_suggestions(self, run_id: int | None = None) -> None:
        """Filter the queue to documents with suggestions and open the first.

        The layer of the run is shown for this even if it is hidden.
        """
        if self.session.errors:
            self.session.leave_review()
        off, text, here = self.session.off, self.query.text, self.session.document_id
        if run_id is not None:
            layer = next(
                (layer for layer in self.session.layers if layer.id == self._layer_of(run_id)), None
            )
            self.session.update(off=off - {layer.id} if layer else off)
        self.query.set(query_edit.term("has", "suggestion"))
        self.session.document_id = None  # the open document may be the first
        first = self._next_open(None)
        if first is None:
            self.session.document_id = here
            self.session.update(off=off)
            self.query.set(text)
            self.context.note(_("There are no suggestions in the selected layers."))
            return
        self.session.open(first)
        self.load()

    def _layer_of(self, run_id: int) -> int | None:
        from workbench.operations.runs import results

        run = self.context.attempt(results.run, self.project, run_id)
        return run.layer_id if run is not None else None

    def go_on(self, *, keep_note: bool = False) -> None:
        """After submitting: the next document to label; else the next of a filtered queue."""
        if self.session.errors:
            self.next_error()
        elif self._next_open(self.session.document_id) not in (None, self.session.document_id):
            self.next_unlabelled()
        elif not (self.narrowed.state in DONE and self.step(1)) and not keep_note:
            self.say_all_is_done()

    def say_all_is_done(self) -> None:
        """Show that everything is labelled, and offer the next action."""
        if self.narrowed.empty:
            self.context.note(
                _("All documents are labelled."),
                lambda: self.context.go("train"),
                action=_("Train"),
            )
        else:
            self.context.note(
                _("All documents in this part of the queue are labelled."),
                self.clear_filters,
                action=_("Show all"),
            )

    # ------------------------------------------------------------ error review

    def _show_errors(self) -> None:
        """The documents of an error review, or the queue again."""
        if errors := self.session.errors:
            self.update(ids=array("q", errors))
        else:
            self.load()

    def next_error(self, way: int = 1) -> None:
        """Go to the next document of the error review."""
        if self.session.errors:
            at = (
                self.session.errors.index(self.session.document_id)
                if self.session.document_id in self.session.errors
                else -1
                if way > 0
                else 0
            )
            self.session.open(self.session.errors[(at + way) % len(self.session.errors)])

    # ------------------------------------------------------------ its order

    def _load_order(self) -> None:
        """Take the kept order of the first selected layer that has one."""
        orders = (queue_orders.kept(self.project, id) for id in self.session.active_ids)
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
        return next(layer for layer in self.session.layers if layer.id == layer_id)

    @property
    def model_choice(self) -> tuple[tuple[int, str], ...]:
        """The instant model as (value, title) among the runs whose predictions can be read."""
        return ((INSTANT, _("Instant model")),) if self.session.model.is_on else ()

    def choose_order(
        self, strategy: str, layer_id: int, runs: Sequence[int], model: str, share: float
    ) -> bool:
        """Compute an order in the background; False, with a message, if something is missing."""
        follows = self.session.model.is_on and INSTANT in runs and strategy != FILES
        self.update(follows=follows)
        self._stop_computing()
        if follows:
            self.session.model.use(strategy, share)
            return True
        if strategy == FILES:
            for layer in self.session.layers:
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
        for layer in self.session.layers:  # one order at a time
            if layer.id != order.layer_id:
                queue_orders.forget(self.project, row_id(layer))
        self._take_order(order)

    def _take_order(self, order: QueueOrder | None) -> None:
        self.update(queue_order=order, skipped=())
        self.session.document_id = None  # the first document of the order is opened
        self.load()

    def begin_following(self) -> None:
        self._stop_computing()
        self.update(follows=True)

    def follow_order(self, order: QueueOrder | None) -> None:
        if not self.follows or order is None:
            return
        before = self.queue_order
        self.update(queue_order=order)
        if before is None or before.source != order.source:
            self.load()  # finished documents fall out
        else:
            self._reorder(self.skipped)

    def end_following(self) -> None:
        self.update(follows=False)
        self._load_order()
        self.load()


def _with_last(ids: Sequence[int], last: tuple[int, ...]) -> Sequence[int]:
    """The documents in order, with those of `last` at the end."""
    if not last:
        return ids if isinstance(ids, array) else array("q", ids)
    behind = set(last)
    return array("q", [id for id in ids if id not in behind] + list(last))
