import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import ProjectBusy, ProjectDamaged, ProjectError
from workbench.operations.documents import corpus
from workbench.project.project import Project
from workbench.storage.connections import failures
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


def add_document(project):
    with project.edit("Add document"):
        record = Record(Document("d", (("text", "Ada met Bob."),)))
        documents.add(project.db, [record], source_id=project.source("import"))


def error_of(statement: str) -> sqlite3.Error:
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("create table t(x unique not null)")
        conn.execute("insert into t values(1)")
        with pytest.raises(sqlite3.Error) as raised:
            conn.execute(statement)
    return raised.value


def locked() -> sqlite3.Error:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (error_of("insert into t values(1)"), ProjectError, "rejected a change.*UNIQUE"),
        (error_of("select * from absent"), ProjectDamaged, "damaged: no such table"),
        (sqlite3.DatabaseError("malformed"), ProjectDamaged, "damaged: malformed"),
        (locked(), ProjectBusy, "locked by another program"),
        (
            sqlite3.OperationalError("database or disk is full"),
            failures.NoRoom,
            "Free up disk space",
        ),
        (sqlite3.ProgrammingError("closed"), ProjectError, "closed.*report it as a bug"),
        (sqlite3.InterfaceError("wrong type"), ProjectError, "wrong type"),
    ],
)
def test_each_sqlite_error_becomes_a_project_error_that_names_the_file(error, kind, words):
    explained = failures.explain(error, Path("p.glossbench"), writing=True)

    assert type(explained) is kind and "p.glossbench" in explained.message and explained.hint
    assert re.search(words, str(explained))


def test_a_change_that_a_constraint_rejects_is_a_project_error_and_is_rolled_back(project):
    add_document(project)

    with pytest.raises(ProjectError, match="rejected a change.*NOT NULL"):
        with project.edit("Broken"):
            documents.set_split(project.db, [1], "dev")
            project.db.writer.execute("insert into document(uid) values('u')")

    assert corpus.counts(project).splits["none"] == 1 and len(project.history()) == 1


def test_an_error_while_reading_is_a_project_error(project):
    with pytest.raises(ProjectError, match="p.glossbench"):
        project.db.reader().execute("select count(*) from document where key = ?").fetchone()


@pytest.mark.parametrize(
    "statement",
    [
        "update meta set value = 'x' where key = 'annotator'",
        "delete from meta where key = 'annotator'",
        "update meta set value = x'00' where key = 'seed'",
        "update annotator set id = 7",
    ],
)
def test_a_project_without_its_own_annotator_or_seed_is_reported_as_damaged(tmp_path, statement):
    path = tmp_path / "p.glossbench"
    Project.create(path).close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(statement)
        conn.commit()

    with pytest.raises(ProjectDamaged, match="p.glossbench is damaged"):
        Project.open(path)
