"""Merge a file again after changes there or here: corrections come home, nothing is lost."""

from contextlib import closing

import pytest

from tests.operations.people.test_merge import TEXT, handed, label, of
from workbench.base import settings
from workbench.base.settings import Settings
from workbench.operations.annotation import annotate
from workbench.operations.people import merge, people
from workbench.operations.schema import labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def lead(tmp_path):
    with closing(Project.create(tmp_path / "lead.glossbench")) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        labels.add_layer(project, "names", "span", labels=["PER", "LOC"])
        labels.add_layer(project, "links", "relation", labels=["met"])
        records = [Record(Document(f"d{n}", (("text", f"{TEXT} {n}"),))) for n in range(3)]
        with project.edit("Import"):
            documents.add(project.db, records, source_id=project.source("import"))
        people.add(project, "Ben")
        people.add(project, "Cleo")
        yield project
        problems = list(integrity.problems(project.db))
    assert problems == check(project.path) == []


@pytest.fixture
def ben(lead, tmp_path):
    with closing(handed(lead, tmp_path, {"Ben": [1, 2]})["Ben"]) as project:
        yield project


def counted(merged):
    """(new, replaced, equal, conflicts) of the only person."""
    (row,) = merged.people
    return row.new, row.replaced, row.equal, row.conflicts


def merge_twice(lead, path, choices=None):
    """Merge, undo, redo, and merge again, which changes nothing; returns what was merged."""
    before = dump(lead)
    merged = merge.merge(lead, path, choices)
    after = dump(lead)
    if not merged.is_empty:
        lead.undo()
        assert dump(lead) == before
        lead.redo()
        assert dump(lead) == after
    again = merge.merge(lead, path, choices)
    assert again.is_empty and dump(lead) == after
    return merged


def dump(project):
    tables = ("state", "mark", "span", "relation", "answer", "note", "flag", "suggestion", "label")
    return {
        table: sorted(project.db.reader().execute(f"select * from {table}").fetchall())
        for table in tables
    }


def past(project):
    """All that was labelled before was labelled in 2020."""
    with project.edit("Earlier"):
        project.db.writer.execute("update state set at = '2020-01-01T00:00:00Z'")


def names_of(project):
    return labels.layer_named(project, "names")


def add_name(project, document, start, end):
    return annotate.add_span(project, document, start, end, names_of(project).label("PER").id)


def submit_names(project, document):
    annotate.submit(project, document, [names_of(project).id])


def work_as(project, name):
    people.work_as(project, people.named(project, name).id)


def test_a_stranger_without_a_name_is_not_the_person_of_this_computer(lead, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "load", lambda: Settings(person_uids=["f" * 16]))
    with closing(Project.create(tmp_path / "other.glossbench")) as other:
        labels.add_layer(other, "class", "class", labels=["yes"])
        with other.edit("Import"):
            record = Record(Document("d0", (("text", f"{TEXT} 0"),)))
            documents.add(other.db, [record], source_id=other.source("import"))
        label(other, 1, "yes")
    monkeypatch.setattr(settings, "load", lambda: Settings("Lea", person_uids=["a" * 16]))

    merged = merge.merge(lead, other.path)

    assert [(row.name, row.is_new, row.new) for row in merged.people] == [("me", True, 1)]


def test_a_correction_of_a_submitted_document_comes_home(lead, ben):
    label(ben, 1, "yes")
    merge_twice(lead, ben.path)
    label(ben, 1, "no")

    merged = merge_twice(lead, ben.path)

    assert counted(merged) == (0, 1, 0, 0) and of(lead, "Ben")["d0"][0] == ("no",)


def test_a_deleted_label_of_a_submitted_document_is_deleted_here(lead, ben):
    person = add_name(ben, 1, 0, 3)
    add_name(ben, 1, 8, 11)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    annotate.delete_span(ben, person)

    merged = merge_twice(lead, ben.path)

    assert counted(merged) == (0, 1, 0, 0)
    assert of(lead, "Ben")["d0"][1] == ((8, 11, "PER"),)


def test_corrections_in_files_of_earlier_versions_come_home(lead, ben):
    label(ben, 1, "yes")
    past(ben)
    merge_twice(lead, ben.path)
    label(ben, 1, "no")
    past(ben)  # which did not set the time

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)


def test_a_submitted_document_without_labels_is_replaced_when_it_gets_some(lead, ben):
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    add_name(ben, 1, 0, 3)

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)
    assert of(lead, "Ben")["d0"][1] == ((0, 3, "PER"),)


def test_a_document_that_was_submitted_here_without_labels_stays(lead, ben):
    work_as(lead, "Ben")
    submit_names(lead, 1)
    past(lead)
    add_name(ben, 1, 0, 3)

    assert counted(merge_twice(lead, ben.path)) == (0, 0, 0, 1)
    assert of(lead, "Ben")["d0"][1] == ()


def test_what_was_deleted_here_stays_deleted(lead, ben):
    add_name(ben, 1, 0, 3)
    add_name(ben, 1, 8, 11)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    work_as(lead, "Ben")
    with lead.db.labels_of(people.named(lead, "Ben").id):
        annotate.delete_span(lead, annotations.spans(lead.db, 1)[0].id)
        submit_names(lead, 1)
    work_as(lead, "me")
    add_name(ben, 1, 15, 19)

    assert counted(merge_twice(lead, ben.path)) == (0, 0, 0, 1)
    assert of(lead, "Ben")["d0"][1] == ((8, 11, "PER"),)


def test_a_document_that_is_submitted_after_a_merge_is_submitted_here(lead, ben):
    label(ben, 1, "yes")
    layer = labels.layer_named(ben, "class").id
    with ben.edit("Reset"):
        annotations.set_state(ben.db, [1], layer, ben.annotator_id, "pending")
    merge_twice(lead, ben.path)
    annotate.submit(ben, 1, [layer])

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)
    assert set(of(lead, "Ben")) == {"d0"}


def test_a_moved_span_takes_its_relations_along(lead, ben):
    first, second = add_name(ben, 1, 0, 3), add_name(ben, 1, 8, 11)
    met = labels.layer_named(ben, "links")
    relate(ben, first, second)
    submit_names(ben, 1)
    annotate.submit(ben, 1, [met.id])
    past(ben)
    merge_twice(lead, ben.path)
    annotate.resize_span(ben, first, 0, 7)

    assert counted(merge_twice(lead, ben.path)) == (0, 2, 0, 0)
    assert of(lead, "Ben")["d0"][1:] == (((0, 7, "PER"), (8, 11, "PER")), ((0, 11),))


def relate(project, first, second):
    from workbench.operations.annotation import relations

    relations.add_relation(
        project, first, second, labels.layer_named(project, "links").label("met").id
    )
