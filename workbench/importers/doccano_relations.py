"""Relations of doccano: entities with ids in the field `entities`, and `relations` of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.base.i18n import _
from workbench.importers.base import Fault, Options, label_name, show, span_offsets
from workbench.text.dataset import Record
from workbench.text.relations import Relation
from workbench.text.spans import Span


def with_relations(record: Record, value: object, options: Options) -> Record:
    """The record with its relations, if the line has any. Raises Fault."""
    raw = value.get("relations") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not raw:
        return record
    if not isinstance(raw, list):
        raise Fault(_("the relations are {value}, expected a list").format(value=show(raw)))
    by_id = _by_id(value)
    found = tuple(dict.fromkeys(_relation(item, by_id) for item in raw))
    name = options.relation_layer
    return replace(
        record,
        relations={**record.relations, name: found},
        states={**record.states, name: "submitted"},
    )


def _by_id(value: Mapping[str, Any]) -> dict[str, Span]:
    found = {}
    for name in ("entities", "label", "labels"):
        raw = value.get(name)
        for item in raw if isinstance(raw, list) else ():
            if isinstance(item, dict) and "id" in item:
                start, end = span_offsets(
                    item.get("start_offset", item.get("start")),
                    item.get("end_offset", item.get("end")),
                )
                found[str(item["id"])] = Span(start, end, label_name(item.get("label")))
    return found


def _relation(item: object, by_id: Mapping[str, Span]) -> Relation:
    if not isinstance(item, dict):
        raise Fault(_("a relation is {value}, expected an object").format(value=show(item)))
    ends = [by_id.get(str(item.get(name))) for name in ("from_id", "to_id")]
    if ends[0] is None or ends[1] is None:
        raise Fault(
            _("a relation names the entities {one} and {other}; one is missing").format(
                one=show(item.get("from_id")), other=show(item.get("to_id"))
            )
        )
    return Relation(label_name(item.get("type", item.get("label"))), ends[0], ends[1])
