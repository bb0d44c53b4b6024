import random
import sqlite3

import pytest

from workbench.base.errors import ProjectBusy, ProjectError
from workbench.operations.schema import labels as label_acts
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.connections import database
from workbench.storage.documents import documents
from workbench.storage.integrity import checksums
from workbench.storage.journal import journal
from workbench.storage.labels import labels
from workbench.storage.queries import search, state_keys
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


def dump(project):
    """Every row of every journaled table."""
    read = project.db.reader().execute
    return {
        table: read(f"select * from {table} order by id").fetchall()
        for table in migrations.JOURNALED
    }


def add_document(project, text="Ada met Bob.", key="d"):
    with project.edit("Add document"):
        (id,) = documents.add(
            project.db,
            [Record(Document(key, (("text", text),)))],
            source_id=project.source("import"),
        )
    return id


def journal_rows(project):
    """Rows that the journal holds of the newest step."""
    statement = (
        "select count(*) from journal_row where step_id = (select max(id) from journal_step)"
    )
    return project.db.reader().execute(statement).fetchone()[0]


def search_is_sound(project):
    writer = project.db.writer
    writer.execute("insert into search(search) values('integrity-check')")
    (bodies,) = writer.execute("select count(*) from body").fetchone()
    (indexed,) = writer.execute("select count(*) from search_docsize").fetchone()
    return bodies == indexed


def test_undo_and_redo_bring_back_every_value_in_its_own_type(project):
    layer = label_acts.add_layer(project, "spans", "span", labels=["PER"])
    document = add_document(project, "a'b \U0001f600 \ud800 end")
    before = dump(project)

    (label,) = labels.layer(project.db, layer).labels
    with project.edit("Add span"):
        who = project.annotator_id
        annotations.add_span(
            project.db,
            document,
            layer,
            label.id,
            0,
            3,
            annotator_id=who,
            source_id=project.source("run"),
            score=1 / 3,
        )
    after = dump(project)

    assert project.undo() == "Add span"
    assert dump(project) == before
    assert project.redo() == "Add span"
    assert dump(project) == after


def test_undo_survives_closing_the_project(tmp_path):
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    empty = dump(project)
    label_acts.add_layer(project, "classes", "class", labels=["yes", "no"])
    full = dump(project)
    project.close()

    project = Project.open(path)
    assert project.undo_title == "Add layer classes"
    project.undo()
    assert dump(project) == empty
    project.close()

    project = Project.open(path)
    project.redo()
    assert dump(project) == full
    project.close()


def test_a_new_edit_drops_what_was_undone(project):
    add_document(project, key="one")
    project.undo()
    add_document(project, key="two")

    assert project.redo_title is None
    assert project.redo() is None
    assert [step.title for step in project.history()] == ["Add document"]


def test_nested_edits_are_one_step_under_the_outer_title(project):
    with project.edit("Outer"):
        add_document(project, key="one")
        with project.edit("Inner"):
            add_document(project, key="two")

    assert [step.title for step in project.history()] == ["Outer"]
    project.undo()
    assert documents.counts(project.db).documents == 0


def test_an_error_rolls_everything_back_and_leaves_no_step(project):
    with pytest.raises(KeyError):
        with project.edit("Fails"):
            add_document(project)
            raise KeyError("x")

    assert project.history() == ()
    assert documents.counts(project.db).documents == 0


def test_an_error_caught_inside_takes_back_the_inner_part_only(project):
    with project.edit("Outer"):
        add_document(project, key="stays")
        try:
            with project.edit("Inner"):
                add_document(project, key="goes")
                raise ValueError
        except ValueError:
            pass

    assert [row.key for row in documents.rows(project.db, documents.ids(project.db))] == ["stays"]


def test_an_edit_that_changes_nothing_leaves_no_step(project):
    document = add_document(project)
    steps = project.history()

    with project.edit("Set split"):
        documents.set_split(project.db, [document], None)

    assert project.history() == steps


def test_a_large_step_that_can_no_longer_be_redone_is_deleted_bit_by_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "SWEPT", 10)
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    document = add_document(project)
    with project.edit("Large"):
        records = [Record(Document(str(n), (("text", "x"),))) for n in range(20)]
        documents.add(project.db, records, source_id=project.source("import"))
    project.undo()

    left = []
    for split in ("train", "dev", "test", None, "train", "dev", "test"):
        with project.edit("Set split"):
            documents.set_split(project.db, [document], split)
        (rows,) = project.db.reader().execute("select count(*) from journal_row").fetchone()
        left.append(rows - len(project.history()) - 2)  # the first step has three rows
        assert project.redo_title is None
        assert "Large" not in [step.title for step in project.history()]
        assert check_open(project) == []
        project.close()
        project = Project.open(path)

    assert left == [31, 21, 11, 1, 0, 0, 0]  # 41 rows: a source, 20 documents, 20 texts
    project.close()


