"""Patterns: word lists and regular expressions that suggest a label. Undoable."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in, new_id, new_uid
from workbench.text.queries.patterns import Pattern

_COLUMNS = "label_id, kind, body, whole_words, match_case, active, note"


def all(db: Database) -> tuple[Pattern, ...]:
    """All patterns, in the order in which they were added."""
    read = db.reader().execute
    if not read("select 1 from sqlite_master where name = 'pattern'").fetchone():
        return ()  # a file of an older version, opened read-only
    rows = read(f"select id, {_COLUMNS} from pattern order by id").fetchall()
    return tuple(
        Pattern(kind, body, label, bool(whole), bool(case), bool(active), note, id)
        for id, label, kind, body, whole, case, active, note in rows
    )


def add(db: Database, patterns: Iterable[Pattern]) -> list[int]:
    """Insert patterns; returns their ids in order. Their own ids are ignored."""
    statement = f"insert into pattern(uid, {_COLUMNS}) values(?, ?, ?, ?, ?, ?, ?, ?)"
    return [
        new_id(db.writer.execute(statement, (new_uid(), *_values(pattern)))) for pattern in patterns
    ]


def update(db: Database, pattern: Pattern) -> None:
    """Store the new values of the pattern with this id. Raises KeyError if there is none."""
    changes = ", ".join(f"{column} = ?" for column in _COLUMNS.split(", "))
    done = db.writer.execute(
        f"update pattern set {changes} where id = ?", (*_values(pattern), pattern.id)
    )
    if not done.rowcount:
        raise KeyError(pattern.id)


def remove(db: Database, ids: Iterable[int]) -> int:
    """Delete patterns; returns their number."""
    statement = "delete from pattern where id in (select value from json_each(?))"
    return db.writer.execute(statement, (ids_in(ids),)).rowcount


def _values(pattern: Pattern) -> tuple[object, ...]:
    flags = int(pattern.whole_words), int(pattern.match_case), int(pattern.active)
    return (pattern.label_id, pattern.kind, pattern.body, *flags, pattern.note)
