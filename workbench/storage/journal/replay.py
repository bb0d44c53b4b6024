"""The journaled rows of a step: applied in reverse order, for undo or redo; recorded for documents
that are deleted together; and their number, bytes and checksum, which the step stores.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from workbench.base.watch import QUIET, Watch
from workbench.storage.integrity import checksums
from workbench.storage.integrity.checksums import CHUNK_ROWS, DELETED_HASH, JOURNAL_HASH
from workbench.storage.queries import search, state_keys
from workbench.storage.schema.migrations import JOURNAL_WIDTH
from workbench.storage.schema.tables import JOURNALED, ColumnRules
from workbench.storage.schema.values import Row
from workbench.storage.schema.without_triggers import without_triggers

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


# Rows restored per statement, and if all rows of a step were deleted; the operation can be
# cancelled between two statements.
ROWS_PER_STATEMENT = 1_000
LARGE_PIECE = 10_000
_RESTORING = 0.7  # share of the rows in the work; the rest is the full-text index


class Replay:
    """The replay of one step; its values are copied by SQL. `columns`: table → its columns.

    Every method must be called inside a transaction of the writer.
    """

    def __init__(self, conn: sqlite3.Connection, step: int, columns: Mapping[str, Sequence[str]]):
        self._conn, self._step, self._columns = conn, step, columns

    def run(self, watch: Watch) -> None:
        """Apply all rows of the step, newest first."""
        read, step = self._conn.execute, (self._step,)
        kinds = read(
            "select tbl, op, count(*), min(seq), max(seq) from journal_row where step_id = ?"
            " group by tbl, op",
            step,
        ).fetchall()
        if kinds and all(op == "insert" for _table, op, *_rest in kinds):
            tables = {table: count for table, _op, count, _first, _last in kinds}
            first, last = min(kind[3] for kind in kinds), max(kind[4] for kind in kinds)
            self._bring_back(tables, first, last, watch)
            return
        rows = read(
            "select tbl, op, rid, c0, seq from journal_row where step_id = ? order by seq desc",
            step,
        ).fetchall()
        ranges = sum(last - first for _table, op, first, last, _seq in rows if op == "range")
        for table, op, first, last, _seq in rows:
            if table == "document" and op == "range":
                checksums.forget_documents(self._conn, first, last)
                state_keys.forget_documents(self._conn, first, last)
        done, total = 0, len(rows) + ranges
        for (table, op), group in groupby(rows, key=lambda row: row[:2]):
            values = [row[2:] for row in group]
            for piece in _ranges(values) if op == "range" else _pieces(values):
                watch.at(done / total)
                self._replay(table, op, piece)
                done += piece[0][1] - piece[0][0] + 1 if op == "range" else len(piece)

    def forget(self, last: int, watch: Watch) -> None:
        """Delete the rows of the step up to `last`, which have been applied."""
        (first,) = self._conn.execute(
            "select min(seq) from journal_row where step_id = ?", (self._step,)
        ).fetchone()
        statement = "delete from journal_row where +step_id = ? and seq between ? and ?"
        for some in watch.over(range(first or last + 1, last + 1), 10 * ROWS_PER_STATEMENT):
            self._conn.execute(statement, (self._step, some[0], some[-1]))

    def _bring_back(self, tables: Mapping[str, int], first: int, last: int, watch: Watch) -> None:
        """Restore a step that only deleted; tables: number of its rows in each.

        Its rows existed at the same time, so they can be restored table by table, owners first. A
        document is deleted together with its rows; restoring in journal order would take a
        statement per row. Many texts are indexed at the end, all at once.
        """
        texts = tables.get("body", 0)
        if texts < search.LARGE_BATCH_TEXTS:
            self._restore(tables, first, last, watch)
            return
        with without_triggers(self._conn, "insert", (), (search.ADD_TRIGGER,)):
            self._restore(tables, first, last, watch.part(0.0, _RESTORING))
            contents = self._texts(first, last, watch.part(_RESTORING, 1.0))
            search.add_texts(self._conn, contents, texts)

    def _restore(self, tables: Container[str], first: int, last: int, watch: Watch) -> None:
        for start in range(first, last + 1, LARGE_PIECE):
            watch.at((start - first) / (last - first + 1))
            for table in (name for name in JOURNALED if name in tables):
                end = min(start + LARGE_PIECE - 1, last)
                self._insert(table, start, end, f" and tbl = '{table}'")

    def _texts(self, first: int, last: int, watch: Watch) -> Iterator[Row]:
        """(id, content) of the texts that were deleted by the step."""
        columns = self._columns["body"]
        id, content = (f"c{columns.index(name)}" for name in ("id", "content"))
        for start in range(first, last + 1, LARGE_PIECE):
            watch.at((start - first) / (last - first + 1))
            yield from self._conn.execute(
                f"select {id}, {content} from journal_row where +step_id = ? and tbl = 'body'"
                " and seq between ? and ? order by rid",
                (self._step, start, min(start + LARGE_PIECE - 1, last)),
            ).fetchall()

    def _insert(self, table: str, first: int, last: int, where: str = "") -> None:
        """Insert in ascending order of ids, which is the fastest for the full-text index."""
        names, stored = self._names(table)
        self._conn.execute(
            f"insert into {table}({names}) select {stored} from journal_row where "
            f"+step_id = ? and seq between ? and ?{where} order by rid",
            (self._step, first, last),
        )

    def _names(self, table: str) -> tuple[str, str]:
        columns = self._columns[table]
        return ", ".join(f'"{name}"' for name in columns), ", ".join(
            f"c{number}" for number in range(len(columns))
        )

    def _replay(self, table: str, op: str, rows: list[tuple[int, int, int]]) -> None:
        """Apply rows (id, last id of a range, seq) of one table and operation, newest first.

        One SQL statement copies a row back.
        """
        execute = self._conn.execute
        seqs = rows[-1][-1], rows[0][-1]  # between these there are no other rows of the step
        if op == "range":
            execute(f"delete from {table} where id between ? and ?", rows[0][:2])
        elif op == "delete":
            self._conn.executemany(
                f"delete from {table} where id = ?", ((rid,) for rid, *_rest in rows)
            )
        elif op == "insert":
            self._insert(table, *seqs)
        elif changed := self._changed(table, seqs):
            names, stored = (
                ", ".join(f'"{self._columns[table][number]}"' for number in changed),
                ", ".join(f"c{n}" for n in changed),
            )
            statement = (
                f"update {table} set ({names}) = (select {stored} from journal_row where seq "
                f"= ?) where id = ?"
            )
            self._conn.executemany(statement, ((seq, rid) for rid, _, seq in rows))

    def _changed(self, table: str, seqs: tuple[int, int]) -> list[int]:
        """Indices of the columns in which these updates differ from the current values.

        Only they are written, as writing a column also updates its indexes.
        """
        differs = ", ".join(
            f'max(j.c{number} is not t."{name}")'
            for number, name in enumerate(self._columns[table])
        )
        statement = (
            f"select {differs} from journal_row j join {table} t on t.id = j.rid where "
            f"+j.step_id = ? and j.seq between ? and ?"
        )
        return [
            number
            for number, differ in enumerate(
                self._conn.execute(statement, (self._step, *seqs)).fetchone()
            )
            if differ
        ]


def _pieces(rows: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        yield rows[start : start + ROWS_PER_STATEMENT]


def _ranges(rows: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Split each range of ids into short ones."""
    for first, last, seq in rows:
        for start in range(first, last + 1, ROWS_PER_STATEMENT):
            yield [(start, min(start + ROWS_PER_STATEMENT - 1, last), seq)]
