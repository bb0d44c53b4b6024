import sqlite3
from contextlib import closing

import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus, notes
from workbench.operations.schema import labels as schema
from workbench.storage.documents import deletion, documents
from workbench.storage.integrity import checksums
from workbench.storage.runs import runs
from workbench.storage.schema.tables import JOURNALED
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def filled(project):
    schema.add_layer(project, "topic", "class", labels=["sport", "news"])
    with project.edit("Import", bulk=True):
        records = [Record(Document(str(n), (("text", f"text {n}"),))) for n in range(5)]
        documents.add(project.db, records, source_id=project.source("import"))
    return project


def entries(project):
    rows = project.db.reader().execute("select name, owner, value from checksum").fetchall()
    return {(name, owner): value for name, owner, value in rows}


def test_an_edit_changes_the_checksum_of_its_document_alone_and_undo_restores_it(filled):
    before = entries(filled)

    annotate.set_class(filled, 2, schema.layers(filled)[0].labels[0].id)
    after = entries(filled)
    filled.undo()

    changed = {key for key in after if before.get(key) != after[key]}
    assert {key for key in changed if key[0] not in ("step", "source")} == {("document", 2)}
    assert entries(filled)["document", 2] == before["document", 2]


@pytest.mark.unsound
def test_an_exchange_of_values_between_two_documents_shows(filled):
    corpus.set_split(filled, [1], "train")
    corpus.set_split(filled, [2], "dev")
    with closing(sqlite3.connect(filled.path)) as conn:
        conn.execute("update document set split = iif(split = 'dev', 'train', 'dev') where id < 3")
        conn.commit()

    assert checksums.differences(filled.db.reader()) == [("document", 1), ("document", 2)]


def test_bulk_steps_their_undo_and_redo_keep_the_checksums_right(filled):
    ids = list(corpus.filter_ids(filled, corpus.Filter()))
    acts = [
        lambda: corpus.set_split(filled, ids, "train"),
        lambda: corpus.delete_documents(filled, ids[:2]),
        filled.undo,
        filled.undo,
        filled.redo,
        filled.redo,
        lambda: filled.undo(3),
        filled.redo,
    ]
    for act in acts:
        act()
        assert checksums.differences(filled.db.reader()) == []


def test_rows_that_go_to_another_document_are_counted_there(filled):
    annotate.set_class(filled, 2, schema.layers(filled)[0].labels[0].id)
    notes.set_note(filled, 2, "a note")

    for owner in (3, None):  # a note may belong to no document
        with filled.edit("Move"):
            filled.db.writer.execute("update note set document_id = ?, body = 'moved'", (owner,))
            filled.db.writer.execute("update mark set document_id = 3, score = 0.5")
        for act in (filled.undo, filled.redo):
            assert checksums.differences(filled.db.reader()) == []
            act()
    assert checksums.differences(filled.db.reader()) == []


def test_predictions_and_deletions_of_runs_are_followed(filled):
    with filled.write():
        run = runs.add(filled.db, "first", status="done")
        runs.save_predictions(filled.db, run.id, [(1, "0" * 32, {"a": 1}), (2, "0" * 32, {})])
        runs.save_predictions(filled.db, run.id, [(1, "0" * 32, {"a": 2})])
    assert checksums.differences(filled.db.reader()) == []

    with filled.write():
        runs.delete(filled.db, run.id)

    assert checksums.differences(filled.db.reader()) == []
    assert ("run", run.id) not in entries(filled)


def test_a_bulk_step_can_be_cancelled_while_its_rows_are_summed(filled):
    before = entries(filled)
    watch = Watch()

    with pytest.raises(Cancelled):
        with filled.edit("Import", bulk=True, watch=watch):
            record = Record(Document("new", (("text", "new"),)))
            documents.add(filled.db, [record], source_id=filled.source("import"))
            watch.cancel()

    assert entries(filled) == before and len(filled.history()) == 2


def test_a_row_hash_depends_on_every_byte_and_fits_the_sum():
    hashes = {checksums.row_hash(bytes([n])) for n in range(256)}

    assert len(hashes) == 256 and max(hashes) < 1 << checksums.HASH_BITS


@pytest.fixture
def deleted(filled, monkeypatch):
    """Three of five documents were deleted without triggers; the id of the step."""
    monkeypatch.setattr(deletion, "CHUNK", 2)
    annotate.set_class(filled, 2, schema.layers(filled)[0].labels[0].id)
    corpus.delete_documents(filled, [1, 2, 3])
    return filled.history()[0].id


@pytest.mark.unsound
@pytest.mark.parametrize(
    "change",
    [
        "c3 = 'other' where tbl = 'body' and rid = 2",
        "c2 = 'other' where tbl = 'document' and rid = 2",
        "rid = rid + 1 where tbl = 'mark'",
        "doc = 3 where tbl = 'mark'",
        "op = 'update' where tbl = 'mark'",
        "seq = seq + 100 where tbl = 'mark'",
    ],
)
def test_a_change_of_what_a_deletion_would_restore_shows(filled, deleted, change):
    assert checksums.differences(filled.db.reader()) == []
    with closing(sqlite3.connect(filled.path)) as conn:
        conn.execute(f"update journal_row set {change} and step_id = ?", (deleted,))
        conn.commit()

    assert checksums.differences(filled.db.reader()) == [("step", deleted)]


@pytest.mark.unsound
def test_a_document_that_was_changed_outside_shows_after_its_deletion(filled, request):
    with closing(sqlite3.connect(filled.path)) as conn:
        conn.execute("update document set split = 'dev' where id = 2")
        conn.commit()

    step = request.getfixturevalue("deleted")

    assert checksums.differences(filled.db.reader()) == [("step", step)]


def test_undo_and_redo_of_a_deletion_keep_the_checksums_right(filled, deleted):
    for act in (filled.undo, filled.redo, filled.undo):
        act()
        assert checksums.differences(filled.db.reader()) == []


def test_all_tables_that_a_document_sums_are_deleted_with_it():
    summed = {table for table in JOURNALED if checksums.owner(table)[0] == "document"}

    assert summed == {"document", *deletion._OF_DOCUMENT}
