"""Columns of tables of documents: what further ones show, and the order of documents by any.

Each is an SQL expression on `document d`. A metadata field is the column "meta." and its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.storage.annotation import states
from workbench.storage.connections.database import Database
from workbench.storage.documents.flags import ASSIGNED, REVIEWS
from workbench.storage.schema.values import ids_in
from workbench.text.labels import WITH_LABEL

META = "meta."
_LABELS = " + ".join(
    f"(select count(*) from {table} t where t.document_id = d.id)" for table in WITH_LABEL
)
_FLAGS = (
    "(select group_concat(name, ', ') from (select distinct t.name as name from flag t"
    f" where t.document_id = d.id and substr(t.name, 1, {len(REVIEWS)}) != '{REVIEWS}'"
    " order by t.id))"
)
_NOTE = "(select group_concat(t.body, ' · ') from note t where t.document_id = d.id)"
_ASSIGNED = (
    "(select group_concat(name, ', ') from (select distinct a.name as name from flag t"
    f" join annotator a on t.name = '{ASSIGNED}' || a.uid where t.document_id = d.id"
    " order by a.id))"
)
EXPRESSIONS = {
    "assigned": _ASSIGNED,
    "flags": _FLAGS,
    "note": _NOTE,
    "labels": f"({_LABELS})",
    "score": (
        "(select min(t.score) from suggestion t where t.document_id = d.id and t.status = 'open')"
    ),
    "number": (
        "(select t.value from mark t where t.document_id = d.id and t.value is not null"
        " order by t.layer_id, t.id limit 1)"
    ),
    "date": "(select max(t.at) from state t where t.document_id = d.id)",
    "file": "(select t.ref from source t where t.id = d.batch_source_id and t.kind = 'import')",
}

TEXTS = ("assigned", "flags", "note", "file")  # columns of text


def expression(column: str) -> str:
    """SQL of the value. Raises KeyError for an unknown column."""
    if not column.startswith(META):
        return EXPRESSIONS[column]
    name = column.removeprefix(META).replace("'", "''")
    if '"' in name or "\\" in name:  # which a path of `json_extract` cannot contain
        return f"(select j.atom from json_each(d.meta) j where j.key = '{name}' limit 1)"
    return f"json_extract(d.meta, '$.\"{name}\"')"


def order(column: str) -> str:
    """SQL of what the column is sorted by: text without case, and numbers in text as numbers."""
    value = expression(column)
    if not column.startswith(META):
        return f"lower({value})" if column in TEXTS else value
    is_text = f"typeof({value}) = 'text'"
    is_number = f"{is_text} and {value} glob '*[0-9]' and ltrim({value}, '-') not glob '*[^0-9.]*'"
    number = f"when {is_number} then cast({value} as real)"
    return f"case {number} when {is_text} then lower({value}) else {value} end"


def cells(
    db: Database, ids: Iterable[int], columns: Sequence[str]
) -> dict[int, tuple[object, ...]]:
    """Document id → the values of the columns: text, a number or None."""
    if not columns:
        return {}
    values = ", ".join(map(expression, columns))
    rows = db.reader().execute(
        f"select d.id, {values} from document d where d.id in (select value from json_each(?))",
        (ids_in(ids),),
    )
    return {id: tuple(rest) for id, *rest in rows.fetchall()}


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


def clause(sort: SortOrder | None, layer_ids: Sequence[int] | None = None) -> tuple[str, str]:
    """Return (join, order): SQL to join to `document d`, and the terms of `order by`.

    Labels and states are those of the layers `layer_ids`, by default of all layers. Raises KeyError
    for an unknown column.
    """
    if sort is None:
        return "", "d.id"
    direction = "desc" if sort.descending else "asc"
    if sort.by not in _BY:
        by = order(sort.by)
        return "", f"{by} {direction} nulls last, d.id"
    join, by = _BY[sort.by]
    join = join.format(layers=states.listed(layer_ids), states=states.by_document(layer_ids))
    return join, f"{by} is null, {by} {direction}, d.id"
