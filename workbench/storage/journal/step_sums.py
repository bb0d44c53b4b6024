"""What is stored of the rows of a history step as a whole: their number, bytes and checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.base.watch import QUIET, Watch
from workbench.storage.integrity import checksums
from workbench.storage.integrity.checksums import CHUNK_ROWS, DELETED_HASH, JOURNAL_HASH
from workbench.storage.schema.migrations import JOURNAL_WIDTH
from workbench.storage.schema.tables import JOURNALED, ColumnRules

_ROWS = "case op when 'range' then c0 - rid + 1 else 1 end"
_LENGTH = " + ".join(f"ifnull(length(c{number}), 0)" for number in range(JOURNAL_WIDTH))
_NUMBER = 8  # bytes; the length of each would have to be computed from its digits


def _length(columns: Mapping[str, ColumnRules]) -> str:
    """SQL of the bytes of a deleted row of a table, up to the digits of its numbers."""
    numbers = [column.storage in ("integer", "real") for column in columns.values()]
    texts = [f"ifnull(length(c{place}), 0)" for place, known in enumerate(numbers) if not known]
    return " + ".join([str(_NUMBER * sum(numbers)), *texts])


_LENGTH_DELETED = "case tbl {} else 0 end".format(
    " ".join(f"when '{table}' then {_length(columns)}" for table, columns in JOURNALED.items())
)
_MEASURE, _MEASURE_DELETED = (
    f"select ifnull(sum({rows}), 0), ifnull(sum({length}), 0), ifnull(sum({hash_of_row}), 0)"
    " from journal_row where +step_id = ? and seq between ? and ?"
    for rows, length, hash_of_row in (
        (_ROWS, _LENGTH, JOURNAL_HASH),
        ("1", _LENGTH_DELETED, DELETED_HASH),
    )
)


@dataclass(frozen=True)
class Deleted:
    """Journal rows from `first` to `last` hold all rows of documents that were deleted together.

    total: the sum of the hashes that these rows had.
    """

    first: int
    last: int
    total: int


def record_deletion(
    conn: sqlite3.Connection,
    step: int,
    tables: Mapping[str, tuple[str, Sequence[str]]],
    documents: str,
) -> Deleted:
    """Journal all rows of documents that are about to be deleted without triggers, as the triggers
    would. tables: each with its column of the document's id, and all its columns. documents: ids as
    a JSON array.
    """
    total, before = checksums.of_documents(conn, documents), _highest(conn)
    for table, (of, columns) in tables.items():
        stored = ", ".join(f'"{name}"' for name in columns)
        into = ", ".join(f"c{number}" for number in range(len(columns)))
        conn.execute(
            f"insert into journal_row(step_id, tbl, op, rid, doc, {into}) select"
            f" {step}, '{table}', 'insert', id, {of}, {stored} from {table}"
            f" where {of} in (select value from json_each(?)) order by id",
            (documents,),
        )
    return Deleted(before + 1, _highest(conn), total)


def _highest(conn: sqlite3.Connection) -> int:
    return int(conn.execute("select ifnull(max(seq), 0) from journal_row").fetchone()[0])


def measured(
    conn: sqlite3.Connection, step: int, deleted: Sequence[Deleted] = (), *, watch: Watch = QUIET
) -> tuple[int, int, int]:
    """Rows changed by a step, bytes of its journal, sum of JOURNAL_HASH over its rows.

    deleted: of this step, in order. Their hashes are known.
    """
    first, last = conn.execute(
        "select (select min(seq) from journal_row where step_id = ?1),"
        " (select max(seq) from journal_row where step_id = ?1)",
        (step,),
    ).fetchone()
    if first is None:
        return 0, 0, 0
    rows, size, checksum = 0, 0, sum(part.total for part in deleted)
    for start, end, measure in _parts(first, last, deleted):
        watch.at((start - first) / (last - first + 1))
        sums = conn.execute(measure, (step, start, end)).fetchone()
        rows, size, checksum = rows + sums[0], size + sums[1], checksum + sums[2]
    return rows, size, checksum


def _parts(first: int, last: int, deleted: Sequence[Deleted]) -> Iterator[tuple[int, int, str]]:
    """Ranges of seq of at most PIECE rows, each with the SQL that measures it."""
    ranges: list[tuple[int, int, str]] = []
    for part in deleted:
        ranges += [(first, part.first - 1, _MEASURE), (part.first, part.last, _MEASURE_DELETED)]
        first = part.last + 1
    for begin, end, measure in (*ranges, (first, last, _MEASURE)):
        for start in range(begin, end + 1, CHUNK_ROWS):
            yield start, min(start + CHUNK_ROWS - 1, end), measure
