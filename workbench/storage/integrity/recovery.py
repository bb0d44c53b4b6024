"""Writes what can be read of a damaged project into a new file.

The pages of the file are read one by one (`raw_pages`), so that a damaged page loses only its own
rows. Rows are then checked as `integrity` checks them: invalid ones are left out, names of lost
layers, labels and documents are made up, and derived tables are computed again. The history is kept
only if nothing was lost, as undo needs every row that it refers to.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import ProjectError, ProjectLocked
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.storage.connections import backup, header, identity, lock
from workbench.storage.connections.lock import held
from workbench.storage.integrity import checksums, value_check
from workbench.storage.integrity.raw_pages import INDEX_LEAF, RawPages, RawRow
from workbench.storage.integrity.repair import Repair, columns, listed
from workbench.storage.queries import search, state_keys
from workbench.storage.schema import migrations
from workbench.storage.schema.tables import TABLES, of_version

_HISTORY = ("journal_step", "journal_row")
_WITHOUT_ROWID = ("meta", "prediction", "checksum")
_INSERTED = 5_000  # rows between two reports of progress


@dataclass(frozen=True)
class Recovered:
    """`rows`: table → rows in the new file. `lost`: sentences; empty if everything was read."""

    documents: int
    rows: Mapping[str, int]
    lost: tuple[str, ...]


def recover(path: Path, target: Path | None, *, watch: Watch = QUIET) -> Recovered:
    """Write what can be read of the project at `path` to the new file `target`.

    With None, only report what can be recovered. `path` is not changed. Raises ProjectError if
    there is nothing to recover, the project is of a newer version or `target` exists;
    ProjectLocked if the project is open for writing.
    """
    version = _version(path)
    if target is not None and target.exists():
        raise ProjectError(
            _("{target} exists already.", target=target), hint=_("Choose another name.")
        )
    if held(path):
        raise ProjectLocked(
            _("{path} is open in another window or command.", path=path),
            hint=_("Close it there, then try again."),
        )
    if target is not None:
        backup.delete_abandoned(target.parent)
    draft = target and target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with closing(sqlite3.connect(draft or ":memory:", isolation_level=None)) as conn:
            recovered = _Recovery(path, version, conn).run(watch)
        if draft and target:
            os.replace(draft, target)
    except (OSError, sqlite3.Error) as error:
        raise ProjectError(
            _("{target} could not be written: {error}.", target=target or path, error=error),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    finally:
        if draft:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    return recovered


def _version(path: Path) -> int:
    """The version of the file; the current one if its header is damaged."""
    try:
        version = header.examine(path).version
    except ProjectError:
        if not path.is_file() or path.stat().st_size < 512:
            raise
        with path.open("rb") as file:
            head = file.read(100)
        (version,) = struct.unpack(">I", head[60:64])
        if not 0 < version <= migrations.CURRENT:
            version = migrations.CURRENT
    if version > migrations.CURRENT:
        raise ProjectError(
            _("{path} was created by a newer version of Glossbench.", path=path),
            hint=_("Recover it with that version."),
        )
    return version or migrations.CURRENT


class _Recovery:
    """One recovery into the empty database of `conn`."""

    def __init__(self, path: Path, version: int, conn: sqlite3.Connection):
        self.path, self.version, self.conn = path, version, conn
        foreign = identity.is_foreign_log(path, lock.noted(path))
        self.pages = RawPages(path, log=not foreign)
        self.dropped = Counter[str]()  # table → rows that were not valid
        self.lost: list[str] = []
        self.broken = 0
        self._differs = False  # from the checksums

    def run(self, watch: Watch) -> Recovered:
        conn = self.conn
        conn.execute("pragma journal_mode = memory")
        conn.execute(f"pragma application_id = {header.APPLICATION_ID}")
        migrations.apply(conn, migrations.MIGRATIONS[: self.version])
        for register in (checksums.register, value_check.register):
            register(conn)
        conn.create_function("seg", 1, search.seg, deterministic=True)
        conn.execute("begin")
        self._read(watch.part(0.0, 0.6))
        if not any(self._count(table) for table in ("document", "body", "layer", "run")):
            raise ProjectError(
                _("Nothing can be recovered from {path}.", path=self.path),
                hint=_("Restore it from a backup."),
            )
        self._take(Repair(conn, self.version))
        watch.at(0.7)
        self._compare()
        self._keep_history()
        self._derive(watch.part(0.7, 1.0))
        conn.execute("commit")
        migrations.apply(conn)
        rows = {table: count for table in TABLES if (count := self._count(table))}
        return Recovered(rows.get("document", 0), rows, tuple(self._report()))

    def _take(self, mending: Repair) -> None:
        mending.run()
        self.dropped += mending.dropped
        self.broken += mending.made_up
        self.lost += mending.lost

    def _count(self, table: str) -> int:
        if table not in of_version(self.version):
            return 0
        return int(self.conn.execute(f"select count(*) from {table}").fetchone()[0])

    # ------------------------------------------------------------ reading

    def _read(self, watch: Watch) -> None:
        roots = self._roots()
        tables = [*of_version(self.version), "journal_row", "sqlite_sequence"]
        if self.version >= 2:
            tables.append("checksum")
        for place, table in enumerate(tables):
            part = watch.part(place / len(tables), (place + 1) / len(tables))
            if table in roots:
                self._insert(table, self.pages.rows(roots[table]), part)
            else:
                self.broken += table != "sqlite_sequence"  # in a file without documents and runs
        read = self.pages.broken
        for name in roots.keys() - set(tables):
            for _row in self.pages.rows(roots[name]):  # so that its pages are known
                pass
        self.broken += read
        if self.broken:
            for kind, rows in self.pages.orphans():
                if (owner := self._table_of(kind, rows)) is not None:
                    self._insert(owner, iter(rows), QUIET)

    def _roots(self) -> dict[str, int]:
        """Table or index → its first page, as the schema of the file gives it."""
        roots = {}
        for row in self.pages.rows(1):
            if len(row.values) == 5 and isinstance(row.values[3], int) and row.values[3] > 1:
                roots[str(row.values[1])] = row.values[3]
        return roots

    def _table_of(self, kind: int, rows: list[RawRow]) -> str | None:
        """The only table in which all rows of a page are valid; None if there is no such table."""
        tables = (
            _WITHOUT_ROWID[:2] if kind == INDEX_LEAF else (*of_version(self.version), *_HISTORY)
        )
        fitting = [table for table in dict.fromkeys(tables) if self._all_fit(table, kind, rows)]
        return fitting[0] if len(fitting) == 1 else None

    def _all_fit(self, table: str, kind: int, rows: list[RawRow]) -> bool:
        if (table in _WITHOUT_ROWID) != (kind == INDEX_LEAF):
            return False
        names = columns(self.conn, table)
        if any(len(row.values) > len(names) for row in rows):
            return False
        if table == "meta":  # an index of texts looks like it
            return {"uid", "seed"} <= {str(row.values[0]) for row in rows}
        if table == "journal_row":
            return all(len(row.values) == len(names) and row.values[2] in TABLES for row in rows)
        short = len(names) - 1  # columns that were added later may be missing
        if any(len(row.values) < short for row in rows):
            return False
        self.conn.execute("savepoint trying")
        try:
            stored = self._store(table, rows, or_ignore=False)
            return stored == len(rows) and not value_check.delete_wrong(self.conn, table)
        except sqlite3.Error:
            return False
        finally:
            self.conn.execute("rollback to trying")
            self.conn.execute("release trying")

    def _insert(self, table: str, rows: Iterator[RawRow], watch: Watch) -> None:
        chunk: list[RawRow] = []
        for row in rows:
            chunk.append(row)
            if len(chunk) == _INSERTED:
                watch.at(0.5)
                self.dropped[table] += len(chunk) - self._store(table, chunk)
                chunk = []
        self.dropped[table] += len(chunk) - self._store(table, chunk)

    def _store(self, table: str, rows: Iterable[RawRow], *, or_ignore: bool = True) -> int:
        """Insert rows; returns the number of those that were inserted."""
        names = columns(self.conn, table)
        keyed = table not in (*_WITHOUT_ROWID, "sqlite_sequence")
        many = []
        for row in rows:
            values = [*row.values, *[None] * (len(names) - len(row.values))][: len(names)]
            many.append((row.id, *values[1:]) if keyed else tuple(values))
        ignore = "or ignore " if or_ignore else ""
        marks, before = ", ".join("?" * len(names)), self.conn.total_changes
        self.conn.executemany(f"insert {ignore}into {table} values({marks})", many)
        return self.conn.total_changes - before

    # ------------------------------------------------------------ history and derived tables

    def _compare(self) -> None:
        """Compare the rows with their checksums, which reveal changed and lost rows."""
        if self.version < 2:
            return
        known = dict(self.conn.execute("select owner, 1 from checksum where name = 'document'"))
        differing = {
            of for name, of in checksums.differences(self.conn) if name != "document" or of in known
        }
        keys = dict(self.conn.execute("select id, key from document"))
        changed = [keys[id] for id in sorted(differing & keys.keys())]
        self._differs = bool(differing)
        message = ngettext(
            "{n:,} document lost labels or has changed values",
            "{n:,} documents lost labels or have changed values",
            len(changed),
        )
        self.lost += listed(message, changed)

    def _keep_history(self) -> None:
        conn = self.conn
        if not (self.broken or self.lost or self._differs or self.dropped.total()):
            with suppress(sqlite3.Error, KeyError, TypeError, ValueError):
                if next(value_check.history_problems(conn), None) is None:
                    return
        (steps,) = conn.execute("select count(*) from journal_step").fetchone()
        for table in _HISTORY:
            conn.execute(f"delete from {table}")
        if steps:
            reason = _("the project was recovered from a damaged file")
            conn.execute("insert or replace into meta values('journal_cut', ?)", (reason,))
            message = ngettext(
                "The history ({n:,} step) was not kept.",
                "The history ({n:,} steps) was not kept.",
                steps,
            )
            self.lost.append(message)

    def _derive(self, watch: Watch) -> None:
        conn = self.conn
        conn.execute("insert into search(rowid, content) select id, seg(content) from body")
        watch.at(0.5)
        if self.version >= 4:
            state_keys.rebuild(conn)
        if self.version >= 2:
            checksums.rebuild(conn)

    def _report(self) -> Iterator[str]:
        if self.broken:
            yield ngettext(
                "{n:,} place in the file could not be read.",
                "{n:,} places in the file could not be read.",
                self.broken,
            )
        yield from self.lost
        for table, count in sorted(self.dropped.items()):
            if count and table not in (*_HISTORY, "sqlite_sequence"):
                yield ngettext(
                    "{n:,} row of {table} was damaged or belonged to lost rows.",
                    "{n:,} rows of {table} were damaged or belonged to lost rows.",
                    count,
                    table=table,
                )
