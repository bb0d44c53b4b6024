"""The project file as SQLite connections: one writer behind a lock, a reader for each thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from workbench.base.errors import ProjectBusy, ProjectDamaged, ProjectError, ProjectMoved
from workbench.base.i18n import _
from workbench.storage.connections import backup, failures, header, identity, lock, temp_files
from workbench.storage.connections.header import (
    choose_journal_mode,
    claim,
    make_logs_writable,
    why_read_only,
    writable,
)
from workbench.storage.connections.lock import FileLock, held
from workbench.storage.connections.reading import Reader
from workbench.storage.integrity import checksums
from workbench.storage.journal.journal import Journal
from workbench.storage.queries import search, state_keys
from workbench.storage.schema import migrations, schema_check, tables
from workbench.storage.schema.tables import IS_READ_ONLY, JOURNALED
from workbench.text.labels import LABEL_TABLES

BUSY_SECONDS = 10
_ENDS = (
    "select id, at, undone from journal_step order by id desc limit 1",
    "select id, uid, name from annotator order by id",
    "select count(*), max(id), max(at) from run",
)
_TOUCHED = "create temp table touched(tbl text, rid integer, primary key (tbl, rid)) without rowid"
SPILL_PAGES = 1_000  # 4 MB; a transaction with more changed pages is written before its commit

C = TypeVar("C", bound=sqlite3.Connection)


class Database:
    """An open project file, created by `create` or `open`.

    Functions of `storage` take it as their first argument.
    """

    def __init__(self, path: Path, *, lock: FileLock | None, reason: str = ""):
        self.path = path
        self.read_only = lock is None
        self.read_only_reason = reason
        self._journal: Journal | None = None
        self.upgraded_copy: Path | None = None  # the copy made before a migration
        self.journal_note = ""  # a message for the user about how the file is written
        self._lock = lock
        self._release = header.in_use(path)
        self._file: identity.FileId | None = None  # as it was opened
        self._foreign_writes: identity.ForeignWrites | None = None
        self._note: identity.LogNote | None = None  # that it has a log of its own
        self._foreign_log = False  # beside a file that is read
        self._end: object = None  # what `_end` read after the latest change
        self._written = False  # whether a change was committed
        self._copied = False  # whether a copy has all changes
        self._only: int | None = None  # the annotator of `show_only`
        self._home = threading.get_ident()
        self._mutex = threading.RLock()
        self._owner: int | None = None
        self._depth = 0
        self._writer: sqlite3.Connection | None = None
        self._prepared = False  # whether the triggers of the writer exist
        self._readers: dict[int, Reader] = {}
        self._readers_mutex = threading.Lock()
        self._closed = False

    # ------------------------------------------------------------ open and close

    @classmethod
    def create(cls, path: Path, *, annotator: str = "me", uid: str = "") -> Database:
        """Create a project; `uid` of the annotator, "" for a new one. Raises ProjectError if
        `path` exists.
        """
        path = Path(path).absolute()
        claim(path)
        try:
            identity.set_log_aside(path)  # of a file that was there; SQLite would delete it
            with closing(sqlite3.connect(path, isolation_level=None)) as conn:
                # A file that is not complete is removed; `open` waits until it is on the disk.
                conn.execute("pragma journal_mode = memory")
                conn.execute("pragma synchronous = off")
                conn.execute(f"pragma application_id = {header.APPLICATION_ID}")
                migrations.apply(conn)
                migrations.insert_first_rows(conn, annotator, uid)
                checksums.rebuild(conn)
            return cls.open(path)
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                raise failures.explain(error, path, writing=True) from error
            raise

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Database:
        """Open a project file. Raises ProjectError if it is not a project, ProjectLocked if another
        process has it open for writing; neither changes the file.

        A file of a newer version, a write-protected one, one on a full disk and one with triggers
        or views of another program open read-only; `read_only_reason` says why.
        """
        path = Path(path).absolute()
        head = header.examine(path)
        path = path.resolve()
        reason = _("it was opened for reading only") if read_only else why_read_only(path, head)
        try:
            return cls._started(path, head, None if reason else FileLock.take(path), reason)
        except failures.NoRoom:
            if reason:
                raise
            return cls._started(path, head, None, _("its disk is full"))
        except schema_check.ForeignObject as error:
            return cls._started(path, head, None, error.reason)

    @classmethod
    def _started(
        cls, path: Path, head: header.Header, lock: FileLock | None, reason: str
    ) -> Database:
        """Raises NoRoom or ForeignObject if the file can only be opened for reading."""
        db = cls(path, lock=lock, reason=reason)
        try:
            db._start(head)
        except BaseException as error:
            db.close()
            if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
                raise failures.explain(error, path, writing=False) from error
            raise
        return db

    def _start(self, head: header.Header) -> None:
        if self._lock is not None:
            self._refuse_log(self._lock)
            self._writer = self._connect_writer(head)
        else:
            self._foreign_log = identity.is_foreign_log(self.path, lock.noted(self.path))
        have = {
            name
            for (name,) in self.reader()
            .execute("select name from sqlite_master where type = 'table'")
            .fetchall()
        }
        version = head.version if self.read_only else migrations.CURRENT
        missing = set(tables.of_version(version)) - have
        if missing:
            message = _(
                "{path} is damaged: it lacks the tables {tables}.",
                path=self.path,
                tables=", ".join(sorted(missing)),
            )
            raise ProjectDamaged(message, hint=failures.way_out())
        self._identify(head.changes)
        if self._writer:
            self._journal = Journal(self._writer)
            self._end = _end(self._writer)

    def _refuse_log(self, lock: FileLock) -> None:
        """Keep a log of another file from being applied."""
        if identity.is_foreign_log(self.path, lock.noted()):
            aside = identity.set_log_aside(self.path)
            if aside is not None:
                self.journal_note = _(
                    "Beside {name} was the write-ahead log of another project file that was "
                    "replaced or renamed while it was open. It was not applied and is kept as "
                    "{log}.",
                    name=self.path.name,
                    log=aside.name,
                )

    def _identify(self, changes: int) -> None:
        """Note which file is open, once SQLite has opened it and its log."""
        self._file = identity.of(self.path)
        self._foreign_writes = identity.ForeignWrites(self.path)
        log = identity.of(identity.log_of(self.path))
        if self._lock is not None and self._file is not None and log is not None:
            self._note = identity.LogNote(self._file, log, str(self.meta("uid", "")), changes)
            with suppress(OSError):  # on a full disk
                self._lock.note(self._note)

    def _connect_writer(self, head: header.Header) -> sqlite3.Connection:
        make_logs_writable(self.path)
        conn = self._connect(f"{self.path.as_uri()}?mode=rw", sqlite3.Connection)
        self._writer = conn  # so that `close` finds it if the following steps fail
        schema_check.refuse(conn)  # before anything is written, as that would run a trigger
        if head.version < migrations.CURRENT:
            self.upgraded_copy = backup.before_upgrade(conn, self.path, head.version)
            migrations.apply(conn)
            conn.execute("pragma wal_checkpoint(truncate)")
        if choose_journal_mode(conn) == "wal":
            # Pages that a large transaction has already written need not be written on commit.
            conn.execute(f"pragma cache_spill = {SPILL_PAGES}")
        else:
            self.journal_note += _(
                "Write-ahead logging is not available for this project, for example on a "
                "network drive. Reading waits while a change is written."
            )
        conn.execute("pragma cache_size = -65536")  # 64 MB: an import of 100,000 documents
        conn.execute("pragma synchronous = normal")
        conn.execute("pragma foreign_keys = on")
        conn.execute("pragma recursive_triggers = on")  # else REPLACE would not be journaled
        conn.create_function("seg", 1, search.seg, deterministic=True)
        checksums.register(conn)
        return conn

    def _prepare_writing(self) -> None:
        """Create the temporary triggers, which takes longer than opening the file.

        Requires the mutex, outside a transaction: its rollback would remove them.
        """
        if self._prepared:
            return
        self.writer.execute(_TOUCHED)
        self.journal.create_triggers([*search.index_triggers(), *touched_triggers()])
        self._prepared = True

    def _connect(self, uri: str, kind: type[C], *, small: bool = True) -> C:
        """`small`: temporary files are kept in memory; others belong in `temp_files.beside`."""
        self.require_place()
        with failures.explained(self.path, writing=False):
            conn = sqlite3.connect(
                uri,
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=BUSY_SECONDS,
                factory=kind,
            )
            try:
                self.require_place()  # SQLite has opened a file, but not yet its log
                if small:
                    temp_files.keep_in_memory(conn)
            except BaseException:
                conn.close()
                raise
            return conn

    @property
    def moved(self) -> str:
        """Whether the file is no longer at its path: `identity.MISSING` or `identity.REPLACED`;
        `identity.OVERWRITTEN` if another program has written to it; or "" if all is well, or
        where this cannot be told.
        """
        how = identity.moved(self.path, self._file)
        if how or self._foreign_writes is None:
            return how
        return identity.OVERWRITTEN if self._foreign_writes.any() else ""

    def _note_transaction(self, *, begins: bool) -> None:
        if self._foreign_writes is not None:
            self._foreign_writes.transaction(begins=begins)

    def _own_writes(self) -> AbstractContextManager[None]:
        """For whatever makes SQLite write to the file."""
        return nullcontext() if self._foreign_writes is None else self._foreign_writes.own()

    @property
    def in_no_file(self) -> bool:
        """Whether closing would lose the project as it is: its file is no longer at its path or
        overwritten, and no copy was written since.
        """
        return self._writer is not None and not self._copied and bool(self.moved)

    def require_place(self) -> None:
        """Raises ProjectMoved if the file is no longer at its path or overwritten."""
        if how := self.moved:
            raise identity.error(self.path, how)

    def close(self) -> None:
        """Write everything to the file and close it.

        Raises ProjectError if a transaction is open; ProjectMoved, after closing, if changes were
        made and the file is no longer at its path or overwritten.
        """
        if self._closed:
            return
        if self._depth:
            raise ProjectError(_("{path} cannot be closed during an edit.", path=self.path))
        with self._readers_mutex:  # a thread that is connecting closes its reader itself
            self._closed = True
            readers = tuple(self._readers.values())
            self._readers.clear()
        how, in_no_file = self.moved, self.in_no_file
        if how == identity.OVERWRITTEN and not (self.read_only and held(self.path)):
            self._keep_log_out(delete=self._copied)
        self._foreign_writes = None  # its descriptor is SQLite's
        for conn in readers:
            conn.close_soon()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()  # the last connection of a file writes the log back and removes it
        self._release()
        if how:
            self._leave_log(delete=self._copied)
        if self._lock is not None:
            self._lock.free(keep_note=identity.is_foreign_log(self.path, self._note))
        if in_no_file and self._written:
            raise identity.error(self.path, how)

    def _keep_log_out(self, *, delete: bool) -> None:
        """Keep SQLite from writing the log into a file that was overwritten."""
        with suppress(OSError):
            aside = identity.empty_log(self.path)
            if delete and aside is not None:
                aside.unlink()

    def _leave_log(self, *, delete: bool) -> None:
        """Keep the own log from being applied to another file with the name of this one.

        SQLite leaves the log there if the file is gone.
        """
        log = identity.log_of(self.path)
        if self._note is None or identity.of(log) != self._note.log:
            return
        with suppress(OSError):  # then the note remains
            aside = identity.set_log_aside(self.path)
            if delete and aside is not None:
                aside.unlink()

    # ------------------------------------------------------------ connections

    @property
    def writer(self) -> sqlite3.Connection:
        """The connection for writing, to be used inside `transaction` only.

        Raises ProjectError for a project open read-only.
        """
        if self._writer is None:
            raise self._is_read_only()
        return self._writer

    @property
    def journal(self) -> Journal:
        """Raises ProjectError for a project open read-only."""
        if self._journal is None:
            raise self._is_read_only()
        return self._journal

    def _is_read_only(self) -> ProjectError:
        message = _(
            "{path} is open read-only: {reason}.", path=self.path, reason=self.read_only_reason
        )
        return ProjectError(message, hint=_("No changes were made."))

    def reader(self) -> sqlite3.Connection:
        """This thread's connection for reading; within its own `transaction`, the writer.

        Fetch all rows at once: an open cursor would hold back the checkpoint. Raises ProjectError
        if the project is closed.
        """
        me = threading.get_ident()
        if self._owner == me:
            return self.writer
        conn = self._readers.get(me)
        if conn is None or conn.only != self._only:
            if self._closed:
                raise self._is_closed()
            outdated, conn = conn, self._connect_own_reader()
            with self._readers_mutex:
                if self._closed:
                    conn.close()
                    raise self._is_closed()
                self._readers[me] = conn
            if outdated is not None:
                outdated.close_soon()
        return conn

    def show_only(self, annotator_id: int | None) -> bool:
        """From now on, reading outside of edits finds labels of this annotator and of read-only
        layers only, and neither suggestions nor predictions; None: all. Returns whether that is a
        change.
        """
        before, self._only = self._only, annotator_id
        return before != annotator_id

    @property
    def hides_others(self) -> bool:
        """Whether `show_only` hides the labels of others."""
        return self._only is not None

    def require_all(self) -> None:
        """Raises ProjectError if labels of others are hidden: an edit that is prepared by reading
        would take them for missing.
        """
        if self.hides_others:
            raise ProjectError(
                _("Blind mode hides the labels of others."),
                hint=_("Turn it off in File ▸ People."),
            )

    def _connect_own_reader(self) -> Reader:
        conn = self._connect_reader()
        conn.only = self._only
        if conn.only is not None:
            _hide_others(conn, conn.only)
        return conn

    @contextmanager
    def until(self, stop: Callable[[], bool]) -> Iterator[None]:
        """Queries of this thread raise Cancelled soon after `stop()` is true, except in edits."""
        conn = self.reader()
        with conn.until(stop) if isinstance(conn, Reader) else nullcontext():
            yield

    @contextmanager
    def labels_of(self, annotator_id: int) -> Iterator[None]:
        """Within it, this thread reads the labels of this annotator in place of gold.

        For reading only: raises ProjectBusy within its own transaction; ProjectError for the labels
        of others where `show_only` hides them.
        """
        me = threading.get_ident()
        if self._owner == me:
            raise ProjectBusy(_("Labels of others cannot be read within an edit."))
        if self._only != annotator_id:
            self.require_all()
        self.reader()
        usual, conn = self._readers[me], self._connect_own_reader()
        try:
            _show_labels_of(conn, annotator_id)
            self._readers[me] = conn
            yield
        finally:
            conn.close()
            with self._readers_mutex:
                if self._closed:
                    usual.close()
                else:
                    self._readers[me] = usual

    def _is_closed(self) -> ProjectError:
        return ProjectError(_("{path} is closed.", path=self.path))

    def _connect_reader(self, *, small: bool = True) -> Reader:
        """A connection for queries only; `small`: see `_connect`.

        It is opened with write permission if possible, because the last connection of a file then
        removes the write-ahead log.
        """
        modes = ["rw", "ro"] if writable(self.path) else ["ro"]
        if self._foreign_log:  # it is only ignored in a file that is said not to change
            modes = []
        for mode in modes:
            conn = None
            try:
                conn = self._connect(f"{self.path.as_uri()}?mode={mode}", Reader, small=small)
                conn.path, conn.explain = self.path, partial(self._explain, writing=False)
                _prepare_reader(conn)
                return conn
            except (sqlite3.Error, ProjectError) as error:
                if conn is not None:
                    conn.close()
                if isinstance(error, (ProjectDamaged, ProjectMoved)):
                    raise
        log = Path(f"{self.path}-wal")
        if modes == ["rw", "ro"] and log.is_file() and log.stat().st_size:
            message = _("{path} cannot be read: its disk is full.")
            hint = _("Free up disk space, then try again.")
            raise failures.NoRoom(message.format(path=self.path), hint=hint)
        # No log can be created beside the file, so no other process writes it either.
        conn = self._connect(f"{self.path.as_uri()}?mode=ro&immutable=1", Reader, small=small)
        conn.path = self.path
        _prepare_reader(conn)
        return conn

    def checking_reader(self) -> Reader:
        """A new connection for a thorough check, to be closed by the caller. Use it within
        `temp_files.beside`, as it copies all words of the texts.

        It may create temporary tables and, within a transaction, reads one snapshot of the file.
        """
        conn = self._connect_reader(small=False)
        conn.execute("pragma query_only = off")
        return conn

    # ------------------------------------------------------------ writing

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside `transaction`."""
        return self._owner == threading.get_ident()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def busy(self) -> bool:
        """Whether another thread is writing."""
        return self._owner is not None and self._owner != threading.get_ident()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction.

        Nested transactions of the same thread are savepoints of the outer one.

        On the thread that opened the project raises ProjectBusy at once if another thread is
        writing; other threads wait.
        """
        conn = self.writer
        if not self._mutex.acquire(blocking=threading.get_ident() != self._home):
            raise ProjectBusy(
                _("Another change to the project is still being written."),
                hint=_("Wait until it has finished, then try again."),
            )
        try:
            self._owner = threading.get_ident()
            self._depth += 1
            begin, commit, rollback = _words(self._depth)
            try:
                self._prepare_writing()
                conn.execute(begin)
                if self._depth == 1:
                    self.require_place()
                    self._note_transaction(begins=True)
                yield conn
                if self._depth == 1:  # else the changes would be in no file
                    self.require_place()
                    self._written, self._copied = True, False
                    self._end = _end(conn)
                with self._own_writes() if self._depth == 1 else nullcontext():
                    conn.execute(commit)
            except BaseException as error:
                self._roll_back(conn, rollback)
                if isinstance(error, (sqlite3.Error, UnicodeEncodeError)):
                    raise self._explain(error, writing=True) from error
                raise
        finally:
            self._depth -= 1
            if not self._depth:
                self._note_transaction(begins=False)
                self._owner = None
            self._mutex.release()

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Yields the writer outside a transaction, for what SQLite does not allow within one.

        Other threads cannot write meanwhile.
        """
        with self._mutex, failures.explained(self.path, writing=True):
            self.require_place()
            self._owner = threading.get_ident()
            try:
                with self._own_writes():
                    yield self.writer
            finally:
                self._owner = None

    @contextmanager
    def copying(self) -> Iterator[sqlite3.Connection]:
        """Yields a connection to copy the whole project from, also if its file has been moved.

        Threads that have not read yet cannot open the file then, so the writer is copied. Of a file
        that was overwritten, it has the pages in its log and in its memory.
        """
        if self._writer is None or not self.moved:
            yield self.reader()
            return
        with self._mutex:
            yield self.writer
            self._copied = True

    def _explain(self, error: Exception, *, writing: bool) -> ProjectError:
        """As `failures.explain`; a file that was overwritten is not called damaged."""
        explained = failures.explain(error, self.path, writing=writing)
        if isinstance(explained, ProjectDamaged) and (how := self.moved):
            return identity.error(self.path, how)
        return explained

    def ends_as(self, copy: Database) -> bool:
        """Whether the history of a copy ends with the latest step of this project, and people and
        runs, for which there are no checksums, are the same.
        """
        return self.read_only or _end(copy.reader()) == self._end

    def _roll_back(self, conn: sqlite3.Connection, statements: tuple[str, ...]) -> None:
        for statement in statements:
            if conn.in_transaction:  # SQLite ends a transaction itself when the disk is full
                conn.execute(statement)

    def take_touched(self) -> dict[str, frozenset[int]]:
        """The runs and predictions (by run) changed in this transaction. Clears the record."""
        rows: dict[str, set[int]] = {}  # by table: "run"; "prediction" with ids of runs
        for table, id in self.writer.execute("select tbl, rid from touched").fetchall():
            rows.setdefault(table, set()).add(id)
        self.writer.execute("delete from touched")
        return {table: frozenset(ids) for table, ids in rows.items()}

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the file without waiting for other connections.

        For any thread. Does nothing while the project is being written.
        """
        if self._closed or self.read_only or self.moved:
            return
        with (
            failures.explained(self.path, writing=True),
            closing(self._connect(f"{self.path.as_uri()}?mode=rw", sqlite3.Connection)) as conn,
        ):
            conn.execute("pragma busy_timeout = 0")
            with self._own_writes():
                conn.execute("pragma wal_checkpoint(passive)").fetchall()

    def vacuum(self) -> None:
        """Rewrite the file without its free pages. Not within a transaction."""
        uri = f"{self.path.as_uri()}?mode=rw"
        with (
            failures.explained(self.path, writing=True),
            closing(self._connect(uri, sqlite3.Connection, small=False)) as conn,
            temp_files.beside(self.path),
            self._own_writes(),
        ):
            conn.execute("vacuum")

    def checkpoint_elsewhere(self) -> None:
        """Run checkpoints only in `checkpoint`, so that a commit never waits for the disk.

        Must not be called inside a transaction.
        """
        if self._writer is not None:
            self._writer.execute("pragma wal_autocheckpoint = 0")

    @property
    def may_be_written(self) -> bool:
        """Whether the file and its folder may be written, and no log of another file is there."""
        return writable(self.path) and not self._foreign_log and not self.moved

    def written_by_someone(self) -> bool:
        """Whether this or another process has the project open for writing."""
        return self._lock is not None or held(self.path)

    # ------------------------------------------------------------ meta

    def meta(self, key: str, default: object = None) -> Any:
        row = self.reader().execute("select value from meta where key = ?", (key,)).fetchone()
        return default if row is None else row[0]

    def set_meta(self, key: str, value: object) -> None:
        """Within a transaction; cannot be undone."""
        self.writer.execute("insert or replace into meta values(?, ?)", (key, value))

    def meta_number(self, key: str, default: int | None = None) -> int:
        """An integer of `meta`.

        Raises ProjectDamaged if it is missing without a default or not an integer.
        """
        value = self.meta(key, default)
        if not isinstance(value, int):
            raise failures.damaged(
                ValueError(_("the entry {key} is {value!r}", key=key, value=value)),
                self.path,
            )
        return value


def _end(conn: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    """The latest step of the history, the people, and how many runs there are."""
    return [conn.execute(statement).fetchall() for statement in _ENDS]


def _prepare_reader(conn: Reader) -> None:
    tables = "select count(*) from main.sqlite_master where name = 'state_key'"
    if not conn.execute(tables).fetchone()[0]:
        state_keys.view(conn)
    conn.execute("pragma query_only = on")


def _show_labels_of(conn: Reader, annotator_id: int) -> None:
    """Shadow the table of layers: every query reads the labels of its gold annotator."""
    gold = f"{int(annotator_id)} as gold"  # a view has no parameters
    columns = ", ".join(gold if name == "gold" else name for name in JOURNALED["layer"])
    conn.execute("pragma query_only = off")
    conn.execute(f"create temp view layer as select {columns} from main.layer")
    conn.execute("pragma query_only = on")


def _hide_others(conn: Reader, annotator_id: int) -> None:
    """Shadow the tables of labels, suggestions and predictions."""
    own = (  # a view has no parameters
        f"(annotator_id = {int(annotator_id)}"
        f" or layer_id in (select id from main.layer where {IS_READ_ONLY}))"
    )
    conditions = dict.fromkeys(LABEL_TABLES, own) | {"suggestion": "0", "prediction": "0"}
    conn.execute("pragma query_only = off")
    for table, condition in conditions.items():
        conn.execute(f"create temp view {table} as select * from main.{table} where {condition}")
    conn.execute("pragma query_only = on")


def _words(depth: int) -> tuple[str, str, tuple[str, ...]]:
    if depth == 1:
        return "begin immediate", "commit", ("rollback",)
    return (
        f"savepoint s{depth}",
        f"release s{depth}",
        (f"rollback to s{depth}", f"release s{depth}"),
    )


def touched_triggers() -> Iterator[str]:
    """SQL of the triggers that record changed runs and predictions in the temporary table."""
    for table, column, events in (
        ("run", "id", ("insert", "update", "delete")),
        ("prediction", "run_id", ("insert", "delete")),
    ):
        for event in events:
            row = "old" if event == "delete" else "new"
            yield (
                f"create temp trigger touch_{table}_{event} after {event} on main.{table} begin"
                f" insert or ignore into touched values('{table}', {row}.{column}); end"
            )
