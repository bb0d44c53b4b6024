"""People of a project: whose labels are shown, and who wrote them."""

from contextlib import closing

import pytest

from workbench.base.errors import SpecError
from workbench.operations.annotation import annotate, document_view
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def project(tmp_path):
    with closing(Project.create(tmp_path / "p.glossbench")) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        labels.add_layer(project, "spans", "span", labels=["PER"])
        with project.edit("Import"):
            records = [Record(Document(f"d{n}", (("text", "Ada met Bob."),))) for n in range(2)]
            documents.add(project.db, records, source_id=project.source("import"))
        yield project


def label(project, document, name):
    layer = labels.layer_named(project, "class")
    annotate.set_class(project, document, layer.label(name).id)
    annotate.submit(project, document, [layer.id])


def classes(project, document=1):
    (record,) = documents.records(project.db, ids=[document])
    return record.marks.get("class", ()), record.states.get("class")


def test_each_person_has_labels_of_their_own(project):
    ben = people.add(project, "Ben")
    label(project, 1, "yes")

    people.work_as(project, ben.id)
    assert classes(project) == ((), None)
    label(project, 1, "no")
    assert classes(project) == (("no",), "submitted")

    with project.db.labels_of(1):
        assert classes(project) == (("yes",), "submitted")
    assert classes(project) == (("no",), "submitted")
    assert document_view.view(project, 1).marks[0].made_by == ben.id
    project.undo(3)  # submit, class, label as
    assert classes(project) == (("yes",), "submitted")
    project.redo(3)
    path = project.path
    project.close()
    assert check(path) == []
    with closing(Project.open(path)) as again:
        assert people.current(again).name == "Ben" and classes(again) == (("no",), "submitted")


def test_labels_are_written_as_gold_and_say_who_wrote_them(project):
    gold = people.add(project, "gold")
    layer = labels.layer_named(project, "spans")
    people.set_gold(project, layer.id, gold.id)

    annotate.add_span(project, 1, 0, 3, layer.label("PER").id)
    label(project, 1, "yes")

    (record,) = documents.records(project.db, ids=[1])
    assert [span.label for span in record.spans["spans"]] == ["PER"]
    assert project.gold(layer.id) == gold.id
    (span,) = document_view.view(project, 1).spans
    assert span.made_by == project.annotator_id
    with project.db.labels_of(project.annotator_id):
        (own,) = documents.records(project.db, ids=[1])
    assert own.spans == {} and own.marks["class"] == ("yes",)


def test_names_initials_and_colours(project):
    ada = people.add(project, "  Ada  Lovelace ", colour="#aa3377")
    assert (ada.name, ada.initials, ada.colour) == ("Ada Lovelace", "AL", "#aa3377")
    assert len(ada.uid) == 16

    people.change(project, ada.id, "Ada King", initials="AK", colour="#000000")
    assert people.named(project, "Ada King").initials == "AK"
    for name in ("", " ", "Ada King"):
        with pytest.raises(SpecError):
            people.add(project, name)
    with pytest.raises(SpecError, match="Nobody in this project"):
        people.named(project, "Cid")
