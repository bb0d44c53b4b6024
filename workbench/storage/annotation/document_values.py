"""Numbers and written texts of documents: one for each document, layer and annotator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.storage.annotation.annotations import renew
from workbench.storage.connections.database import Database
from workbench.storage.schema.values import Row, ids_in, name_in
from workbench.text.dataset import Record
from workbench.text.labels import LAYER_KINDS, NUMBERS, TABLES, WRITTEN, Layer
from workbench.text.rows import row_id

INSERT: Mapping[str, str] = {
    "number": (
        "insert into mark(document_id, layer_id, value, annotator_id, source_id) "
        "values(?, ?, ?, ?, ?)"
    ),
    "written": (
        "insert into answer(document_id, layer_id, question, text, annotator_id, source_id) "
        "values(?, ?, '', ?, ?, ?)"
    ),
}
"""Part of a record → the statement that inserts the rows of `rows_of`."""


def rows_of(
    record: Record, id: int, layers: Mapping[str, tuple[int, int]], source_id: int
) -> tuple[tuple[str, list[Row]], ...]:
    """Rows for the statements of INSERT. `layers`: name → id and annotator."""
    rows: dict[str, list[Row]] = {"number": [], "written": []}
    for name, number in record.numbers.items():
        layer, annotator = layers[name]
        rows["number"].append((id, layer, number, annotator, source_id))
    for name, text in record.written.items():
        layer, annotator = layers[name]
        rows["written"].append((id, layer, name_in(text), annotator, source_id))
    return tuple(rows.items())


@dataclass(frozen=True)
class WrittenRow:
    """A text that was written for a document."""

    id: int
    document_id: int
    layer_id: int
    text: str
    source_kind: str
    source_ref: str
    made_by: int | None = None
    made_at: str = ""


def written(db: Database, document_id: int) -> tuple[WrittenRow, ...]:
    """Written texts by the gold annotator of each layer, in order of layer."""
    kinds = ", ".join(f"'{kind.id}'" for kind in LAYER_KINDS.values() if kind.record == WRITTEN)
    statement = (
        "select a.id, a.document_id, a.layer_id, a.text, s.kind, s.ref, s.annotator_id, s.at"
        " from answer a join layer l on l.id = a.layer_id and l.gold = a.annotator_id"
        f" join source s on s.id = a.source_id where a.document_id = ? and l.kind in ({kinds})"
        " and a.text is not null order by a.layer_id, a.id"
    )
    rows = db.reader().execute(statement, (document_id,)).fetchall()
    return tuple(WrittenRow(*row) for row in rows)


def set_value(
    db: Database,
    document_id: int,
    layer_id: int,
    value: float | str,
    *,
    annotator_id: int,
    source_id: int,
    score: float | None = None,
) -> None:
    """Set the number, or the written text, that a document has in a layer."""
    clear_value(db, document_id, layer_id, annotator_id)
    row = (document_id, layer_id, annotator_id, source_id, score)
    if isinstance(value, str):
        db.writer.execute(
            "insert into answer(document_id, layer_id, annotator_id, source_id, score, question,"
            " text) values(?, ?, ?, ?, ?, '', ?)",
            (*row, name_in(value)),
        )
    else:
        db.writer.execute(
            "insert into mark(document_id, layer_id, annotator_id, source_id, score, value)"
            " values(?, ?, ?, ?, ?, ?)",
            (*row, float(value)),
        )


def clear_value(db: Database, document_id: int, layer_id: int, annotator_id: int) -> None:
    """Remove the number, or the written text, that a document has in a layer."""
    for table in (TABLES[NUMBERS], TABLES[WRITTEN]):
        deleted = db.writer.execute(
            f"delete from {table} where document_id = ? and layer_id = ? and annotator_id = ?",
            (document_id, layer_id, annotator_id),
        )
        if deleted.rowcount:
            renew(db, document_id, layer_id, annotator_id)


def count(db: Database, layer: Layer) -> int:
    """Number of values in a layer, of all annotators, also where a window shows those of one."""
    statement = f"select count(*) from main.{layer.traits.table} where layer_id = ?"
    return int(db.reader().execute(statement, (layer.id,)).fetchone()[0])


def every_number(db: Database, layer_id: int) -> list[float]:
    """The numbers of all people in a layer, ascending, also where a window shows those of one."""
    statement = (
        "select value from main.mark where layer_id = ? and value is not null order by value"
    )
    return [value for (value,) in db.reader().execute(statement, (layer_id,)).fetchall()]


def numbers(db: Database, layer_id: int) -> list[float]:
    """All numbers of a layer by its gold annotator, ascending."""
    rows = db.reader().execute(
        "select m.value from mark m join layer l on l.id = m.layer_id and l.gold = m.annotator_id"
        " where m.layer_id = ? and m.value is not null order by m.value",
        (layer_id,),
    )
    return [value for (value,) in rows.fetchall()]


def lengths(db: Database, layer_id: int) -> list[int]:
    """Code points of all written texts of a layer by its gold annotator, ascending."""
    rows = db.reader().execute(
        "select length(a.text) from answer a"
        " join layer l on l.id = a.layer_id and l.gold = a.annotator_id"
        " where a.layer_id = ? and a.text is not null order by 1",
        (layer_id,),
    )
    return [length for (length,) in rows.fetchall()]


_COLUMNS = {NUMBERS: "value", WRITTEN: "text"}


def gold_values(
    db: Database, page: Sequence[int], chosen: Sequence[Layer], part: str
) -> dict[int, dict[str, Any]]:
    """Document id → layer name → value by the gold annotator, in the layers of this part."""
    names = {row_id(layer): layer.name for layer in chosen if layer.traits.record == part}
    if not names:
        return {}
    column = _COLUMNS[part]
    rows = db.reader().execute(
        f"select t.document_id, t.layer_id, t.{column} from {TABLES[part]} t"
        " join layer l on l.id = t.layer_id and l.gold = t.annotator_id"
        f" where t.{column} is not null and t.document_id in (select value from json_each(?))"
        " and t.layer_id in (select value from json_each(?)) order by t.id",
        (ids_in(page), ids_in(names)),
    )
    values: dict[int, dict[str, Any]] = {}
    for id, layer, value in rows.fetchall():
        if layer in names:  # in a damaged file the index may return rows of other layers
            values.setdefault(id, {})[names[layer]] = value
    return values
