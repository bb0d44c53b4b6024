import sqlite3
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError
from workbench.operations import labels as label_acts
from workbench.project.check import check, check_open
from workbench.storage import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def path(project):
    label_acts.add_layer(project, "spans", "span", labels=["PER"])
    with project.edit("Import"):
        record = Record(
            Document("k", (("text", "Ada met\0 \ud800 \U0001f600"),)),
            {"spans": "submitted"},
            {},
            {"spans": (Span(0, 3, "PER"),)},
        )
        documents.add(project.db, [record], source_id=project.source("import"))
    return project.path


def spoil(project, *statements):
    """Behind the project's back, as a fault would."""
    path = project.path
    project.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("drop trigger body_is_fixed")
        for statement in statements:
            conn.execute(statement)
        conn.commit()
    return path


def test_a_sound_project_has_no_problems_open_or_not(project, path):
    assert check_open(project) == []
    assert check(path) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('update span set "end" = 99', "beyond its text"),
        ("update span set field = 'other'", "does not have"),
        ("update body set content = 'other'", "not the one that was imported"),
        ("update span set label_id = 77", "refers to a row of label"),
        ("update span set source_id = 77", "where they come from"),
        ("delete from search_docsize", "full-text index"),
        ("select 1", "body lacks the trigger body_is_fixed"),
        ("drop index mark_label", "mark lacks the index mark_label"),
        ("alter table flag drop column at", "flag lacks the column at"),
        (
            "insert into journal_row(step_id, tbl, op, rid) values(99, 'span', 'delete', 1)",
            "belong to no step",
        ),
    ],
)
def test_each_fault_is_named(project, path, statement, words):
    spoil(project, statement)
    assert any(words in problem for problem in check(path))


def test_a_file_that_is_no_project_cannot_be_checked(tmp_path):
    with pytest.raises(ProjectError, match="does not exist"):
        check(tmp_path / "none.glossbench")
