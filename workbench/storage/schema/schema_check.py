"""Whether the schema of a project file is the one that this program creates; triggers and views of
other programs are refused before anything is written.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.storage.schema import migrations


class ForeignObject(ProjectError):
    """The file must be opened read-only.

    `reason` is a clause that completes "{file} is read-only: …".
    """

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class ForeignItem:
    """A trigger or view that does not belong to the schema, or a trigger of it that was changed."""

    kind: str  # "trigger" or "view"
    name: str
    table: str
    changed: bool  # the schema has a trigger of this name with other SQL

    def __str__(self) -> str:
        if self.kind == "view":
            return _("the view {name}", name=self.name)
        return _("the trigger {name} on {table}", name=self.name, table=self.table)


def normalised(sql: str | None) -> str:
    """SQL with quotes, case and spacing normalized, to compare schemas."""
    return re.sub(r"\s+", " ", re.sub(r'["`\[\]]', "", sql or "")).strip().lower()


def found(conn: sqlite3.Connection) -> tuple[ForeignItem, ...]:
    """All foreign triggers and views. Reads only the schema, so that none of them runs."""
    own = {name: normalised(sql) for name, sql in migrations.TRIGGERS.items()}
    rows = conn.execute(
        "select type, name, tbl_name, sql from main.sqlite_master"
        " where type in ('trigger', 'view') order by name"
    ).fetchall()
    return tuple(
        ForeignItem(kind, name, table, name in own)
        for kind, name, table, sql in rows
        if own.get(name) != normalised(sql)
    )


def refuse(conn: sqlite3.Connection) -> None:
    """Raises ForeignObject if the file has triggers or views that this program did not create."""
    objects = found(conn)
    if not objects:
        return
    first = objects[0]
    if first.changed:
        message = _(
            "another program changed {object}, which could change your data; restore the project "
            "from a backup"
        )
    else:
        message = _(
            "it contains {object}, which Glossbench did not create and which could change your "
            "data; restore the project from a backup, or remove it with an SQLite tool "
            '(DROP {kind} "{name}")'
        )
    raise ForeignObject(message.format(object=first, kind=first.kind.upper(), name=first.name))


Key = tuple[str, str]  # kind (table, index, trigger, view) and name


def problems(conn: sqlite3.Connection, version: int) -> Iterator[str]:
    """One sentence for each table, column, index, trigger and view that is missing, extra or
    changed.
    """
    expected, have = _expected(version), _described(conn)
    for key, sql in expected.items():
        if key not in have:
            yield _missing(*key)
        elif have[key] != sql:
            yield from _changed(conn, version, *key)
    for kind, name in have.keys() - expected.keys():
        yield _extra(kind, name)


def _described(conn: sqlite3.Connection) -> Mapping[Key, str]:
    """(kind, name) → SQL. SQLite's own tables are left out; ANALYZE, for one, adds some."""
    rows = conn.execute(
        "select type, name, sql from main.sqlite_master where sql is not null"
        " and name not like 'sqlite\\_%' escape '\\' order by type desc, name"
    ).fetchall()
    return {(kind, name): normalised(sql) for kind, name, sql in rows}


@lru_cache(maxsize=4)
def _expected(version: int) -> Mapping[Key, str]:
    with closing(_new(version)) as conn:
        return _described(conn)


def _new(version: int) -> sqlite3.Connection:
    """A new, empty project in memory."""
    conn = sqlite3.connect(":memory:", isolation_level=None)
    migrations.apply(conn, migrations.MIGRATIONS[:version])
    return conn


def _missing(kind: str, name: str) -> str:
    if kind == "table":
        return _("The table {name} is missing.", name=name)
    if kind == "index":
        return _("The index {name} is missing.", name=name)
    return _("The trigger {name} is missing.", name=name)


def _extra(kind: str, name: str) -> str:
    sentences = {
        "table": _("The table {name} does not belong to a Glossbench project."),
        "index": _("The index {name} does not belong to a Glossbench project."),
        "trigger": _("The trigger {name} does not belong to a Glossbench project."),
        "view": _("The view {name} does not belong to a Glossbench project."),
    }
    return sentences[kind].format(name=name)


def _changed(conn: sqlite3.Connection, version: int, kind: str, name: str) -> Iterator[str]:
    if kind == "index":
        yield _("The definition of the index {name} was changed.", name=name)
    elif kind == "trigger":
        yield _("The definition of the trigger {name} was changed.", name=name)
    else:
        yield from _changed_table(conn, version, name)


def _changed_table(conn: sqlite3.Connection, version: int, name: str) -> Iterator[str]:
    have = _columns(conn, name)
    with closing(_new(version)) as new:
        expected = _columns(new, name)
    for column in sorted(expected - have):
        yield _("The table {table} lacks the column {column}.", table=name, column=column)
    for column in sorted(have - expected):
        yield _(
            "The table {table} has a column {column} that does not belong there.",
            table=name,
            column=column,
        )
    if have == expected:
        yield _("The definition of the table {name} was changed.", name=name)


def _columns(conn: sqlite3.Connection, table: str) -> set[str]:
    rows = conn.execute("select name from pragma_table_xinfo(?)", (table,)).fetchall()
    return {name for (name,) in rows}