def test_a_change_outside_of_an_edit_is_refused(project):
    with pytest.raises(ProjectError, match="outside of an edit"):
        with project.write():
            project.db.writer.execute(
                "insert into saved_filter(uid, name, spec) values('u', 'n', '{}')"
            )


def test_text_is_never_updated(project):
    add_document(project)
    with pytest.raises(ProjectError, match="never changed"):
        with project.edit("Change text"):
            project.db.writer.execute("update body set content = 'other'")


def test_a_change_of_state_does_not_copy_the_text_into_the_journal(project):
    layer = label_acts.add_layer(project, "c", "class")
    document = add_document(project, "x" * 1_000_000)
    with project.edit("Submit"):
        annotations.set_state(project.db, [document], layer, project.annotator_id, "submitted")
        documents.set_split(project.db, [document], "train")

    (size,) = (
        project.db.reader()
        .execute("select size from journal_step order by id desc limit 1")
        .fetchone()
    )
    assert size < 1_000


def test_undo_in_the_middle_of_an_edit_is_refused(project):
    with pytest.raises(ProjectBusy):
        with project.edit("Outer"):
            add_document(project)
            project.undo()


def test_ids_of_an_undone_import_are_not_given_again(project):
    first = add_document(project)
    project.undo()
    assert add_document(project) > first


def test_a_bulk_step_journals_one_row_for_each_table_and_undoes_all(project):
    label_acts.add_layer(project, "spans", "span", labels=["PER"])
    before = dump(project)
    record = Record(
        Document("k", (("text", "Ada met Bob."),)),
        {"spans": "submitted"},
        {},
        {"spans": (Span(0, 3, "PER"),)},
    )
    with project.edit("Import", bulk=True):
        documents.add(project.db, [record] * 1500, source_id=project.source("import"))
    after = dump(project)

    assert project.history()[0].rows == 4 * 1500 + 1  # document, body, state, span; one source
    assert journal_rows(project) == 5  # as ranges
    project.undo()
    assert dump(project) == before and search_is_sound(project)
    project.redo()
    assert dump(project) == after and search_is_sound(project)
    assert journal_rows(project) == 5
    project.undo()
    assert dump(project) == before


def test_a_bulk_step_may_delete_and_change_old_and_new_rows(project):
    label_acts.add_layer(project, "spans", "span", labels=["PER"])
    old = [add_document(project, key=str(number)) for number in range(3)]
    before = dump(project)
    with project.edit("Mixed", bulk=True):
        source = project.source("import")
        new = documents.add(
            project.db, [Record(Document("n", (("text", "new"),)))] * 3, source_id=source
        )
        documents.delete(project.db, [old[0], new[1]])
        documents.set_split(project.db, [old[1], new[2]], "dev")
    after = dump(project)

    project.undo()
    assert dump(project) == before
    project.redo()
    assert dump(project) == after and search_is_sound(project)


def test_the_oldest_steps_are_forgotten_and_the_history_says_why(project, monkeypatch):
    monkeypatch.setattr(journal, "MAX_STEPS", 3)
    monkeypatch.setattr(journal, "TRIM_EVERY", 1)
    for number in range(5):
        add_document(project, key=str(number))

    assert len(project.history()) == 3
    assert "3 steps" in project.history_end
    assert [bool(project.undo()) for _ in range(4)] == [True, True, True, False]


def test_the_journal_is_bounded_in_bytes_but_keeps_the_newest_step(project, monkeypatch):
    monkeypatch.setattr(journal, "MAX_BYTES", 1000)
    ids = [add_document(project, "x" * 5000) for _ in range(3)]
    for id in ids:
        with project.edit("Delete"):
            documents.delete(project.db, [id])

    assert len(project.history()) == 1
    project.undo()
    assert documents.get(project.db, ids[2]).text == "x" * 5000


def test_replace_is_journaled_as_well(project):
    layer = label_acts.add_layer(project, "c", "class", labels=["A"])
    before = dump(project)
    (label,) = labels.layer(project.db, layer).labels

    with project.edit("Replace"):
        row = (label.id, label.uid, layer, "B")
        project.db.writer.execute(
            "insert or replace into label(id, uid, layer_id, name) values(?, ?, ?, ?)", row
        )
    project.undo()

    assert dump(project) == before


