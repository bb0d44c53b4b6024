"""Prodigy's JSON lines: tokens, spans with token numbers, options with accepted classes.

Of several people each has a line, with the name of a data set, a hyphen and that of the person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    ExportPlan,
    labelled,
    links_lost,
    main_layer,
    values_lost,
)
from workbench.text.alignment import token_range
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import MARKS, SPANS, Layer
from workbench.text.segment import words
from workbench.text.spans import Span

DATA_SET = "glossbench"
_ANSWERS = {"submitted": "accept", "discarded": "ignore"}


class ProdigyExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [_(COMMON), _(LOOKS), _("Drafts are written without an answer.")]
        for part in (SPANS, MARKS):
            items = [layer for layer in layers if layer.traits.record == part and layer.texts == 1]
            if len(
                others := [
                    layer.name for layer in items if layer != main_layer(items) and layer.labels
                ]
            ):
                losses.append(
                    _(
                        "Only one layer of each kind is written; left out: {others}.",
                        others=", ".join(others),
                    )
                )
        if any(layer.texts != 1 for layer in layers):
            losses.append(
                _("Prodigy does not support pairs and choices: such documents are omitted.")
            )
        return (*losses, *values_lost(layers), *links_lost(layers))

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        spans, classes = main_layer(plan.span_layers()), main_layer(plan.class_layers(1))
        count = 0
        for record in records:
            if len(record.document.texts) > 1:
                plan.count(_pairs)
                continue
            for name, version in plan.of_people(record) or [("", record)]:
                task = _task(version, spans, classes)
                if name:
                    task["_annotator_id"] = task["_session_id"] = f"{DATA_SET}-{name}"
                out.write(json.dumps(task, ensure_ascii=False) + "\n")
            count += 1
        return count


def _task(record: Record, span_layer: Layer | None, class_layer: Layer | None) -> dict[str, object]:
    document = record.document
    raw: dict[str, Any] = {"id": document.key, "text": document.text}
    states = [
        record.states.get(layer.name)
        for layer in (span_layer, class_layer)
        if layer and layer.labels
    ]
    is_discarded = span_layer is not None and record.states.get(span_layer.name) == "discarded"
    if span_layer and (is_discarded or labelled(record, span_layer.name)):
        offsets = document.tokens.get(TEXT) or words(document.text)
        raw["tokens"] = [_token(n, pair, document.text) for n, pair in enumerate(offsets)]
        raw["spans"] = [_span(span, offsets) for span in record.spans.get(span_layer.name, ())]
    if class_layer and class_layer.labels and labelled(record, class_layer.name):
        raw["options"] = [{"id": name, "text": name} for name in class_layer.names]
        raw["accept"] = list(record.marks.get(class_layer.name, ()))
    answer = next((_ANSWERS[state] for state in states if state in _ANSWERS), None)
    more = {
        "split": document.split,
        "group": document.group,
        "meta": dict(document.meta),
        "answer": answer,
    }
    return raw | {name: value for name, value in more.items() if value}


def _token(number: int, pair: tuple[int, int], text: str) -> dict[str, object]:
    start, end = pair
    return {
        "text": text[start:end],
        "start": start,
        "end": end,
        "id": number,
        "ws": text[end : end + 1] == " ",
    }


def _span(span: Span, offsets: Sequence[tuple[int, int]]) -> dict[str, object]:
    raw: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.label}
    if tokens := token_range(offsets, span.start, span.end):
        raw |= {"token_start": tokens[0], "token_end": tokens[1] - 1}
    return raw


def _pairs(n: int) -> str:
    return ngettext(
        "{n} pair was omitted: the format holds only one text per document.",
        "{n} pairs were omitted: the format holds only one text per document.",
        n,
    )
