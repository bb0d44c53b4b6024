"""Applies the journaled rows of a step in reverse order: undo or redo."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from workbench.base.watch import Watch
from workbench.storage import checksums, state_keys
from workbench.storage.migrations import JOURNALED

PIECE = 1_000  # rows restored per statement; the operation can be cancelled between two statements


class Replay:
    """The replay of one step; its values are copied by SQL. `columns`: table → its columns.

    Every method must be called inside a transaction of the writer.
    """

    def __init__(self, conn: sqlite3.Connection, step: int, columns: Mapping[str, Sequence[str]]):
        self._conn, self._step, self._columns = conn, step, columns

    def run(self, watch: Watch) -> None:
        """Apply all rows of the step, newest first."""
        read, step = self._conn.execute, (self._step,)
        rows = read(
            "select tbl, op, rid, c0, seq from journal_row where step_id = ? order by seq desc",
            step,
        ).fetchall()
        if rows and all(op == "insert" for _table, op, *_rest in rows):
            self._bring_back({table for table, *_rest in rows}, rows[-1][-1], rows[0][-1], watch)
            return
        ranges = sum(last - first for _table, op, first, last, _seq in rows if op == "range")
        for table, op, first, last, _seq in rows:
            if table == "document" and op == "range":
                checksums.forget_documents(self._conn, first, last)
                state_keys.forget_documents(self._conn, first, last)
        done, total = 0, len(rows) + ranges
        for (table, op), group in groupby(rows, key=lambda row: row[:2]):
            found = [row[2:] for row in group]
            for piece in _ranges(found) if op == "range" else _pieces(found):
                watch.at(done / total)
                self._replay(table, op, piece)
                done += piece[0][1] - piece[0][0] + 1 if op == "range" else len(piece)

    def forget(self, last: int, watch: Watch) -> None:
        """Delete the rows of the step up to `last`, which have been applied."""
        (first,) = self._conn.execute(
            "select min(seq) from journal_row where step_id = ?", (self._step,)
        ).fetchone()
        statement = "delete from journal_row where +step_id = ? and seq between ? and ?"
        for some in watch.over(range(first or last + 1, last + 1), 10 * PIECE):
            self._conn.execute(statement, (self._step, some[0], some[-1]))

    def _bring_back(self, tables: set[str], first: int, last: int, watch: Watch) -> None:
        """Restore a step that only deleted.

        Its rows existed at the same time, so they can be restored table by table, owners first. A
        document is deleted together with its rows; restoring in journal order would take a
        statement per row.
        """
        for start in range(first, last + 1, PIECE):
            watch.at((start - first) / (last - first + 1))
            for table in (text for text in JOURNALED if text in tables):
                self._insert(table, start, min(start + PIECE - 1, last), f" and tbl = '{table}'")

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
    for start in range(0, len(rows), PIECE):
        yield rows[start : start + PIECE]


def _ranges(rows: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Split each range of ids into short ones."""
    for first, last, seq in rows:
        for start in range(first, last + 1, PIECE):
            yield [(start, min(start + PIECE - 1, last), seq)]
