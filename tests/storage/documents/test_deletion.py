import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.project.check import check_open
from workbench.storage.annotation import suggestions
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import deletion, documents
from workbench.storage.queries import search
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def filled(project, monkeypatch):
    monkeypatch.setattr(deletion, "CHUNK", 3)
    monkeypatch.setattr(search, "LARGE_BATCH_TEXTS", 3)  # the texts of an undone deletion
    layer = schema.add_layer(project, "names", "span", labels=["A"])
    schema.add_layer(project, "topic", "class", labels=["x"])
    with project.edit("Import", bulk=True):
        source = project.source("import")
        records = [
            Record(
                Document(f"key {n}", (("text", f"word{n} same"),), tokens={"text": ((0, 2),)}),
                {"names": "submitted"},
                {"topic": ("x",)},
                {"names": (Span(0, 2, "A"), Span(3, 4, "A"))},
            )
            for n in range(10)
        ]
        ids = documents.add(project.db, records, source_id=source)
        label = schema.layers(project)[0].labels[0].id
        new = [NewSuggestion(id, layer, label, 1, 2) for id in ids]
        suggestions.add_suggestions(project.db, new, source_id=source)
    return project


def contents(project):
    rows = project.db.reader().execute("select * from suggestion order by id").fetchall()
    return list(documents.records(project.db)), rows


def found(project, text):
    return list(corpus.filter_ids(project, Filter(text=text)))


@pytest.mark.parametrize("ids", [range(2, 8), range(1, 11)])
def test_deleting_many_documents_is_one_step_that_undo_reverts(filled, ids):
    before = contents(filled)

    assert corpus.delete_documents(filled, ids) == len(ids)
    assert check_open(filled) == []
    kept = [id for id in range(1, 11) if id not in ids]
    assert found(filled, "same") == kept and found(filled, "word4") == []
    after = contents(filled)

    filled.undo()
    assert contents(filled) == before and check_open(filled) == []
    assert found(filled, "word4") == [5]
    filled.redo()
    assert contents(filled) == after and check_open(filled) == []


def test_a_cancelled_deletion_changes_nothing_and_edits_are_recorded_afterwards(filled):
    before, watch = contents(filled), Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        corpus.delete_documents(filled, range(1, 11), watch=watch)
    assert contents(filled) == before

    corpus.delete_documents(filled, [4])
    filled.undo()

    assert contents(filled) == before and check_open(filled) == []


def test_a_note_on_no_document_stays_when_all_documents_are_deleted(filled):
    with filled.edit("Note"):
        filled.db.writer.execute(
            "insert into note(uid, body, at)"
            " values('0123456789abcdef', 'b', '2026-01-01T00:00:00Z')"
        )

    corpus.delete_documents(filled, range(1, 11))

    assert filled.db.reader().execute("select body from note").fetchall() == [("b",)]
    assert check_open(filled) == []


def test_documents_that_are_gone_are_not_counted(filled):
    corpus.delete_documents(filled, [1, 2])

    assert corpus.delete_documents(filled, [1, 1, 2, 3, 4, 5, 99]) == 3
