"""Rows of the staging file that belong to spans of the same record, by the number of their row."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.storage.schema.values import Row, name_in
from workbench.text.dataset import Record
from workbench.text.spans import Place


def span_rows(record: Record, first: int) -> dict[tuple[str, Place], int]:
    """(layer, place) of each span → its row; `first`: that of the first span of the record."""
    spans = ((of, span.place) for of, some in record.spans.items() for span in some)
    return {span: number for number, span in enumerate(spans, first)}


def remark_rows(record: Record, seq: int, first: int) -> Iterator[tuple[str, Row]]:
    """(table, row) of notes and flags; those of spans that the record does not have are left out.

    `first`: the row of the first span of the record.
    """
    if not record.remarks:
        return
    numbers = span_rows(record, first)
    for remark in record.remarks:
        row = None if remark.place is None else numbers.get((remark.layer, remark.place))
        if remark.place is None or row is not None:
            yield remark.kind, (seq, name_in(remark.text), row)
