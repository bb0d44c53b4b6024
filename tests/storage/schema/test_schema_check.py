import sqlite3
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError
from workbench.operations.documents import corpus
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

EMPTIES = "create trigger evil after insert on document begin delete from body; end"
ON_HISTORY = "create trigger evil after insert on journal_step begin delete from mark; end"
VIEW = "create view evil as select * from document"
CHANGED = "create trigger body_is_fixed before insert on body begin select 1; end"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    with project.edit("Add"):
        record = Record(Document("d", (("text", "Ada met Bob."),)))
        documents.add(project.db, [record], source_id=project.source("import"))
    project.close()
    return path


def spoil(path, *statements):
    with closing(sqlite3.connect(path)) as conn:
        for statement in statements:
            conn.execute(statement)
        conn.commit()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ([EMPTIES], 'the trigger evil on document, which.*DROP TRIGGER "evil"'),
        ([ON_HISTORY], "the trigger evil on journal_step"),
        ([VIEW], 'the view evil, which.*DROP VIEW "evil"'),
        (["drop trigger body_is_fixed", CHANGED], "changed the trigger body_is_fixed on body"),
    ],
)
def test_a_file_with_a_trigger_or_view_of_another_program_opens_read_only(path, statements, words):
    spoil(path, *statements)
    before = path.read_bytes()

    with closing(Project.open(path)) as project:
        assert project.read_only
        with pytest.raises(ProjectError, match=words):
            corpus.set_split(project, [1], "dev")
        assert documents.get(project.db, 1).text == "Ada met Bob."

    assert path.read_bytes() == before


def test_without_the_foreign_trigger_the_file_can_be_written_again(path):
    spoil(path, EMPTIES)
    Project.open(path).close()
    spoil(path, "drop trigger evil")

    with closing(Project.open(path)) as project:
        assert corpus.set_split(project, [1], "dev") == 1


def test_the_own_trigger_may_be_written_with_other_quotes_and_spaces(path):
    spoil(
        path,
        "drop trigger body_is_fixed",
        'CREATE TRIGGER "body_is_fixed"  BEFORE UPDATE ON [body] BEGIN select'
        " raise(abort, 'text is only inserted and deleted, never changed'); END",
    )

    with closing(Project.open(path)) as project:
        assert not project.read_only
