"""Temporary triggers are created at once as `create temp trigger` creates them."""

import sqlite3

import pytest

from workbench.storage.connections import changed_rows
from workbench.storage.integrity import checksums
from workbench.storage.journal import journal_triggers
from workbench.storage.queries import search, state_keys

SCHEMA = "select type, name, tbl_name, rootpage, sql from sqlite_temp_master order by name"


@pytest.fixture
def connect(project):
    opened = []

    def connect():
        conn = sqlite3.connect(project.path, isolation_level=None)
        opened.append(conn)
        return conn

    yield connect
    for conn in opened:
        conn.close()


def every():
    return [
        *search.index_triggers(),
        *changed_rows.triggers(),
        *checksums.triggers(),
        *state_keys.triggers(),
    ]


def test_the_schema_is_that_of_single_statements(connect):
    together, singly = connect(), connect()

    journal_triggers.create(together, every())
    for statement in every():
        singly.execute(statement)

    assert len(every()) > 60
    assert together.execute(SCHEMA).fetchall() == singly.execute(SCHEMA).fetchall()


def test_where_the_schema_cannot_be_written_they_are_created_singly(connect):
    def refuse(action, name, *_others):
        switch = action == sqlite3.SQLITE_PRAGMA and name == "writable_schema"
        return sqlite3.SQLITE_IGNORE if switch else sqlite3.SQLITE_OK

    protected, singly = connect(), connect()
    protected.set_authorizer(refuse)
    with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
        protected.execute("pragma writable_schema = on")
        protected.execute("insert into sqlite_temp_master values('trigger', 'x', 'y', 0, '')")

    journal_triggers.create(protected, every())
    for statement in every():
        singly.execute(statement)

    assert protected.execute(SCHEMA).fetchall() == singly.execute(SCHEMA).fetchall()


def test_afterwards_the_schema_is_protected_again(connect):
    conn = connect()

    journal_triggers.create(conn, every())

    with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
        conn.execute("delete from sqlite_temp_master")


def test_a_statement_of_another_form_is_refused(connect):
    with pytest.raises(ValueError, match="creates no trigger"):
        journal_triggers.create(connect(), ["create table x(id)"])
