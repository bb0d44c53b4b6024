"""The queue of Annotate: which documents to label, in which order."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.operations.annotation.document_view import DocumentView
from workbench.project.project import Project
from workbench.storage.annotation import states as storage_states
from workbench.storage.documents import documents
from workbench.storage.queries import listing, unfinished
from workbench.storage.queries import queue as storage_queue
from workbench.storage.queries.listing import DocumentRow, Filter, Known
from workbench.storage.queries.queue import SourceFile
from workbench.text.rows import row_id


def queue(project: Project, wanted: Filter | None = None) -> array[int]:
    """Ids of the documents in the queue, in order."""
    return documents.ids(project.db, wanted or Filter())


def queue_size(project: Project, wanted: Filter) -> int:
    """Number of documents in the queue."""
    return listing.count(project.db, wanted)


def source_files(project: Project) -> tuple[SourceFile, ...]:
    """The files that the documents were imported from."""
    return storage_queue.source_files(project.db)


def queue_page(
    project: Project,
    ids: Sequence[int],
    layer_ids: Sequence[int],
    *,
    shown: DocumentView | None = None,
) -> tuple[DocumentRow, ...]:
    """Labels and states of these documents in these layers, as shown in the queue.

    A document to which none of the layers applies is pending. `shown`: the open document, whose
    text and spans are not read again.
    """
    known = {}
    if shown is not None:
        counts = shown.spans.of_layers
        texts = tuple(content for _field, content in shown.document.texts)
        known[row_id(shown.document)] = Known(texts, sum(counts[id] for id in layer_ids))
    rows = documents.rows(project.db, ids, layer_ids, known=known)
    return tuple(replace(row, state=row.state or "pending") for row in rows)


def overall(states: Iterable[str]) -> str:
    """The combined state of a document in several layers (`storage.annotation.states.overall`).

    Pending if there are none.
    """
    return storage_states.overall(states) or "pending"


def neighbour(
    project: Project, document_id: int | None, step: int, wanted: Filter | None = None
) -> int | None:
    """The next (`step` 1) or previous (-1) document that passes the filter; None at the end."""
    if document_id is None:
        document_id = 0 if step > 0 else 1 << 62
    return listing.neighbour(project.db, wanted or Filter(), document_id, step)


def next_unlabelled(
    project: Project,
    document_id: int | None,
    layer_ids: Sequence[int],
    wanted: Filter | None = None,
) -> int | None:
    """The next document that passes `wanted` and is unfinished in one of the layers.

    Continues at the start; None if all documents are finished.
    """
    return unfinished.next_unlabelled(project.db, document_id, layer_ids, filter=wanted)


def any_finished(project: Project, layer_ids: Sequence[int]) -> bool:
    """Whether a document is submitted or discarded in one of these layers."""
    counts = [storage_states.counts(project.db, [layer_id]).states for layer_id in layer_ids]
    return any(each["submitted"] or each["discarded"] for each in counts)


def open_count(project: Project, layer_ids: Sequence[int]) -> int:
    """Number of documents that are unfinished in these layers."""
    return unfinished.open_count(project.db, layer_ids)
