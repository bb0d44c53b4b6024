"""Documents that are pending or a draft in one of some layers, looked up in `state_keys`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.storage.connections.database import Database
from workbench.storage.queries import queue, state_keys
from workbench.storage.queries.listing import Filter, condition
from workbench.storage.queries.queue import TO_DO

_FIRST = (
    "select k.document_id from state_key k {documents} where k.key = ? and k.document_id > ?"
    " and k.document_id <= ? and {condition} order by k.document_id limit 1"
)
_LAST = 1 << 62


def next_unlabelled(
    db: Database,
    after_id: int | None,
    layer_ids: Sequence[int],
    *,
    filter: Filter | None = None,
) -> int | None:
    """Id of the next unfinished document after `after_id`.

    Only documents that match `filter` and to which a layer applies. Wraps around at the
    end; `after_id` itself comes last. None if all documents are submitted or discarded.
    """
    keys = queue.state_matches(db, TO_DO, layer_ids).keys
    after = after_id or 0
    for first, last in ((after, _LAST), (0, after)):
        next_id = min(_candidates(db, keys, first, last, filter), default=None)
        if next_id is not None:
            return next_id
    return None


def _candidates(
    db: Database, keys: Sequence[str], after: int, until: int, filter: Filter | None
) -> Iterator[int]:
    """The first document with each of the keys, with an id in (after, until]."""
    documents, (where, values) = "", ("1", list[object]())
    if keys and filter is not None:
        documents = "cross join document d on d.id = k.document_id"
        where, values = condition(db, filter)
    statement = _FIRST.format(documents=documents, condition=where)
    for key in keys:
        row = db.reader().execute(statement, (key, after, until, *values)).fetchone()
        if row:
            until = row[0]  # a later document with another key does not matter
            yield until


def open_count(db: Database, layer_ids: Sequence[int]) -> int:
    """Number of unfinished documents."""
    keys = set(queue.state_matches(db, TO_DO, layer_ids).keys)
    return sum(number for key, number in state_keys.numbers(db.reader()).items() if key in keys)
