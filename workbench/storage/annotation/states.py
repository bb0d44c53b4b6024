"""The state of documents in several layers.

A document has one state in each layer that applies to it (one with the same number of texts), set
by the layer's gold annotator: pending (no row), draft, submitted or discarded. Data, Annotate and
the filters summarize the states of several layers with `overall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.storage.connections.database import Database
from workbench.storage.queries import state_keys
from workbench.storage.schema.tables import STATES
from workbench.storage.schema.values import ids_in

_GOLD = "state s join layer l on l.id = s.layer_id and l.gold = s.annotator_id"
_BY_RANK = ("pending", "discarded", "draft", "submitted")


def overall(states: Iterable[str]) -> str:
    """Summarize the states of a document in several layers; "" if `states` is empty.

    `submitted`: submitted in all layers except those in which it is discarded. `discarded`:
    discarded in all layers. `pending`: not begun in any layer. `draft`: everything else. A document
    is therefore unfinished in at least one layer exactly if the result is `pending` or `draft`.
    """
    distinct = set(states)
    if "draft" in distinct or {"pending", "submitted"} <= distinct:
        return "draft"
    return next((state for state in ("pending", "submitted", "discarded") if state in distinct), "")


def of_documents(
    db: Database, ids: Iterable[int], layer_ids: Iterable[int]
) -> Mapping[int, frozenset[str]]:
    """Map document id → its states in the layers that apply to it.

    Documents to which no layer applies are omitted.
    """
    fitting = "ifnull(json_extract(l.options, '$.texts'), 1) = d.texts"
    gold = "s.document_id = d.id and s.layer_id = l.id and s.annotator_id = l.gold"
    by_document: dict[int, set[str]] = {}
    query = (
        f"select d.id, ifnull(s.state, 'pending') from document d join layer l on {fitting}"
        f" left join state s on {gold} where d.id in (select value from json_each(?))"
        " and l.id in (select value from json_each(?))"
    )
    for id, state in db.reader().execute(query, (ids_in(ids), ids_in(layer_ids))).fetchall():
        by_document.setdefault(id, set()).add(state)
    return {id: frozenset(states) for id, states in by_document.items()}


@dataclass(frozen=True)
class StateCounts:
    """`states`: documents by `overall` state; `outside`: documents to which no layer applies."""

    states: Mapping[str, int] = field(hash=False)
    outside: int


def counts(db: Database, layer_ids: Sequence[int] | None = None) -> StateCounts:
    """Number of documents by `overall` state in the layers, by default in all layers."""
    texts_of = state_keys.layer_texts(db.reader(), layer_ids)
    counts = dict.fromkeys(("", *STATES), 0)
    for key, number in state_keys.numbers(db.reader()).items():
        counts[overall(state_keys.in_layers(key, texts_of))] += number
    outside = counts.pop("")
    return StateCounts(counts, outside)


def listed(layer_ids: Sequence[int] | None) -> str:
    """Layer ids as the right-hand side of SQL `in`; None stands for all layers."""
    if layer_ids is None:
        return "select id from layer"
    return ", ".join(str(int(id)) for id in layer_ids)


def by_document(layer_ids: Sequence[int] | None) -> str:
    """SQL query of (id, `overall` state) of all documents; NULL if no layer applies."""
    return _BY_DOCUMENT.format(layers=listed(layer_ids))


_BY_DOCUMENT = f"""
with shown as (select ifnull(json_extract(options, '$.texts'), 1) as texts, count(*) as layers
    from layer where id in ({{layers}}) group by 1),
  known as (select s.document_id as id, count(*) as layers, max(s.state = 'draft') as draft,
    max(s.state = 'submitted') as submitted, max(s.state = 'discarded') as discarded
    from {_GOLD} where s.state != 'pending' and l.id in ({{layers}}) group by s.document_id)
select d.id as id, case
    when k.draft or (k.submitted and w.layers > k.layers) then 'draft'
    when w.layers > ifnull(k.layers, 0) then 'pending'
    when k.submitted then 'submitted'
    when k.discarded then 'discarded' end as state
from document d left join shown w on w.texts = d.texts left join known k on k.id = d.id"""


def highest_counts(db: Database) -> dict[str, int]:
    """Number of documents by their highest state in any layer, as `project info` reports it.

    From high to low: submitted, draft, discarded, pending.
    """
    states = dict.fromkeys(_BY_RANK, 0)
    for key, number in state_keys.numbers(db.reader()).items():
        _texts, of_layers = state_keys.parsed(key)
        states[max(of_layers.values(), key=_BY_RANK.index, default="pending")] += number
    return states


def finished_since(db: Database, layer_ids: Sequence[int], since: str) -> list[tuple[str, int]]:
    """Times (ISO 8601, UTC) from `since` on, and how many documents were finished then.

    A document is finished when it is submitted or discarded for the last time in one of the layers.
    """
    rows = db.reader().execute(
        f"select last, count(*) from (select max(at) as last from {_GOLD}"
        " where s.layer_id in (select value from json_each(?)) and at >= ?"
        " and state in ('submitted', 'discarded') group by document_id)"
        " group by last order by last",
        (ids_in(layer_ids), since),
    )
    return rows.fetchall()
