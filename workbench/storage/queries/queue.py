"""SQL conditions on `document d` for the queue of Annotate: state and suggestions in some layers.

States and labels are those of each layer's gold annotator. A layer applies to documents that have
the number of texts in its options. States are looked up in the table of `state_keys`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from workbench.storage.annotation import states
from workbench.storage.annotation.provenance import OF_ORIGIN, Origin
from workbench.storage.queries import state_keys
from workbench.storage.schema.tables import STATES
from workbench.storage.schema.values import ids_in
from workbench.text.labels import LABEL_TABLES

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database

Add = Callable[..., None]  # (condition, *values)
TO_DO = "to_do"
_SOME = "(select value from json_each(?))"
WITH_KEY = "select document_id as id from state_key where key in (select value from json_each(?))"
HAS_KEY = f"d.id in ({WITH_KEY})"
_SUGGESTED = (
    "exists (select 1 from suggestion g join layer l on l.id = g.layer_id"
    f" where g.document_id = d.id and g.status = 'open' and g.layer_id in {_SOME}"
    " and not exists (select 1 from mark m where g.kind = 'class' and m.document_id = d.id"
    " and m.layer_id = l.id and m.label_id is g.label_id and m.annotator_id = l.gold)"
    " and not exists (select 1 from span p where g.kind = 'span' and p.document_id = d.id"
    " and p.layer_id = l.id and p.label_id = g.label_id and p.annotator_id = l.gold"
    ' and p.field = g.field and p.start = g.start and p."end" = g."end"))'
)


class StateMatches(NamedTuple):
    """Keys of `state_keys`; `every`: there are no others, so that all documents match."""

    keys: list[str]
    every: bool


@dataclass(frozen=True)
class SourceFile:
    """A file that documents were imported from; imports of files with the same name are merged."""

    name: str
    source_ids: tuple[int, ...]
    documents: int


def state_matches(db: Database, state: str, layer_ids: Sequence[int] | None) -> StateMatches:
    """The keys with which `states.overall` of the layers (None: all) is `state`.

    `TO_DO`: pending or draft in at least one layer. Raises ValueError for an unknown state.
    """
    if state != TO_DO and state not in STATES:
        raise ValueError(f"unknown state {state!r}")
    names = ("pending", "draft") if state == TO_DO else (state,)
    texts_of, keys = (
        state_keys.layer_texts(db.reader(), layer_ids),
        state_keys.distinct(db.reader()),
    )
    matching = [key for key in keys if states.overall(state_keys.in_layers(key, texts_of)) in names]
    return StateMatches(matching, every=len(matching) == len(keys))


def add_state(add: Add, matches: StateMatches) -> None:
    """Add the condition that the document has one of the keys."""
    if not matches.keys:
        add("0")
    elif not matches.every:
        add(HAS_KEY, json.dumps(matches.keys))


def add_suggested(add: Add, layer_ids: Sequence[int]) -> None:
    """Add the condition that an open suggestion in one of the layers differs from gold."""
    add(_SUGGESTED, ids_in(layer_ids))


def files_of(db: Database, document_ids: Iterable[int]) -> dict[int, str]:
    """Document id → the file it was imported from; documents from elsewhere are left out."""
    rows = db.reader().execute(
        "select d.id, s.ref from document d join source s on s.id = d.batch_source_id"
        " where s.kind = 'import' and s.ref != ''"
        " and d.id in (select value from json_each(?))",
        (ids_in(document_ids),),
    )
    return dict(rows.fetchall())


def add_origin(add: Add, origin: Origin) -> None:
    """Add the condition that the origin made a label or an open suggestion."""
    exists = (
        f"exists (select 1 from {{}} t where t.document_id = d.id and t.source_id in ({OF_ORIGIN})"
    )
    tables = [exists.format(table) for table in (*LABEL_TABLES, "suggestion")]
    add(f"({') or '.join(tables)} and t.status = 'open'))", *origin * len(tables))


def source_files(db: Database) -> tuple[SourceFile, ...]:
    """The files that documents of the project were imported from, by name."""
    rows = (
        db.reader()
        .execute(
            "select s.ref, s.id, n from source s join (select batch_source_id b, count(*) n"
            " from document group by b) on b = s.id where s.kind = 'import' and s.ref != ''"
        )
        .fetchall()
    )
    by_name: dict[str, list[tuple[int, int]]] = {}
    for name, id, count in rows:
        by_name.setdefault(name, []).append((id, count))
    return tuple(
        SourceFile(name, tuple(id for id, _count in parts), sum(count for _id, count in parts))
        for name, parts in sorted(by_name.items())
    )
