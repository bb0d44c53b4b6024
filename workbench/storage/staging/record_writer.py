"""Inserts documents and labels of records into the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.storage.annotation import answers, document_values
from workbench.storage.connections.database import Database
from workbench.storage.labels import labels
from workbench.storage.schema.values import (
    Row,
    json_in,
    name_in,
    new_uid,
    now,
    offsets_in,
    parts_out,
    text_in,
)
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import LABEL_TABLES
from workbench.text.relations import span_layer
from workbench.text.rows import row_id
from workbench.text.spans import Place

_INSERT = {
    "document": "insert into document(id, uid, key, split, fold_group, meta, batch_source_id, "
    "text_hash, length, texts)"
    " values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "body": "insert into body(document_id, field, content) values(?, ?, ?)",
    "tokens": "insert into tokens(document_id, field, borders) values(?, ?, ?)",
    "state": (
        "insert into state(document_id, layer_id, annotator_id, state, at) values(?, ?, ?, ?, ?)"
    ),
    "mark": (
        "insert into mark(document_id, layer_id, label_id, annotator_id, source_id) "
        "values(?, ?, ?, ?, ?)"
    ),
    **document_values.INSERT,
    "span": 'insert into span(uid, document_id, field, layer_id, label_id, start, "end", '
    "annotator_id, source_id, score, parts, group_id, id)"
    " values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "relation": (
        "insert into relation(uid, document_id, layer_id, label_id, from_span, to_span, "
        "annotator_id, source_id, score) values(?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ),
    "answer": answers.INSERT,
}


class RecordWriter:
    """Inserts documents with their labels; see `add`. Created inside an edit."""

    def __init__(self, db: Database, source_id: int, annotator_id: int | None = None):
        self._conn, self._source, self._at = db.writer, source_id, now()
        layers, gold = labels.layers(db), labels.gold(db)
        self._layers = {  # name → id, annotator
            layer.name: (row_id(layer), annotator_id or gold[row_id(layer)]) for layer in layers
        }
        self._labels = {
            (layer.name, label.name): label.id for layer in layers for label in layer.labels
        }
        self._spans_of = {
            layer.name: span_layer(layer) for layer in layers if layer.traits.between_spans
        }
        row = self._conn.execute(
            "select seq from sqlite_sequence where name = 'document'"
        ).fetchone()
        self._last = row[0] if row else 0
        (self._last_span,) = self._conn.execute("select ifnull(max(id), 0) from span").fetchone()

    def write(self, page: Sequence[Record]) -> list[int]:
        """Returns the ids of the new documents."""
        rows: dict[str, list[Row]] = {table: [] for table in _INSERT}
        first = self._last + 1
        for record in page:
            self._last += 1
            self._document(rows, self._last, record.document)
            self._annotations(rows, self._last, record)
        self._insert(rows)
        return list(range(first, self._last + 1))

    def write_labels(self, page: Iterable[tuple[int, Record]]) -> None:
        """Add the states and labels of each record to the document with this id."""
        rows: dict[str, list[Row]] = {table: [] for table in _INSERT}
        for id, record in page:
            self._annotations(rows, id, record, self._places(id) if record.relations else {})
        self._insert(rows)

    def _places(self, document_id: int) -> dict[tuple[str, Place], int]:
        """The spans that a document has: layer and place → id."""
        query = (
            'select s.layer_id, s.annotator_id, s.field, s.start, s."end", b.name, s.parts, s.id'
            " from span s join label b on b.id = s.label_id where s.document_id = ?"
        )
        names = {by: name for name, by in self._layers.items()}
        return {
            (names[layer, annotator], (*place, parts_out(parts))): id
            for layer, annotator, *place, parts, id in self._conn.execute(query, (document_id,))
            if (layer, annotator) in names
        }

    def _insert(self, rows: Mapping[str, list[Row]]) -> None:
        for table, statement in _INSERT.items():
            self._conn.executemany(statement, rows[table])

    def _document(self, rows: dict[str, list[Row]], id: int, document: Document) -> None:
        length = sum(len(content) for _, content in document.texts)
        group = None if document.group is None else name_in(document.group)
        meta = json_in(dict(document.meta))
        columns = (
            id,
            new_uid(),
            name_in(document.key),
            document.split,
            group,
            meta,
            self._source,
            document.text_hash,
            length,
        )
        rows["document"].append((*columns, document.form))
        rows["body"] += [(id, field, text_in(content)) for field, content in document.texts]
        rows["tokens"] += [
            (id, field, offsets_in(offsets)) for field, offsets in document.tokens.items()
        ]

    def _annotations(
        self,
        rows: dict[str, list[Row]],
        id: int,
        record: Record,
        known: Mapping[tuple[str, Place], int] | None = None,
    ) -> None:
        """`known`: spans that the document has, which relations may refer to."""
        source = self._source
        for name, state in record.states.items():
            if state != "pending":
                rows["state"].append((id, *self._layers[name], state, self._at))
        for name, classes in record.marks.items():
            layer, annotator = self._layers[name]
            rows["mark"] += [
                (id, layer, self._labels[name, label], annotator, source) for label in classes
            ]
        for table, more in document_values.rows_of(record, id, self._layers, source):
            rows[table] += more
        for name, questions in record.questions.items():
            for question in questions:
                rows["answer"] += answers.rows_of(question, id, *self._layers[name], source)
        placed = {**(known or {}), **self._spans(rows, id, record)}
        self._relations(rows, id, record, placed)

    def _spans(
        self, rows: dict[str, list[Row]], id: int, record: Record
    ) -> dict[tuple[str, Place], int]:
        """Add the spans; returns the id of each by its layer and place."""
        placed = {}
        for name, spans in record.spans.items():
            layer, annotator = self._layers[name]
            for span in spans:
                self._last_span += 1
                placed[name, span.place] = self._last_span
                rows["span"].append(
                    (
                        new_uid(),
                        id,
                        span.field,
                        layer,
                        self._labels[name, span.label],
                        span.start,
                        span.end,
                        annotator,
                        self._source,
                        span.score,
                        json_in(span.parts),
                        span.chain,
                        self._last_span,
                    )
                )
        return placed

    def _relations(
        self,
        rows: dict[str, list[Row]],
        id: int,
        record: Record,
        placed: Mapping[tuple[str, Place], int],
    ) -> None:
        """`placed`: ids of the spans by layer and place; spans of the layer that the relations
        connect come first.
        """
        for name, relations in record.relations.items():
            layer, annotator = self._layers[name]
            of = self._spans_of[name]
            ids = {place: id for (_layer, place), id in placed.items()}
            ids.update({place: id for (layer, place), id in placed.items() if layer == of})
            rows["relation"] += [
                (
                    new_uid(), id, layer, self._labels[name, relation.label],
                    ids[relation.from_span.place], ids[relation.to_span.place],
                    annotator, self._source, relation.score,
                )
                for relation in relations
            ]  # fmt: skip


def replace_labels(
    db: Database,
    page: Iterable[tuple[int, Record, Sequence[int]]],
    *,
    source_id: int,
) -> None:
    """Give each document (by its id) the states and gold labels of a record, inside an edit.

    Its gold states and labels in the layers with the given ids are deleted before. Relations to a
    deleted span are deleted with it.
    """
    records, gold = list(page), labels.gold(db)
    for id, _record, layer_ids in records:
        for layer_id in layer_ids:
            for table in (*LABEL_TABLES, "state"):
                db.writer.execute(
                    f"delete from {table} where document_id = ? and layer_id = ?"
                    " and annotator_id is ?",
                    (id, layer_id, gold[layer_id]),
                )
    writer = RecordWriter(db, source_id)
    writer.write_labels((id, record) for id, record, _layers in records)
