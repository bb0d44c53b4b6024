import sqlite3
from contextlib import closing

import pytest

from workbench.base.errors import ProjectError
from workbench.operations.schema import labels as label_acts
from workbench.project.check import check, check_open
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

REPLACED = (
    "create table new(key text primary key, value default 5) without rowid;"
    "insert into new select * from meta; drop table meta; alter table new rename to meta"
)


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
        conn.execute("pragma ignore_check_constraints = on")
        for statement in statements:
            conn.executescript(statement)
        conn.commit()
    return path


def test_a_sound_project_has_no_problems_open_or_not(project, path):
    assert check_open(project) == []
    assert check(path) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('update span set "end" = 99', "goes from 0 to 99, which does not fit"),
        ("update span set field = 'other'", "does not have"),
        ("update body set content = 'other'", "not the one that was imported"),
        ("update span set label_id = 77", "refers to row 77 of label, which is missing"),
        ("update span set source_id = 77", "refers to row 77 of source, which is missing"),
        ("delete from search_docsize", "full-text index"),
        ("select 1", "The trigger body_is_fixed is missing"),
        ("drop index mark_label", "The index mark_label is missing"),
        ("create index mine on mark(score)", "The index mine does not belong"),
        ("create table mine(x)", "The table mine does not belong"),
        ("create view mine as select 1", "The view mine does not belong"),
        ("create trigger mine after insert on mark begin select 1; end", "The trigger mine does"),
        ("alter table flag drop column at", "flag lacks the column at"),
        ("alter table flag add column mine", "flag has a column mine that does not belong"),
        (REPLACED, "The definition of the table meta was changed"),
        ("update layer set kind = 'other'", "the value 'other' in kind"),
        ("update layer set options = '[1]'", "the value '[1]' in options"),
        ("update document set meta = '{'", "the value '{' in meta"),
        ("update document set split = 'valid'", "the value 'valid' in split"),
        ("update document set text_hash = upper(text_hash)", "in text_hash, which is not valid"),
        ("update state set state = 'draft'", "Document 1 (k) or its labels, states or suggestions"),
        ("update label set name = 'LOC'", "The layer spans (1) or its labels were changed"),
        ("delete from document", "Document 1 (?) or its labels"),
        ("update journal_row set rid = 5 where tbl = 'state'", "history step"),
        ("delete from journal_row where tbl = 'state'", "does not have as many rows"),
        ("update meta set value = 2 where key = 'seed'", "settings of the project were changed"),
        ("update sqlite_sequence set seq = 0", "ids of document is not valid"),
        (
            "insert into journal_row(step_id, tbl, op, rid) values(99, 'span', 'delete', 1)",
            "belongs to no step",
        ),
    ],
)
def test_each_fault_is_named(project, path, statement, words):
    spoil(project, statement)
    assert any(words in problem for problem in check(path))


def test_a_file_that_is_no_project_cannot_be_checked(tmp_path):
    with pytest.raises(ProjectError, match="does not exist"):
        check(tmp_path / "none.glossbench")
