"""The order of the queue: file order, random, or by a strategy of active learning. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import preannotate, queue_orders, queue_strategies
from workbench.operations.annotation.annotate import TO_DO, Filter
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.queue import DONE, QueueState
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.queue_orders import Order
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext


FILES = "file"  # the order without a strategy
ORDERING = "queue-order"  # key of the task


@dataclass(frozen=True)
class OrderChoices:
    """(value, title) of orders of a layer, and of the runs and models of vectors they can read.

    refused: run → why it cannot predict.
    """

    strategies: tuple[tuple[str, str], ...]
    runs: tuple[tuple[int, str], ...]
    models: tuple[tuple[str, str], ...]
    refused: Mapping[int, str] = field(default_factory=dict)


class OrderState(QueueState):
    """`queue_order`: None for file order. `computing`: whether another one is computed.

    In an order, finished documents fall out of the queue unless a filter asks for them.
    """

    def __init__(self, context: PanelContext) -> None:
        self.queue_order: Order | None = None
        self.computing = False
        super().__init__(context)

    # ------------------------------------------------------------ the queue

    def _load_order(self) -> None:
        """Take the kept order of the first selected layer that has one."""
        found = (queue_orders.kept(self.project, id) for id in self.active_ids)
        self.update(queue_order=next((order for order in found if order is not None), None))

    def _in_order(self, ids: Sequence[int]) -> Sequence[int]:
        return ids if self.queue_order is None else queue_orders.arranged(self.queue_order, ids)

    def shown_filter(self) -> Filter:
        wanted = super().shown_filter()
        if self.queue_order is None or self.narrowed.state:
            return wanted
        return replace(wanted, queued=TO_DO)

    @property
    def whole(self) -> bool:
        return super().whole and self.queue_order is None

    def _next_open(self, after: int | None) -> int | None:
        """As in file order: the next one, then skipped ones, then the document itself."""
        if self.queue_order is None or self.narrowed.state in DONE:
            return super()._next_open(after)
        ids = self.ids if isinstance(self.ids, array) else array("q", self.ids)
        at = ids.index(after) + 1 if after is not None and after in ids else 0
        here, skipped = self.document_id, set(self.skipped)
        for number in (*range(at, len(ids)), *range(at)):
            if ids[number] != here and ids[number] not in skipped:
                return int(ids[number])
        return next((id for id in self.skipped if id != here), None)

    def queue_note(self, document_id: int) -> str:
        """The score of a document in the order, and whether it is a control document."""
        if self.queue_order is None or document_id not in self.queue_order.scores:
            return ""
        if self.missing_order or not self.order_needs(self.queue_order.strategy):
            return ""  # of a random order the scores say nothing
        score = formats.decimal(self.queue_order.scores[document_id], 2)
        if document_id not in self.queue_order.control:
            return score
        return _("control {score}").format(score=score)

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

    # ------------------------------------------------------------ choosing

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
        wanted = queue_orders.Wanted(
            strategy, layer, tuple(known[id] for id in runs), models.get(model), share
        )

        try:
            queue_orders.check(self.project, wanted)
        except WorkbenchError as error:
            self.context.fail(error)
            return False
        work = partial(queue_orders.compute, self.project, self.context.queue, wanted)
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

    def _ordered(self, order: Order) -> None:
        self.update(computing=False)
        message = ngettext(
            "{order}: {n:,} document to label.", "{order}: {n:,} documents to label.",
            len(order.ids),
        )  # fmt: skip
        self.context.note(message.format(order=order.title, n=len(order.ids)))
        for layer in self.layers:  # one order at a time
            if layer.id != order.layer_id:
                queue_orders.forget(self.project, row_id(layer))
        self._take_order(order)

    def _take_order(self, order: Order | None) -> None:
        self.update(queue_order=order, skipped=())
        self.document_id = None  # the first document of the order is opened
        self._load_queue()
