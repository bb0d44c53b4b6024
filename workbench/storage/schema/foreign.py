"""Detects triggers and views of other programs in a project file.

A trigger in the file runs with every change, so it could alter or delete texts and labels
unnoticed; a view could replace a table. Such a file is opened read-only.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

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
