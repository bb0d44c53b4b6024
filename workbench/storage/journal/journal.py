"""Undo and redo of all edits, stored in the project file.

Temporary triggers of the writer connection store the old values of every changed row in
`journal_row`, with their types; undo applies the rows of a step in reverse order while the same
triggers write the rows for redo. Source: "Automatic Undo/Redo Using SQLite",
sqlite.org/undoredo.html, which stores SQL text in a temporary table instead.

A bulk step journals one range of ids per table instead of each inserted row.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from workbench.base.errors import ProjectBusy
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.integrity import checksums
from workbench.storage.journal import replay
from workbench.storage.journal.history import DROPPED, UNDONE, HistoryStep, next_redo, next_undo
from workbench.storage.journal.replay import ROWS_PER_STATEMENT, Deleted, Replay
from workbench.storage.queries import state_keys
from workbench.storage.schema.migrations import JOURNALED
from workbench.storage.schema.values import Row, ids_in, name_in, now

_HEAD = "create temp trigger "
_NAMES = re.compile(rf"{_HEAD}(\w+) .*? on main\.(\w+) ", re.DOTALL)


def create_temp_triggers(conn: sqlite3.Connection, statements: Sequence[str]) -> None:
    """Execute all `create temp trigger … on main.TABLE …`, outside a transaction.

    SQLite reads its schema again after each such statement. Here the rows that they would store are
    inserted, and the schema is read once, which takes less than half the time. A library built to
    refuse this (SQLITE_DBCONFIG_DEFENSIVE, as on macOS) executes the statements one by one.
    """
    rows = [
        (*_names(statement), "CREATE TRIGGER " + statement[len(_HEAD) :])
        for statement in statements
    ]
    conn.execute("pragma writable_schema = on")
    try:
        conn.executemany("insert into sqlite_temp_master values('trigger', ?, ?, 0, ?)", rows)
    except sqlite3.OperationalError:
        for statement in statements:
            conn.execute(statement)
    finally:
        conn.execute("pragma writable_schema = reset")


def _names(statement: str) -> tuple[str, str]:
    """The names of the trigger and of its table."""
    match = _NAMES.match(statement)
    if match is None:
        raise ValueError(f"this creates no trigger of a table of the project: {statement}")
    return match[1], match[2]


def document_column(columns: list[str]) -> str | None:
    """The column with a row's document id. The table of documents is the one with `text_hash`."""
    if "document_id" in columns:
        return "document_id"
    return "id" if "text_hash" in columns else None


def triggers(table: str, columns: list[str]) -> Iterator[str]:
    into = ", ".join(f"c{number}" for number in range(len(columns)))
    old = ", ".join(f'old."{name}"' for name in columns)
    document = document_column(columns)
    step = (
        f"(case (select step from journal_now) when 0 then raise(abort, '{table} is changed "
        f"outside of an edit') else (select step from journal_now) end)"
    )
    new_doc, old_doc = (f"new.{document}", f"old.{document}") if document else ("null", "null")
    yield (
        f"create temp trigger journal_{table}_insert after insert on main.{table}"
        f" when new.id <= (select high from journal_high where tbl = '{table}') begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc) values({step}, '{table}', "
        f"'delete', new.id, {new_doc}); end"
    )
    if table != "body":  # never updated
        watched = [name for name in columns if name != "id"]
        names = ", ".join(f'"{name}"' for name in watched)
        differs = " or ".join(f'old."{name}" is not new."{name}"' for name in watched)
        yield (
            f"create temp trigger journal_{table}_update after update of {names} on main.{table}"
            f" when {differs} begin insert into journal_row(step_id, tbl, op, rid, doc, {into})"
            f" values({step}, '{table}', 'update', old.id, {old_doc}, {old}); end"
        )
    yield (
        f"create temp trigger journal_{table}_delete before delete on main.{table} begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc, {into})"
        f" values({step}, '{table}', 'insert', old.id, {old_doc}, {old}); end"
    )


