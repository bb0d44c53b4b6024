"""CSV and TSV: one document per row, one column per layer, named after its role: `label:topic`.

Spans are a JSON list of [start, end, label], as in the own format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import (
    ALL_STATES,
    COMMON,
    LOOKS,
    ExportPlan,
    links_lost,
    tags_lost,
)
from workbench.text.dataset import Record, span_to_json
from workbench.text.document import CHOICE, QUESTION, choice_names
from workbench.text.formulas import ESCAPED_COLUMN, escape, escape_name, is_formula
from workbench.text.labels import NUMBERS, TIE, Layer
from workbench.text.scale import shortest

_FIRST = ("id", "text", "text_b", "split", "group")


class CsvExporter:
    delimiter = ","

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        tokens = _(
            "Tokens are not written. Documents without labels and unlabelled documents "
            "are not distinguished."
        )
        return (
            _(COMMON),
            _(LOOKS),
            _(ALL_STATES),
            tokens,
            *links_lost(layers, chains=False, parts=False),
            *tags_lost(layers),
        )

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        held = [layer for layer in plan.layers if not layer.traits.between_spans]
        layers = [layer for layer in held if layer.labels or not layer.traits.has_labels]
        columns = [_column(layer) for layer in layers]
        choices = _choice_columns(layers)
        # metadata differ between documents, so they are in one column as JSON
        names = [*_FIRST, *choices, *columns, "meta"]
        if plan.escape:
            self._write_row(out, [escape_name(name) for name in (*names, ESCAPED_COLUMN)])
        else:
            plan.count(_formulas, sum(map(is_formula, names)))
            self._write_row(out, names)
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
            texts = dict(document.texts)
            own = [texts.get(name, "") for name in choices]
            row = [*first, *own, *(_cell(record, layer) for layer in layers), meta]
            if plan.escape:
                row = _escaped(row, names)
            else:
                plan.count(_formulas, sum(map(is_formula, row)))
            self._write_row(out, row)
            count += 1
        return count

    def _write_row(self, out: TextIO, cells: Sequence[str]) -> None:
        out.write(self.delimiter.join(_quoted(cell, self.delimiter) for cell in cells) + "\n")


class TsvExporter(CsvExporter):
    delimiter = "\t"


def _quoted(cell: str, delimiter: str) -> str:
    """The cell, in quotation marks where it needs them.

    The csv module leaves a lone carriage return without them, which readers take for a line end.
    """
    if any(sign in cell for sign in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _choice_columns(layers: Sequence[Layer]) -> list[str]:
    """Columns of the further texts of documents with choices, if there are layers for them."""
    most = max((len(layer.labels) for layer in layers if layer.traits.in_choices), default=0)
    return [QUESTION, *(f"{CHOICE}{name}" for name in choice_names(most))] if most else []


def _column(layer: Layer) -> str:
    """The name of a column says what it holds, so that an import knows it."""
    traits = layer.traits
    if traits.in_text:
        role = "chains" if traits.in_chains else "spans"
    elif traits.in_choices:
        role = "preferred" if traits.compares else "answer"
    elif traits.on_document:
        role = "labels" if traits.several else "label"
    else:
        role = "score" if traits.record == NUMBERS else "written"
    return f"{role}:{layer.name}"


def _escaped(row: list[str], names: Sequence[str]) -> list[str]:
    """The row with its formulas escaped, and a cell that says in which columns they are."""
    escaped_columns = [name for name, cell in zip(names, row, strict=True) if is_formula(cell)]
    cells = [escape(cell) if is_formula(cell) else cell for cell in row]
    return [*cells, json.dumps(escaped_columns, ensure_ascii=False) if escaped_columns else ""]


def _cell(record: Record, layer: Layer) -> str:
    state = record.states.get(layer.name)
    if layer.traits.in_text:
        spans = record.spans.get(layer.name, ())
        if not spans and state not in ("submitted", "draft"):
            return ""
        return json.dumps(list(map(span_to_json, spans)), ensure_ascii=False)
    if layer.name in record.numbers:
        return shortest(record.numbers[layer.name])
    if layer.name in record.written:
        return record.written[layer.name]
    marks = record.marks.get(layer.name, ())
    if layer.traits.compares and not marks and state == "submitted":
        return TIE
    if layer.traits.several and (any(map(_needs_list, marks)) or (not marks and state)):
        return json.dumps(list(marks), ensure_ascii=False) if state != "discarded" else ""
    return "; ".join(marks)


def _needs_list(label: str) -> bool:
    """Whether a name would not come back from a list of names between semicolons."""
    return label != label.strip() or any(sign in label for sign in ";#") or label[:1] in "[{"


def _formulas(_n: int) -> str:
    return _(
        "Cells that spreadsheet programs may run as formulas, as they begin with =, +, -, @, a tab "
        "or a carriage return: {n}. The option to escape formulas (--escape-formulas) prevents "
        "this."
    )
