import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from workbench.project.project import Project
from workbench.storage import migrations


@pytest.fixture
def conn():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        yield conn


def version(conn) -> int:
    return conn.execute("pragma user_version").fetchone()[0]


def m002_new_table(db):
    db.table("extra").create({"id": int, "name": str}, pk="id")


def m003_breaks(db):
    db.table("more").create({"id": int}, pk="id")
    raise ValueError("no")


def test_sqlite_utils_applies_the_migrations_and_notes_them(conn):
    migrations.apply(conn)

    assert conn.execute("select migration_set, name from _sqlite_migrations").fetchall() == [
        ("glossbench", "m001_first_schema")
    ]
    assert version(conn) == migrations.CURRENT == 1


def test_only_what_the_file_lacks_is_applied(conn):
    migrations.apply(conn)

    migrations.apply(conn, (migrations.m001_first_schema, m002_new_table))

    assert [
        name for (name,) in conn.execute("select name from _sqlite_migrations order by id")
    ] == ["m001_first_schema", "m002_new_table"]
    assert version(conn) == 2


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(conn):
    migrations.apply(conn)
    before = list(conn.iterdump())

    with pytest.raises(ValueError):
        migrations.apply(conn, (migrations.m001_first_schema, m002_new_table, m003_breaks))

    assert list(conn.iterdump()) == before and version(conn) == 1 and not conn.in_transaction


def test_every_journaled_table_fits_the_journal(conn):
    migrations.apply(conn)

    for table in migrations.JOURNALED:
        columns = conn.execute(
            f"select name, type, pk from pragma_table_info('{table}')"
        ).fetchall()
        assert (
            columns[0] == ("id", "INTEGER", 1) and len(columns) - 1 <= migrations.JOURNAL_WIDTH
        ), table


def test_only_ids_of_documents_and_runs_are_never_given_again(conn):
    migrations.apply(conn)

    lasting = conn.execute(
        "select name from sqlite_master where sql like '%autoincrement%' order by name"
    ).fetchall()
    assert lasting == [("document",), ("run",)]


def test_text_is_only_inserted_and_deleted(conn):
    migrations.apply(conn)
    conn.execute(
        "insert into document(uid, key, text_hash, length, texts) values('u', 'k', 'h', 1, 1)"
    )
    conn.execute("insert into body(document_id, field, content) values(1, 'text', 'a')")

    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        conn.execute("update body set content = 'b'")


CODE = """
import sys, types
from pathlib import Path
sys.path.insert(0, {fakes!r})
from workbench.project.project import Project
{call}
print([name for name in ("sqlite_utils", "pandas", "click") if name in sys.modules])
"""


def loaded_by(call: str, folder) -> str:
    (folder / "pandas.py").write_text("class Timestamp: pass", encoding="utf-8")
    program = CODE.format(fakes=str(folder), call=call)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


@pytest.mark.process
def test_opening_a_project_that_is_up_to_date_does_not_import_sqlite_utils(tmp_path):
    Project.create(tmp_path / "p.glossbench").close()

    assert loaded_by(f"Project.open({str(tmp_path / 'p.glossbench')!r}).close()", tmp_path) == "[]"


@pytest.mark.process
def test_creating_a_project_imports_sqlite_utils_without_the_pandas_it_would_take(tmp_path):
    assert (
        loaded_by(f"Project.create({str(tmp_path / 'p.glossbench')!r}).close()", tmp_path)
        == "['sqlite_utils', 'click']"
    )