MAX_STEPS = 10_000
MAX_BYTES = 1 << 30
TRIM_EVERY = (
    64  # small steps between two counts of the history, as counting costs more than a small step
)
MANY_ROWS = 1_000  # a step with more rows is reported as "reload"
SWEPT = 2_000  # rows of dropped steps that are deleted per step

_THERE = f"undone not in ({DROPPED})"
_ALL = (1 << 63) - 1
_WITH_REFERENCES = ("layer", "label", "document", "prompt", "prompt_version", "relation")


@cache
def _triggers(columns: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[str, ...]:
    """SQL of the triggers for tables with these columns."""
    journal = (trigger for table, names in columns for trigger in triggers(table, list(names)))
    return (*journal, *checksums.triggers(), *state_keys.triggers())


@dataclass(frozen=True)
class Touched:
    """Rows of a step by table, and their documents; None if there are too many to list."""

    rows: dict[str, frozenset[int]] | None
    documents: frozenset[int] | None


class Journal:
    """Bound to the writer connection.

    Every method but `create_triggers` must be called inside a transaction of the writer.
    """

    def __init__(self, conn: sqlite3.Connection):
        self._conn = conn
        self._step: int | None = None
        self._bulk: dict[str, int] | None = None  # table → highest id before the bulk step
        self._deleted: list[Deleted] = []  # of the present step
        self._sweeping = bool(
            conn.execute(
                "select exists(select 1 from journal_step where undone = ?)", (DROPPED,)
            ).fetchone()[0]
        )
        self._columns = {
            table: [row[1] for row in conn.execute(f"pragma table_info({table})")]
            for table in JOURNALED
        }

    def create_triggers(self, others: Sequence[str]) -> None:
        """Create the triggers and `others`, once per connection, before its first transaction."""
        conn = self._conn
        conn.execute("create temp table journal_now(step integer not null)")
        conn.execute("insert into journal_now values(0)")
        # Inserted rows with ids up to `high` are journaled one by one: all rows or, in a bulk step,
        # only rows that reuse the id of a deleted row.
        conn.execute(
            "create temp table journal_high(tbl text primary key, high integer not null) "
            "without rowid"
        )
        conn.executemany(
            "insert into journal_high values(?, ?)", [(table, _ALL) for table in JOURNALED]
        )
        columns = tuple((table, tuple(names)) for table, names in self._columns.items())
        create_temp_triggers(conn, [*_triggers(columns), *others])

    @property
    def open(self) -> bool:
        return self._step is not None

    @property
    def _open_step(self) -> int:
        """Raises RuntimeError outside a step."""
        if self._step is None:
            raise RuntimeError("no step of the journal is open")
        return self._step

    @contextmanager
    def step(
        self, title: str, *, bulk: bool = False, joins: int | None = None, watch: Watch = QUIET
    ) -> Iterator[list[Touched]]:
        """Open an undo step; nested steps are part of the outer one, and so is one that `joins` the
        newest step, by its id.

        Yields a list, which contains one Touched at the end if anything was changed.

        `watch` reports the progress of the work after the body; cancelling it raises Cancelled.
        """
        touched: list[Touched] = []
        if self.open:
            yield touched
            return
        self._begin(title, bulk, joins)
        try:
            yield touched
            if (changed := self._end(watch)) is not None:
                touched.append(changed)
        finally:
            self._close()

    def _begin(self, title: str, bulk: bool, joins: int | None = None) -> None:
        title = name_in(title)  # it may name a file
        changed = "update journal_step set title = ? where id = ? and undone = 0"
        newest = " and id = (select max(id) from journal_step)"
        if joins is not None and self._conn.execute(changed + newest, (title, joins)).rowcount:
            self._step = joins
        else:
            self._step = self._conn.execute(
                "insert into journal_step(title, at) values(?, ?)", (title, now())
            ).lastrowid
        self._record({table: self._highest(table) for table in JOURNALED} if bulk else None)

    def _record(self, bulk: dict[str, int] | None) -> None:
        """Start recording.

        With `bulk`, the triggers ignore new rows with ids above the current highest.
        """
        self._bulk = bulk
        self._conn.execute("update journal_now set step = ?", (self._step,))
        if bulk is not None:
            self._conn.executemany(
                "update journal_high set high = ? where tbl = ?",
                [(high, table) for table, high in bulk.items()],
            )

    def _close(self) -> None:
        self._step, self._bulk = None, None
        self._deleted.clear()

    def _stop_recording(self, watch: Watch = QUIET) -> None:
        if self._bulk is not None:
            self._write_ranges(self._bulk, watch)
            self._conn.execute("update journal_high set high = ?", (_ALL,))
        self._conn.execute("update journal_now set step = 0")

    def _end(self, watch: Watch) -> Touched | None:
        conn, step = self._conn, self._open_step
        self._stop_recording(watch.part(0.0, 0.5))
        rows, size = self._seal(step, watch.part(0.5, 0.9))
        if not rows:
            conn.execute("delete from journal_step where id = ?", (step,))
            return None
        before = conn.execute(
            "select undone from journal_step where id < ? order by id desc limit 1", (step,)
        ).fetchone()
        if before and before[0] == UNDONE:
            self._drop("undone = ?", (UNDONE,))
        if step % TRIM_EVERY == 0 or size > MAX_BYTES >> 10:
            self._trim()
        self._sweep()
        return self._touched(step, rows)

    def _drop(self, where: str, values: Row = ()) -> None:
        """Mark steps that can no longer be undone or redone; `_sweep` deletes their rows."""
        self._conn.execute(f"update journal_step set undone = {DROPPED} where {where}", values)
        self._conn.execute(
            "delete from checksum where name = 'step' and owner in"
            f" (select id from journal_step where undone = {DROPPED})"
        )
        self._sweeping = True

    def _sweep(self) -> None:
        """Delete some rows of dropped steps: deleting all of them would delay the edit."""
        if not self._sweeping:
            return
        dropped = f"select id from journal_step where undone = {DROPPED}"
        swept = self._conn.execute(
            "delete from journal_row where seq in"
            f" (select seq from journal_row where step_id in ({dropped}) limit {SWEPT})"
        ).rowcount
        if swept < SWEPT:
            self._conn.execute(f"delete from journal_step where undone = {DROPPED}")
            self._sweeping = False

    def record_deletion(self, tables: Mapping[str, str], documents: str) -> None:
        """Journal documents (ids as JSON) that are about to be deleted without triggers.

        tables: all with rows of documents, each with its column of the document's id.
        """
        stored = {table: (of, self._columns[table]) for table, of in tables.items()}
        deleted = replay.record_deletion(self._conn, self._open_step, stored, documents)
        if self._bulk is None:  # rows of a bulk step have no checksums yet
            self._deleted.append(deleted)

    def _highest(self, table: str) -> int:
        return self._conn.execute(f"select max(id) from {table}").fetchone()[0] or 0

    def _write_ranges(self, bulk: dict[str, int], watch: Watch) -> None:
        """Journal the new rows of a bulk step as ranges; add them to the checksums and state keys.

        Changes to rows that the step added need no journal: undo deletes them.
        """
        ranges: dict[str, tuple[int, int]] = {}
        for place, (table, before) in enumerate(bulk.items()):
            watch.at(0.1 * place / len(bulk))
            self._conn.execute(
                "delete from journal_row where step_id = ? and tbl = ? and rid > ?",
                (self._step, table, before),
            )
            first, last = self._conn.execute(
                f"select min(id), max(id) from {table} where id > ?", (before,)
            ).fetchone()
            if first is not None:
                row = (self._step, table, first, last)
                self._conn.execute(
                    "insert into journal_row(step_id, tbl, op, rid, c0) values(?, ?, "
                    "'range', ?, ?)",
                    row,
                )
                ranges[table] = first, last
        checksums.add_rows(self._conn, ranges, watch=watch.part(0.1, 0.9))
        state_keys.add_rows(self._conn, ranges, watch=watch.part(0.9, 1.0))

    def _trim(self) -> None:
        """Drop the oldest steps beyond 10,000 steps or 1 GB, but never the newest one."""
        conn = self._conn
        count, size, oldest, newest = conn.execute(
            f"select count(*), sum(size), min(id), max(id) from journal_step where {_THERE}"
        ).fetchone()
        reason = ""
        if count > MAX_STEPS:
            (limit,) = conn.execute(
                f"select id from journal_step where {_THERE} order by id desc limit 1 offset ?",
                (MAX_STEPS - 1,),
            ).fetchone()
            reason = _("the history keeps {max_steps:,} steps", max_steps=MAX_STEPS)
        elif size > MAX_BYTES:
            limit, total = newest, 0
            for id, bytes_ in conn.execute(
                f"select id, size from journal_step where {_THERE} order by id desc"
            ).fetchall():
                total += bytes_
                if total > MAX_BYTES and id != newest:
                    break
                limit = id
            reason = _("the history keeps {max_bytes:g} GB", max_bytes=MAX_BYTES / (1 << 30))
        if reason and limit > oldest:
            self._drop("id < ?", (limit,))
            conn.execute("insert or replace into meta values('journal_cut', ?)", (reason,))

    def purge(self, table: str, column: str, value: int, *, watch: Watch = QUIET) -> Touched | None:
        """Delete the rows of `table` with `value` in `column`, also from the history, permanently.

        Undo and redo do not restore them. Returns what was deleted, or None if there are no such
        rows.

        Raises ProjectBusy during an edit.
        """
        if self.open:
            raise ProjectBusy(_("This is not possible during an edit."))
        conn, at = self._conn, list(self._columns[table]).index(column)
        condition = f"tbl = ? and op in ('update', 'insert') and c{at} = ?"
        steps = conn.execute(
            f"select distinct step_id from journal_row where {condition}"
            f" and step_id in (select id from journal_step where {_THERE})",
            (table, value),
        ).fetchall()
        watch.at(0.1)
        conn.execute(f"delete from journal_row where {condition}", (table, value))
        for (step,) in steps:
            self._reseal(step, watch.part(0.1, 0.4))
        rows = conn.execute(f"select id from {table} where {column} = ?", (value,)).fetchall()
        if not rows:
            return None
        self._begin("", bulk=False)
        try:
            for some in watch.part(0.4, 0.9).over([id for (id,) in rows], ROWS_PER_STATEMENT):
                these = "id in (select value from json_each(?))"
                conn.execute(f"delete from {table} where {these}", (ids_in(some),))
            self._stop_recording()
            touched = self._touched(self._open_step, len(rows))
            conn.execute("delete from journal_row where step_id = ?", (self._step,))
            conn.execute("delete from journal_step where id = ?", (self._step,))
        finally:
            self._close()
        return touched

    def remove_for_good(self, documents: str, delete: Callable[[], int]) -> int:
        """Call `delete`, which deletes documents (ids as a JSON array), and forget their rows.

        Steps keep what they did to other documents. Dropped steps are deleted at once.

        Raises ProjectBusy during an edit.
        """
        if self.open:
            raise ProjectBusy(_("This is not possible during an edit."))
        conn, these = self._conn, "doc in (select value from json_each(?))"
        steps = conn.execute(
            f"select distinct step_id from journal_row where {these}", (documents,)
        ).fetchall()
        self._begin("", bulk=False)
        try:
            deleted = delete()
            self._stop_recording()
            conn.execute("delete from journal_row where step_id = ?", (self._step,))
            conn.execute("delete from journal_step where id = ?", (self._step,))
        finally:
            self._close()
        conn.execute(f"delete from journal_row where {these}", (documents,))
        for (step,) in steps:
            self._reseal(step, QUIET)
        dropped = f"(select id from journal_step where undone = {DROPPED})"
        conn.execute(f"delete from journal_row where step_id in {dropped}")
        conn.execute(f"delete from journal_step where undone = {DROPPED}")
        self._sweeping = False
        return deleted

    def rename_step(self, step: int, title: str) -> None:
        self._conn.execute("update journal_step set title = ? where id = ?", (title, step))
        self._reseal(step, QUIET)

    def _reseal(self, step: int, watch: Watch) -> None:
        """Update the counts and checksum of a step after rows were deleted; delete it if empty."""
        if not self._seal(step, watch)[0]:
            self._conn.execute("delete from journal_step where id = ?", (step,))

    # ------------------------------------------------------------ undo and redo

    def undo(self, *, watch: Watch = QUIET) -> tuple[str, Touched] | None:
        """Undo the newest step. Returns its title and what changed, or None if there is none."""
        return self._play(next_undo(self._conn), watch, undone=True)

    def redo(self, *, watch: Watch = QUIET) -> tuple[str, Touched] | None:
        return self._play(next_redo(self._conn), watch, undone=False)

    def _play(
        self, step: HistoryStep | None, watch: Watch, *, undone: bool
    ) -> tuple[str, Touched] | None:
        if self.open:
            raise ProjectBusy(_("Undo is not possible during an edit."))
        if step is None:
            return None
        conn = self._conn
        if self._restores_owners(step.id):
            conn.execute("pragma defer_foreign_keys = on")
        self._step = step.id
        try:
            self._record(self._all_new(step.id))
            (last,) = conn.execute("select max(seq) from journal_row").fetchone()
            replay = Replay(conn, step.id, self._columns)
            replay.run(watch.part(0.0, 0.85))
            replay.forget(last, watch.part(0.85, 0.9))
            self._stop_recording(watch.part(0.9, 0.95))
        finally:
            self._close()
        conn.execute("update journal_step set undone = ? where id = ?", (int(undone), step.id))
        rows, _size = self._seal(step.id, watch.part(0.95, 1.0))
        return step.title, self._touched(step.id, rows)

    def _restores_owners(self, step: int) -> bool:
        """Whether the step may restore a row before a row that it refers to.

        Only then are deferred foreign keys enabled: the pragma makes SQLite recompile all
        statements.
        """
        tables = ", ".join(f"'{table}'" for table in _WITH_REFERENCES)
        statement = (
            "select exists(select 1 from journal_row where step_id = ? and op = 'insert'"
            f" and tbl in ({tables}))"
        )
        return bool(self._conn.execute(statement, (step,)).fetchone()[0])

    def _all_new(self, step: int) -> dict[str, int] | None:
        """The highest ids, if a large step only adds rows above them.

        Its redo is then journaled as ranges.
        """
        (large,) = self._conn.execute(
            "select count(*) > ? from (select 1 from journal_row where step_id = ? limit ?)",
            (MANY_ROWS, step, MANY_ROWS + 1),
        ).fetchone()
        if not large:
            return None
        highest = {table: self._highest(table) for table in JOURNALED}
        kinds = self._conn.execute(
            "select tbl, op, min(rid) from journal_row where step_id = ? group by tbl, op", (step,)
        ).fetchall()
        return (
            highest
            if all(op == "insert" and lowest > highest[table] for table, op, lowest in kinds)
            else None
        )

    def _seal(self, step: int, watch: Watch) -> tuple[int, int]:
        """Store the number of rows changed, the journal's size in bytes and the checksum of a step.

        Returns (rows, bytes).
        """
        rows, size, checksum = replay.measured(self._conn, step, self._deleted, watch=watch)
        self._conn.execute(
            "update journal_step set rows = ?, size = ? where id = ?", (rows, size, step)
        )
        checksums.seal_step(self._conn, step, checksum)
        return rows, size

    def _touched(self, step: int, count: int) -> Touched:
        """The rows of a step. `count`: number of rows that it changed."""
        conn = self._conn
        if count > MANY_ROWS:
            return Touched(None, None)
        rows: dict[str, set[int]] = {}
        documents: set[int] = set()
        for table, op, rid, doc, last in conn.execute(
            "select tbl, op, rid, doc, c0 from journal_row where step_id = ?", (step,)
        ).fetchall():
            rows.setdefault(table, set()).update(range(rid, last + 1) if op == "range" else (rid,))
            if op == "range" and (column := document_column(self._columns[table])):
                affected = conn.execute(
                    f"select distinct {column} from {table} where id between ? and ?", (rid, last)
                ).fetchall()
                documents.update(row[0] for row in affected)
            elif doc is not None:
                documents.add(doc)
        return Touched({table: frozenset(ids) for table, ids in rows.items()}, frozenset(documents))
