"""Notes and flags of documents, as records hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.storage.connections.database import Database
from workbench.storage.documents.flags import REVIEWS
from workbench.storage.documents.notes import span_column
from workbench.storage.schema.values import ids_in, parts_out
from workbench.text.dataset import Record
from workbench.text.remarks import FLAG, NOTE, DocumentRemark
from workbench.text.rows import row_id


def _remarks(db: Database, page: Sequence[int]) -> dict[int, tuple[DocumentRemark, ...]]:
    """Document id → its notes and flags, and those of its gold spans."""
    remarks_of: dict[int, list[DocumentRemark]] = {}
    for kind, table, text in ((NOTE, "note", "body"), (FLAG, "flag", "name")):
        span = span_column(db, table)
        statement = (
            f'select r.document_id, r.{text}, {span}, l.name, s.field, s.start, s."end", b.name,'
            f" s.parts from {table} r left join span s on s.id = {span} left join layer l on"
            " l.id = s.layer_id and l.gold = s.annotator_id left join label b on b.id = s.label_id"
            f" where r.document_id in (select value from json_each(?)) and r.{text} not glob ?"
            " order by r.id"
        )
        values = ids_in(page), f"{REVIEWS}*" if kind == FLAG else ""
        for id, words, on_span, layer, *place, parts in (
            db.reader().execute(statement, values).fetchall()
        ):
            if on_span is None:
                remarks_of.setdefault(id, []).append(DocumentRemark(kind, words))
            elif layer is not None and place[-1] is not None:
                field, start, end, label = place
                at = field, start, end, label, parts_out(parts)
                remarks_of.setdefault(id, []).append(DocumentRemark(kind, words, layer, at))
    return {id: tuple(some) for id, some in remarks_of.items()}


def with_remarks(db: Database, records: Iterable[Record]) -> Iterator[Record]:
    """The records of a page with their notes and flags."""
    page = list(records)
    remarks = _remarks(db, [row_id(record.document) for record in page])
    for record in page:
        some = remarks.get(row_id(record.document))
        yield replace(record, remarks=some) if some else record
