"""Replace all labels of documents in some layers by those of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.storage.connections.database import Database
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.labels import LABEL_TABLES


def replace_labels(
    db: Database,
    page: Iterable[tuple[int, Record, Sequence[int]]],
    *,
    source_id: int,
    annotator_id: int,
) -> None:
    """Give each document (by its id) the states and labels of a record, inside an edit.

    Its states and labels of the annotator in the layers with the given ids are deleted before.
    Relations to a deleted span are deleted with it.
    """
    records = list(page)
    for id, _record, layer_ids in records:
        for layer_id in layer_ids:
            for table in (*LABEL_TABLES, "state"):
                db.writer.execute(
                    f"delete from {table} where document_id = ? and layer_id = ?"
                    " and annotator_id is ?",
                    (id, layer_id, annotator_id),
                )
    writer = RecordWriter(db, source_id, annotator_id)
    writer.write_labels((id, record) for id, record, _layers in records)
