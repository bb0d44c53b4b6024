"""The next documents to label in a layer, as `glossbench queue` lists them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from workbench.base.records import JsonRecord
from workbench.operations.annotation import queue_orders
from workbench.storage.documents import documents
from workbench.storage.queries import listing
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.annotation.queue_orders import QueueOrder
    from workbench.project.project import Project
    from workbench.text.labels import Layer


@dataclass(frozen=True)
class Next(JsonRecord):
    """A document to label. score: of the order, None if it does not list the document."""

    id: int
    key: str
    text: str
    state: str
    score: float | None
    control: bool


@dataclass(frozen=True)
class Listed:
    """documents: the next ones. left: all that are unfinished in the layer, of those asked for."""

    documents: tuple[Next, ...]
    left: int


def next_documents(
    project: Project,
    layer: Layer,
    order: QueueOrder | None,
    count: int,
    *,
    only: Collection[int] | None = None,
) -> Listed:
    """The first unfinished documents of a layer, in file order without an order.

    only: ids of the documents to choose from; None: all.
    """
    open_ids: Sequence[int] = listing.ids(project.db, queue_orders.unfinished(layer))
    if only is not None:
        chosen = frozenset(only)
        open_ids = [id for id in open_ids if id in chosen]
    ids = open_ids if order is None else queue_orders.arranged(order, open_ids)
    first = list(islice(ids, count))
    rows = {row.id: row for row in documents.rows(project.db, first, (row_id(layer),))}
    return Listed(
        tuple(
            Next(
                id,
                rows[id].key,
                rows[id].text,
                rows[id].state or "pending",
                order.scores.get(id) if order is not None else None,
                order is not None and id in order.control,
            )
            for id in first
            if id in rows
        ),
        len(open_ids),
    )
