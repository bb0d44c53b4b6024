"""CSV and TSV: a document a row, a column for each layer; spans as a JSON list of [start, end, label]."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import COMMON, LOOKS, STATES, Plan
from workbench.text.dataset import Record
from workbench.text.labels import Layer
from workbench.text.spans import Span

_FIRST = ("id", "text", "text_b", "split", "group")


class CsvExporter:
    dialect = "excel"

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        tokens = _(
            "Tokens are not written; a document without labels cannot be told from one that is not labelled."
        )
        return _(COMMON), _(LOOKS), _(STATES), tokens

    def write(self, records: Iterable[Record], plan: Plan, out: TextIO) -> int:
        writer = csv.writer(out, dialect=self.dialect, lineterminator="\n")
        layers = [one for one in plan.layers if one.labels]
        columns = [_column(one.name) for one in layers]
        # Metadata differ from document to document; so they stand in one column, as JSON.
        writer.writerow([*_FIRST, *columns, "meta"])
        count = 0
        for record in records:
            document = record.document
            first = [
                document.key,
                document.text,
                dict(document.texts).get("text_b", ""),
                document.split or "",
                document.group or "",
            ]
            meta = json.dumps(dict(document.meta), ensure_ascii=False) if document.meta else ""
            writer.writerow([*first, *(_cell(record, one) for one in layers), meta])
            count += 1
        return count


class TsvExporter(CsvExporter):
    dialect = "excel-tab"


def _column(name: str) -> str:
    return f"{name} (layer)" if name in (*_FIRST, "meta") else name


def _cell(record: Record, layer: Layer) -> str:
    if layer.kind in ("span", "tag"):
        found = record.spans.get(layer.name, ())
        if not found and record.states.get(layer.name) not in ("submitted", "draft"):
            return ""
        return json.dumps([_triple(one) for one in found], ensure_ascii=False)
    return "; ".join(record.marks.get(layer.name, ()))


def _triple(span: Span) -> list:
    return [span.start, span.end, span.label]
