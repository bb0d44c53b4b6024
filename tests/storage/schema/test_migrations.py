import gzip
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from workbench.operations.documents import corpus
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import suggestions
from workbench.storage.connections import header
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.storage.schema import migrations, tables

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def conn():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        yield conn


def version(conn) -> int:
    return conn.execute("pragma user_version").fetchone()[0]


def new_table(db):
    db.table("extra").create({"id": int, "name": str}, pk="id")


def breaks(db):
    db.table("more").create({"id": int}, pk="id")
    raise ValueError("no")


def test_sqlite_utils_applies_the_migrations_and_notes_them(conn):
    migrations.apply(conn)

    assert conn.execute("select migration_set, name from _sqlite_migrations").fetchall() == [
        ("glossbench", "m001_first_schema"),
        ("glossbench", "m002_checksums"),
        ("glossbench", "m003_patterns"),
        ("glossbench", "m004_state_keys"),
        ("glossbench", "m005_remarks_on_spans"),
        ("glossbench", "m006_sums_of_deletions"),
        ("glossbench", "m007_whole_prompts"),
    ]
    assert version(conn) == migrations.CURRENT == 7


def test_only_what_the_file_lacks_is_applied(conn):
    migrations.apply(conn)

    migrations.apply(conn, (*migrations.MIGRATIONS, new_table))

    assert [
        name for (name,) in conn.execute("select name from _sqlite_migrations order by id")
    ] == [
        "m001_first_schema",
        "m002_checksums",
        "m003_patterns",
        "m004_state_keys",
        "m005_remarks_on_spans",
        "m006_sums_of_deletions",
        "m007_whole_prompts",
        "new_table",
    ]
    assert version(conn) == migrations.CURRENT + 1


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(conn):
    migrations.apply(conn)
    before = list(conn.iterdump())

    with pytest.raises(ValueError):
        migrations.apply(conn, (*migrations.MIGRATIONS, new_table, breaks))

    assert list(conn.iterdump()) == before and not conn.in_transaction
    assert version(conn) == migrations.CURRENT


@pytest.fixture
def oldest(tmp_path):
    """A project file of version 1: three layers, four documents, a run, a prompt, a history."""
    path = tmp_path / "old.glossbench"
    path.write_bytes(gzip.decompress((DATA / "version1.glossbench.gz").read_bytes()))
    return path


def test_the_oldest_file_is_upgraded_and_loses_nothing_but_its_history(oldest):
    with closing(Project.open(oldest, read_only=True)) as project:
        before = list(documents.records(project.db))
    assert check(oldest) == []

    with closing(Project.open(oldest)) as project:
        assert header.examine(project.db.upgraded_copy).version == 1
        assert list(documents.records(project.db)) == before and len(before) == 4
        assert [run.name for run in runs.all(project.db)] == ["first"]
        assert len(runs.predictions(project.db, 1)) == 1
        assert project.history() == () and "from version 1" in project.history_end

    assert header.examine(oldest).version == migrations.CURRENT
    assert check(oldest) == []


def test_an_upgraded_file_keeps_checksums_from_then_on(oldest):
    with closing(Project.open(oldest)) as project:
        corpus.set_split(project, [1, 2], "test")
    with closing(sqlite3.connect(oldest)) as conn:
        conn.execute("update document set split = 'train' where id = 2")
        conn.commit()

    assert check(oldest) == [
        "Document 2 (b) or its labels, states or suggestions were changed outside Glossbench."
    ]


def test_suggestions_of_runs_that_were_deleted_are_dropped(oldest):
    with closing(Project.open(oldest)) as project:
        left = [suggestions.suggestions(project.db, id) for id in (2, 4)]

    assert [[item.source for item in found] for found in left] == [[], ["first"]]


def test_suggestions_of_no_run_are_kept_if_the_file_has_no_runs(oldest):
    with closing(sqlite3.connect(oldest, isolation_level=None)) as conn:
        conn.execute("pragma foreign_keys = on")
        conn.execute("delete from run")
        conn.execute("update suggestion set run_id = null where document_id = 4")

    with closing(Project.open(oldest)) as project:
        left = [len(suggestions.suggestions(project.db, id)) for id in (2, 4)]

    assert left == [0, 2] and check(oldest) == []


def test_every_journaled_table_fits_the_journal(conn):
    migrations.apply(conn)

    for table in migrations.JOURNALED:
        columns = conn.execute(
            f"select name, type, pk from pragma_table_info('{table}')"
        ).fetchall()
        assert (
            columns[0] == ("id", "INTEGER", 1) and len(columns) - 1 <= migrations.JOURNAL_WIDTH
        ), table


def test_the_description_of_the_columns_is_that_of_the_schema(conn):
    migrations.apply(conn)

    for table, columns in tables.TABLES.items():
        rows = conn.execute("select * from pragma_table_info(?)", (table,)).fetchall()
        assert [row[1] for row in rows] == list(columns), table
        for _place, name, declared, not_null, _default, key in rows:
            column = columns[name]
            if column.storage in ("integer", "real", "text", "blob"):
                assert declared.lower() == column.storage, (table, name)
            assert bool(not_null or key) != column.null or table == "meta", (table, name)
    assert tuple(tables.JOURNALED) == migrations.JOURNALED


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


def test_a_history_of_version_5_is_checked_by_its_own_sums(tmp_path):
    path = tmp_path / "five.glossbench"
    path.write_bytes(gzip.decompress((DATA / "version5.glossbench.gz").read_bytes()))
    assert check(path) == []
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("update journal_row set c2 = 'tags' where tbl = 'body' and op = 'insert'")
        conn.commit()

    (problem,) = check(path)

    assert "Delete" in problem
    with closing(Project.open(path)) as project:
        assert [record.document.key for record in documents.records(project.db)] == ["k0", "k3"]
    assert check(path) == [] and header.examine(path).version == migrations.CURRENT
