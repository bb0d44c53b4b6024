"""The sort order of lists of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.storage.annotation import states
from workbench.storage.queries import columns

_IN = "layer_id in ({layers})"
_STATE = "left join ({states}) o on o.id = d.id"
_RANK = (
    "case o.state when 'pending' then 0 when 'discarded' then 1 when 'draft' then 2"
    " when 'submitted' then 3 end"
)
_SPANS = (
    f"left join (select document_id, count(*) v from span where {_IN} group by document_id) o"
    " on o.document_id = d.id"
)
_CLASS = (
    "left join (select m.document_id, b.name v, row_number() over"
    " (partition by m.document_id order by m.layer_id, m.id) n"
    f" from mark m join label b on b.id = m.label_id where m.{_IN}) o"
    " on o.document_id = d.id and o.n = 1"
)
_SPLIT = "case d.split when 'train' then 1 when 'dev' then 2 when 'test' then 3 end"
_BY = {  # column → (join, expression; null for documents without a value)
    "key": ("", "lower(d.key)"),
    "length": ("", "d.length"),
    "split": ("", _SPLIT),
    "state": (_STATE, _RANK),
    "spans": (_SPANS, "ifnull(o.v, 0)"),
    "class": (_CLASS, "lower(o.v)"),
}
SORTABLE = tuple(_BY)


@dataclass(frozen=True)
class SortOrder:
    """Sort by one of `SORTABLE` or a column of `columns`, then by id.

    Documents without a value come last.

    `class` is the first class shown in a row, `state` is `states.overall` of the layers, in the
    order pending, discarded, draft, submitted, and `length` is the number of code points of all
    texts.
    """

    by: str
    descending: bool = False


def clause(order: SortOrder | None, layer_ids: Sequence[int] | None = None) -> tuple[str, str]:
    """Return (join, order): SQL to join to `document d`, and the terms of `order by`.

    Labels and states are those of the layers `layer_ids`, by default of all layers. Raises KeyError
    for an unknown column.
    """
    if order is None:
        return "", "d.id"
    direction = "desc" if order.descending else "asc"
    if order.by not in _BY:
        by = columns.order(order.by)
        return "", f"{by} {direction} nulls last, d.id"
    join, by = _BY[order.by]
    join = join.format(layers=states.listed(layer_ids), states=states.by_document(layer_ids))
    return join, f"{by} is null, {by} {direction}, d.id"
