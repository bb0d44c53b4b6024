"""Is the file sound? Every check gives sentences; none of them changes anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.storage import migrations
from workbench.storage.database import Database
from workbench.storage.values import text_out
from workbench.text.document import text_hash

if TYPE_CHECKING:
    from sqlite_utils.db import Table

SHOWN = 20  # of one kind


def problems(db: Database) -> Iterator[str]:
    """Everything that is not as it should be; the worst first."""
    try:
        yield from _file(db)
        yield from _schema(db)
        yield from _references(db)
        yield from _search(db)
        yield from _texts(db)
        yield from _spans(db)
        yield from _sources(db)
        yield from _labels(db)
        yield from _journal(db)
    except (ProjectError, sqlite3.DatabaseError) as error:
        yield _("{path} cannot be read to the end: {error}").format(path=db.path, error=error)


def _file(db: Database) -> Iterator[str]:
    for (line,) in db.reader().execute(f"pragma integrity_check({SHOWN})").fetchall():
        if line != "ok":
            yield _("The file is damaged: {line}.").format(line=line)


def _schema(db: Database) -> Iterator[str]:
    """Beside a new project: another program may have dropped or rebuilt something."""
    have = migrations.described(db.reader())
    (version,) = db.reader().execute("pragma user_version").fetchone()
    if version != migrations.CURRENT:
        return  # another version has other tables
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrations.apply(conn)
        for table in migrations.described(conn).tables:
            yield from _table(table, have.table(table.name))


def _table(wanted: Table, have: Table) -> Iterator[str]:
    if not have.exists():
        yield _("The table {table} is missing.").format(table=wanted.name)
        return
    for column in wanted.columns_dict.keys() - have.columns_dict.keys():
        yield _("The table {table} lacks the column {column}.").format(
            table=wanted.name, column=column
        )
    for name in {one.name for one in wanted.indexes} - {one.name for one in have.indexes}:
        yield _("The table {table} lacks the index {name}.").format(table=wanted.name, name=name)
    for name in {one.name for one in wanted.triggers} - {one.name for one in have.triggers}:
        yield _("The table {table} lacks the trigger {name}.").format(table=wanted.name, name=name)


def _references(db: Database) -> Iterator[str]:
    found = db.reader().execute("pragma foreign_key_check").fetchall()
    for table, id, parent, _key in found[:SHOWN]:
        yield _("Row {id} of {table} refers to a row of {parent} that is not there.").format(
            id=id, table=table, parent=parent
        )
    if len(found) > SHOWN:
        yield _("… and {n} more such references.").format(n=len(found) - SHOWN)


def _search(db: Database) -> Iterator[str]:
    read = db.reader().execute
    (missing,) = read(
        "select count(*) from body where id not in (select id from search_docsize)"
    ).fetchone()
    (surplus,) = read(
        "select count(*) from search_docsize where id not in (select id from body)"
    ).fetchone()
    if missing or surplus:
        told = _("The full-text index lacks {missing} texts and has {surplus} that are gone.")
        yield told.format(missing=missing, surplus=surplus)
    if db.may_be_written:  # the command writes nothing, but SQLite asks for the right to
        with closing(sqlite3.connect(db.path, timeout=10, isolation_level=None)) as conn:
            try:
                conn.execute("insert into search(search) values('integrity-check')")
            except sqlite3.OperationalError:
                return  # a writer is in the middle of a long step
            except sqlite3.DatabaseError as error:
                yield _("The full-text index is damaged: {error}.").format(error=error)


def _texts(db: Database) -> Iterator[str]:
    """Texts are what was imported: their hashes say so."""
    read, last = db.reader().execute, 0
    while True:
        page = read(
            "select id, key, text_hash, length, texts from document where id > ? order by id limit 500",
            (last,),
        ).fetchall()
        if not page:
            return
        first, last = page[0][0], page[-1][0]
        bodies: dict[int, list[tuple[str, str]]] = {}
        texts = read(
            "select document_id, field, content from body where document_id between ? and ? order by id",
            (first, last),
        )
        for id, field, content in texts.fetchall():
            bodies.setdefault(id, []).append((field, text_out(content)))
        for id, key, expected, length, count in page:
            have = tuple(bodies.get(id, ()))
            if (
                len(have) != count
                or sum(len(content) for _field, content in have) != length
                or text_hash(have) != expected
            ):
                yield _(
                    "The text of document {id} ({key}) is not the one that was imported."
                ).format(id=id, key=key)


def _spans(db: Database) -> Iterator[str]:
    read = db.reader().execute
    for table, strange, beyond in (
        (
            "span",
            _("A span of document {document} lies in a text {field!r} that it does not have."),
            _(
                "A span of document {document} ends at {end}, beyond its text of {length} characters."
            ),
        ),
        (
            "suggestion",
            _(
                "A suggestion of document {document} lies in a text {field!r} that it does not have."
            ),
            _(
                "A suggestion of document {document} ends at {end}, beyond its text of {length} characters."
            ),
        ),
    ):
        ends = read(
            f'select document_id, field, max("end") from {table} where start is not null group by document_id, field'
        ).fetchall()
        bodies = "select field, content from body where document_id = ?"
        for document, field, end in ends:
            length = {
                name: len(text_out(content))
                for name, content in read(bodies, (document,)).fetchall()
            }.get(field)
            if length is None:
                yield strange.format(document=document, field=field)
            elif end > length:
                yield beyond.format(document=document, end=end, length=length)


def _sources(db: Database) -> Iterator[str]:
    for table in ("mark", "span", "suggestion", "relation", "answer"):
        statement = f"select count(*) from {table} where source_id not in (select id from source)"
        (lost,) = db.reader().execute(statement).fetchone()
        if lost:
            yield _("{n} rows of {table} do not say where they come from.").format(
                n=lost, table=table
            )


def _labels(db: Database) -> Iterator[str]:
    for table in ("mark", "span", "suggestion"):
        statement = f"select count(*) from {table} t join label l on l.id = t.label_id where l.layer_id != t.layer_id"
        (wrong,) = db.reader().execute(statement).fetchone()
        if wrong:
            yield _("{n} rows of {table} bear a label of another layer.").format(
                n=wrong, table=table
            )


def _journal(db: Database) -> Iterator[str]:
    read = db.reader().execute
    (lost,) = read(
        "select count(*) from journal_row where step_id not in (select id from journal_step)"
    ).fetchone()
    if lost:
        yield _("The history holds {n} rows that belong to no step.").format(n=lost)
    marks = ", ".join("?" * len(migrations.JOURNALED))
    (strange,) = read(
        f"select count(*) from journal_row where tbl not in ({marks})", migrations.JOURNALED
    ).fetchone()
    if strange:
        yield _("The history holds {n} rows of tables that it does not know.").format(n=strange)