@pytest.mark.parametrize("seed", range(12))
def test_random_histories_always_return_to_the_exact_earlier_content(tmp_path, seed):
    """Edits, nested and bulk, deletions that cascade, undo, redo and reopening, in any order."""
    chance = random.Random(seed)
    path = tmp_path / "p.glossbench"
    project = Project.create(path)
    states, place = [dump(project)], 0
    for _ in range(60):
        act = chance.random()
        if act < 0.1:
            project.close()
            project = Project.open(path)
        elif act < 0.3:
            place -= project.undo() is not None
        elif act < 0.45:
            place += project.redo() is not None
        else:
            before = len([step for step in project.history() if not step.undone])
            with project.edit("Step", bulk=chance.random() < 0.2):
                for _ in range(chance.randint(1, 5)):
                    with project.edit("nested"):
                        random_edit(project, chance)
            if len([step for step in project.history() if not step.undone]) > before:
                states, place = [*states[: place + 1], dump(project)], place + 1
        assert dump(project) == states[place]
        assert checksums.differences(project.db.reader()) == []
    assert project.db.reader().execute("pragma foreign_key_check").fetchall() == []
    assert search_is_sound(project)
    project.close()


def random_edit(project, chance):
    db = project.db
    ids = {
        table: [id for (id,) in db.reader().execute(f"select id from {table}").fetchall()]
        for table in ("document", "layer", "label", "span")
    }
    act = chance.random()
    if act < 0.25 or not ids["document"]:
        text = chance.choice(["a'b", "\n", "\U0001f600 中国", "x" * 20])
        documents.add(
            db,
            [Record(Document("k", (("text", text),)))] * chance.randint(1, 3),
            source_id=project.source("import"),
        )
    elif act < 0.35 or not ids["layer"]:
        labels.add_layer(db, f"layer {chance.random()}", "span")
    elif act < 0.45 or not ids["label"]:
        labels.add_label(db, chance.choice(ids["layer"]), chance.choice("ABC"))
    elif act < 0.65:
        label = chance.choice(ids["label"])
        layer, _ = labels.label(db, label)
        rest = {
            "annotator_id": project.annotator_id,
            "source_id": project.source("person"),
            "score": chance.random() / 3,
        }
        annotations.add_span(
            db, chance.choice(ids["document"]), layer, label, 0, chance.randint(0, 9), **rest
        )
    elif act < 0.75 and ids["span"]:
        annotations.update_span(
            db,
            chance.choice(ids["span"]),
            source_id=project.source("person"),
            end=chance.randint(0, 9),
        )
    elif act < 0.82:
        annotations.set_state(
            db,
            ids["document"],
            chance.choice(ids["layer"]),
            project.annotator_id,
            chance.choice(annotations.STATES),
        )
    elif act < 0.9:
        labels.delete_label(db, chance.choice(ids["label"]))
    elif act < 0.96:
        documents.delete(db, [chance.choice(ids["document"])])
    else:
        labels.delete_layer(db, chance.choice(ids["layer"]))


def test_an_edit_that_joins_the_newest_step_is_undone_with_it(project):
    label_acts.add_layer(project, "spans", "span", labels=["PER"])
    before, step = dump(project), project.undo_step
    add_document(project, key="a")
    newest = project.undo_step
    with project.edit("Rename", joins=newest):
        project.db.writer.execute("update document set key = 'b'")
    assert project.undo_step == newest and project.undo_title == "Rename"
    assert check_open(project) == []
    after = dump(project)

    project.undo()
    assert dump(project) == before and project.undo_step == step
    project.redo()
    assert dump(project) == after

    with project.edit("Later", joins=step):  # another one has followed
        project.db.writer.execute("update document set key = 'c'")
    project.undo()
    assert dump(project) == after


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
        *database.touched_triggers(),
        *checksums.triggers(),
        *state_keys.triggers(),
    ]


def test_the_schema_is_that_of_single_statements(connect):
    together, singly = connect(), connect()

    journal.create_temp_triggers(together, every())
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

    journal.create_temp_triggers(protected, every())
    for statement in every():
        singly.execute(statement)

    assert protected.execute(SCHEMA).fetchall() == singly.execute(SCHEMA).fetchall()


def test_afterwards_the_schema_is_protected_again(connect):
    conn = connect()

    journal.create_temp_triggers(conn, every())

    with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
        conn.execute("delete from sqlite_temp_master")


def test_a_statement_of_another_form_is_refused(connect):
    with pytest.raises(ValueError, match="creates no trigger"):
        journal.create_temp_triggers(connect(), ["create table x(id)"])
