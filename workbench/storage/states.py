"""The state of documents in several layers.

Each document has a state in each layer that is for documents with as many texts, by the layer's
gold annotator: pending (no row), draft, submitted or discarded. Where one word has to serve for
several layers, Data, Annotate and the filters all use `overall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.storage.database import Database
from workbench.storage.tables import STATES
from workbench.storage.values import ids_in

_GOLD = "state s join layer l on l.id = s.layer_id and l.gold = s.annotator_id"
_RANK = (
    "case s.state when 'submitted' then 3 when 'draft' then 2 when 'discarded' then 1 else 0 end"
)
_BY_RANK = ("pending", "discarded", "draft", "submitted")


def overall(states: Iterable[str]) -> str:
    """One word for the states of a document in several layers, "" where there are none.

    `submitted`: in all of them, except those in which it is discarded; `discarded`: in all of them;
    `pending`: no work has begun in any; `draft`: everything else. So what is left to do, in at
    least one layer, is what is pending or a draft.
    """
    found = set(states)
    if "draft" in found or {"pending", "submitted"} <= found:
        return "draft"
    return next((state for state in ("pending", "submitted", "discarded") if state in found), "")


def of_documents(
    db: Database, ids: Iterable[int], layer_ids: Iterable[int]
) -> Mapping[int, frozenset[str]]:
    """The states of each document in the applicable layers; documents without any are omitted."""
    fitting = "ifnull(json_extract(l.options, '$.texts'), 1) = d.texts"
    gold = "s.document_id = d.id and s.layer_id = l.id and s.annotator_id = l.gold"
    found: dict[int, set[str]] = {}
    query = (
        f"select d.id, ifnull(s.state, 'pending') from document d join layer l on {fitting}"
        f" left join state s on {gold} where d.id in (select value from json_each(?))"
        " and l.id in (select value from json_each(?))"
    )
    for id, state in db.reader().execute(query, (ids_in(ids), ids_in(layer_ids))).fetchall():
        found.setdefault(id, set()).add(state)
    return {id: frozenset(states) for id, states in found.items()}


@dataclass(frozen=True)
class StateCounts:
    """`states`: documents by their overall state; `outside`: documents that no layer is for."""

    states: Mapping[str, int] = field(hash=False)
    outside: int


def counts(db: Database, layer_ids: Sequence[int] | None = None) -> StateCounts:
    """How many documents have which state in these layers taken together, by default in all."""
    query = f"select state, count(*) from ({by_document(layer_ids)}) group by state"
    found = dict(db.reader().execute(query).fetchall())
    return StateCounts({state: found.get(state, 0) for state in STATES}, found.get(None, 0))


def listed(layer_ids: Sequence[int] | None) -> str:
    """The layers as the right side of an SQL `in`, all of them for None."""
    if layer_ids is None:
        return "select id from layer"
    return ", ".join(str(int(id)) for id in layer_ids)


def by_document(layer_ids: Sequence[int] | None) -> str:
    """SQL query for (id, state) of all documents: `overall`, NULL for those without a state."""
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
    """Each document once, in its highest state of all layers: submitted, draft, discarded, pending.

    What `project info` reports.
    """
    read = db.reader().execute
    states = dict.fromkeys(_BY_RANK, 0)
    highest = f"select max({_RANK}) as rank from {_GOLD} group by s.document_id"
    for rank, number in read(f"select rank, count(*) from ({highest}) group by rank").fetchall():
        states[_BY_RANK[rank]] = number
    (documents,) = read("select count(*) from document").fetchone()
    states["pending"] = documents - sum(states[name] for name in _BY_RANK[1:])
    return states
