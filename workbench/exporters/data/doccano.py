"""doccano's JSON lines:

`label` holds spans or classes; where a project has both, `entities` and `cats`. Where it has
relations, `entities` are objects with ids in every record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import (
    ALL_STATES,
    COMMON,
    LOOKS,
    ExportPlan,
    choices_lost,
    in_second_texts,
    labelled,
    links_lost,
)
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import MARKS, SPANS, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Place, Span

_FIELDS = (
    "id",
    "text",
    "text_b",
    "label",
    "entities",
    "relations",
    "cats",
    "split",
    "group",
    "meta",
)


class DoccanoExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [_(COMMON), _(LOOKS), _(ALL_STATES), _("Tokens are not written.")]
        merged = (
            (SPANS, _("The span layers {names} are merged.")),
            (MARKS, _("The class layers {names} are merged.")),
        )
        for part, message in merged:
            names = [
                layer.name
                for layer in layers
                if layer.traits.record == part and layer.labels and not layer.traits.in_choices
            ]
            if len(names) > 1:
                losses.append(message.format(names=", ".join(names)))
        if numbered := [layer.name for layer in layers if not layer.traits.has_labels]:
            template = _(
                "Values of number and text layers are written as separate fields: {names}.",
                names=", ".join(numbered),
            )
            losses.append(template)
        if any(layer.texts > 1 for layer in layers):
            losses.append(
                _(
                    "doccano does not support pairs: the second text is written as "
                    "text_b, which only Glossbench reads."
                )
            )
        if any(layer.traits.in_choices for layer in layers):
            losses.append(_("doccano does not support choices: they are written as fields."))
        return (*losses, *choices_lost(layers), *links_lost(layers, relations=False))

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        spans = [span_layer.name for span_layer in plan.span_layers() if span_layer.labels]
        classes = [
            class_layer.name
            for class_layer in plan.class_layers()
            if class_layer.labels and not class_layer.traits.in_choices
        ]
        related = any(layer.traits.between_spans and layer.labels for layer in plan.layers)
        names = ("entities", "cats") if spans and (classes or related) else ("label", "label")
        count = 0
        for record in records:
            out.write(
                json.dumps(_record(record, spans, classes, names, plan), ensure_ascii=False) + "\n"
            )
            count += 1
        return count


def _record(
    record: Record, spans: list[str], classes: list[str], names: tuple[str, str], plan: ExportPlan
) -> dict[str, Any]:
    document = record.document
    raw: dict[str, Any] = {"id": document.key, "text": document.text}
    raw.update(dict(document.texts[1:]))
    if any(labelled(record, layer) for layer in spans):
        all_spans = [span for layer in spans for span in record.spans.get(layer, ())]
        written_spans = [span for span in sorted(all_spans, key=_order) if span.field == TEXT]
        if any(layer.traits.between_spans and layer.labels for layer in plan.layers):
            numbers = {span.place: number for number, span in enumerate(written_spans)}
            related = [relation for some in record.relations.values() for relation in some]
            raw["entities"] = [_entity(span, numbers[span.place]) for span in written_spans]
            raw["relations"] = _relations(related, numbers)
        else:
            raw[names[0]] = [[span.start, span.end, span.label] for span in written_spans]
        plan.count(in_second_texts, sum(span.field != TEXT for span in all_spans))
    if any(labelled(record, layer) for layer in classes):
        raw[names[1]] = [label for layer in classes for label in record.marks.get(layer, ())]
    for layer in plan.layers:
        if not layer.traits.has_labels and layer.name not in _FIELDS:
            value = record.numbers.get(layer.name, record.written.get(layer.name))
            raw |= {} if value is None else {layer.name: value}
    more = {"split": document.split, "group": document.group, "meta": dict(document.meta)}
    return raw | {name: value for name, value in more.items() if value}


def _entity(span: Span, id: int) -> dict[str, object]:
    return {"id": id, "start_offset": span.start, "end_offset": span.end, "label": span.label}


def _relations(
    relations: Iterable[Relation], numbers: Mapping[Place, int]
) -> list[dict[str, object]]:
    """Relations between entities by their ids; those of second texts have none."""
    entries: list[dict[str, object]] = []
    for relation in relations:
        ends = numbers.get(relation.from_span.place), numbers.get(relation.to_span.place)
        if None not in ends:
            more = {"from_id": ends[0], "to_id": ends[1], "type": relation.label}
            entries.append({"id": len(entries), **more})
    return entries


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label
