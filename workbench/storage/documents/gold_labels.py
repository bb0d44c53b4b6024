"""Gold labels of many documents without their texts and other annotations, as maps show them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from workbench.storage.connections.database import Database
from workbench.storage.labels import labels
from workbench.storage.schema.values import ids_in
from workbench.text.document import TEXT
from workbench.text.rows import row_id

PAGE = 20_000  # documents per statement
Offsets = tuple[int, int, str]  # start, end, label


def first_labels(db: Database, layer: str, ids: Collection[int]) -> dict[int, str]:
    """The first gold label of each of these documents in a layer; those without are left out."""
    label_of: dict[int, str] = {}
    names = _names(db, layer)
    for id, _number, label in sorted(_rows(db, "mark", "t.id, t.label_id", layer, ids)):
        if label in names:
            label_of.setdefault(id, names[label])
    return label_of


def labelled_offsets(
    db: Database, layer: str, ids: Collection[int]
) -> dict[int, tuple[Offsets, ...]]:
    """The gold spans of a layer in the first text of each of these documents, by start, longest
    first; documents without any are left out.
    """
    first, names = _other_first_fields(db), _names(db, layer)
    spans_of: dict[int, list[tuple[int, int, int, int]]] = {}
    columns = 't.start, -t."end", t.id, t.label_id, t.field'
    for id, start, end, number, label, field in _rows(db, "span", columns, layer, ids):
        if field == first.get(id, TEXT) and label in names:
            spans_of.setdefault(id, []).append((start, end, number, label))
    return {
        id: tuple((start, -end, names[label]) for start, end, _number, label in sorted(spans))
        for id, spans in spans_of.items()
    }


def _names(db: Database, layer: str) -> dict[int, str]:
    every = (item.labels for item in labels.layers(db) if item.name == layer)
    return {row_id(label): label.name for layer_labels in every for label in layer_labels}


def _rows(
    db: Database, table: str, columns: str, layer: str, ids: Collection[int]
) -> Iterator[tuple[Any, ...]]:
    """Document and columns of the gold rows of a layer, in any order."""
    statement = (
        f"select t.document_id, {columns} from {table} t join layer l on l.name = ?"
        # With the index of layers, each page would read all rows of the layer.
        " where t.document_id in (select value from json_each(?)) and +t.layer_id = l.id"
        " and t.annotator_id = l.gold"
    )
    every = list(ids)
    for start in range(0, len(every), PAGE):
        page = ids_in(every[start : start + PAGE])
        yield from db.reader().execute(statement, (layer, page)).fetchall()


def _other_first_fields(db: Database) -> dict[int, str]:
    """The name of the first text of the documents whose first text is not named TEXT."""
    rows = db.reader().execute(
        "select document_id, field from body b where field <> ?"
        " and id = (select min(id) from body c where c.document_id = b.document_id)",
        (TEXT,),
    )
    return dict(rows.fetchall())
