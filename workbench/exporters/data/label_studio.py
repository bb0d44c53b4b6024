"""Label Studio's JSON: an array of tasks with an annotation of each person, else of gold.

A layer becomes a control (`from_name`) of that name over the text. Offsets are code points, as in
Label Studio's own exports. Source: labelstud.io/guide/task_format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    STATES,
    ExportPlan,
    in_second_texts,
    labelled,
    links_lost,
    tags_lost,
    values_lost,
)
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import CURATED, Layer
from workbench.text.relations import Relation, directed
from workbench.text.spans import Place

Result = dict[str, Any]
OWN = "glossbench_states"  # of an annotation: states of layers; Label Studio ignores the key


class LabelStudioExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [_(COMMON), _(LOOKS), _(STATES), _("Tokens are not written.")]
        if any(layer.texts != 1 for layer in layers):
            message = _("Second texts are written as data of the task; their spans are omitted.")
            losses.append(message)
        return (
            *losses,
            *values_lost(layers),
            *tags_lost(layers),
            *links_lost(layers, relations=False),
        )

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        count = 0
        out.write("[")
        for record in records:
            out.write(",\n" if count else "\n")
            out.write(json.dumps(_task(record, plan), ensure_ascii=False))
            count += 1
        out.write("\n]\n")
        return count


def _task(record: Record, plan: ExportPlan) -> dict[str, Any]:
    document = record.document
    more = {"split": document.split, "group": document.group}
    data = dict(document.texts) | {name: value for name, value in more.items() if value}
    task: dict[str, Any] = {"id": document.key, "data": data, "annotations": []}
    for name, version in plan.of_people(record):
        if annotation := _annotation(version, plan):
            if name:
                annotation |= {"completed_by": {"first_name": name, "last_name": "", "email": ""}}
                annotation["ground_truth"] = name == CURATED
            task["annotations"].append(annotation)
    if document.meta:
        task["meta"] = dict(document.meta)
    return task


def _annotation(record: Record, plan: ExportPlan) -> dict[str, Any]:
    """The labels of a record, {} if it has none."""
    label_layers = [layer for layer in plan.layers if layer.traits.has_labels]
    annotation: dict[str, Any] = {"result": [], "was_cancelled": True}
    if any(labelled(record, layer.name) for layer in label_layers) or record.relations:
        annotation = {"result": list(_results(record, plan)), "was_cancelled": False}
    elif "discarded" not in record.states.values():
        return {}
    names = {layer.name for layer in plan.layers}
    annotation[OWN] = {name: state for name, state in record.states.items() if name in names}
    return annotation


def _results(record: Record, plan: ExportPlan) -> Iterable[Result]:
    for layer in plan.class_layers():
        if names := record.marks.get(layer.name):
            yield classes(layer.name, names)
    ids: dict[Place, str] = {}
    for layer in plan.span_layers():
        for span in record.spans.get(layer.name, ()):
            if span.field != TEXT:
                plan.count(in_second_texts)
                continue
            id = ids[span.place] = f"{layer.name}-{len(ids) + 1}"
            place = (span.start, span.end)
            yield {"id": id, **region(layer.name, record.document.text, place, span.label)}
    for layer in plan.layers:
        for relation in record.relations.get(layer.name, ()):
            yield from _relation(layer, relation, ids)


def classes(control: str, names: Sequence[str], *, of: str = TEXT) -> Result:
    """Classes of the text in the object `of`, from the control (`Choices`) of this name."""
    return result(control, "choices", {"choices": list(names)}, of=of)


def region(
    control: str, text: str, place: tuple[int, int], label: str, *, of: str = TEXT
) -> Result:
    """A span of the text in the object `of`, from the control (`Labels`) of this name."""
    start, end = place
    value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    return result(control, "labels", value, of=of)


def result(control: str, kind: str, value: dict[str, object], *, of: str = TEXT) -> Result:
    return {"from_name": control, "to_name": of, "type": kind, "value": value}


def _relation(layer: Layer, relation: Relation, ids: dict[Place, str]) -> Iterable[Result]:
    """A relation of regions by their ids; one of omitted spans is omitted."""
    ends = ids.get(relation.from_span.place), ids.get(relation.to_span.place)
    if None not in ends:
        way = "right" if directed(layer, relation.label) else "bi"
        yield {
            "type": "relation",
            "from_id": ends[0],
            "to_id": ends[1],
            "direction": way,
            "labels": [relation.label],
        }
