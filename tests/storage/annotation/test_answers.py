"""Questions and answers in the project file: reading, editing, undo, search and checks."""

import pytest

from workbench.project.check import check
from workbench.storage.annotation import answers, provenance
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.questions import Question

WHO, WHERE, WHY = (
    Question("Who met Bob?", ((0, 3), (0, 7)), attrs={"id": "1"}),
    Question("Where?", ((15, 19),)),
    Question("Why?", (), True),
)


@pytest.fixture
def filled(project):
    """(project, layer id, document id, ids of annotator and source)."""
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "answers", "answer")
        record = Record(
            Document("a", (("text", "Ada met Bob in Rome"),)),
            {"answers": "submitted"},
            questions={"answers": (WHO, WHERE, WHY)},
        )
        (id,) = documents.add(project.db, [record], source_id=project.source("import"))
        by = {"annotator_id": project.annotator_id, "source_id": project.source("person")}
    return project, layer, id, by


def asked(project, id):
    return [item.question for item in answers.asked(project.db, id)]


def test_questions_are_read_with_the_record_and_with_the_document(filled):
    project, _layer, id, _by = filled

    record = documents.record(project.db, id)

    assert record.questions == {"answers": (WHO, WHERE, WHY)}
    assert record.document.questions == ("Who met Bob?", "Where?", "Why?")
    assert check(project.path) == []


def test_changing_answers_keeps_the_row_of_the_question_and_undo_restores_them(filled):
    project, _layer, id, by = filled
    who = answers.asked(project.db, id)[0]
    with project.edit("other"):
        answers.set_answers(project.db, who, Question("Who met Bob?", ((0, 7),)), **by)
    changed = answers.asked(project.db, id)
    assert [item.id for item in changed][0] == who.id
    assert changed[0].question.answers == ((0, 7),)
    assert changed[0].rows[0].source_kind == "import"  # the answer itself is unchanged
    with project.edit("none"):
        answers.set_answers(project.db, changed[0], Question("Who met Bob?", (), True), **by)
    assert asked(project, id)[0].is_null and check(project.path) == []

    project.undo()
    project.undo()
    assert asked(project, id) == [WHO, WHERE, WHY]


def test_an_added_question_is_open_and_a_deleted_one_is_gone(filled):
    project, layer, id, by = filled
    with project.edit("add"):
        new = answers.add_question(project.db, id, layer, Question("When?"), **by)
        answers.delete_question(project.db, answers.asked(project.db, id)[1])

    assert asked(project, id) == [WHO, WHY, Question("When?")]
    assert answers.question(project.db, new).question.is_open
    with pytest.raises(KeyError):
        answers.question(project.db, 10_000)


def test_documents_are_found_by_a_question_and_by_their_layer(filled):
    project, layer, id, _by = filled

    assert list(documents.ids(project.db, Filter(text="met bob?"))) == [id]
    assert list(documents.ids(project.db, Filter(text="whence"))) == []
    assert list(documents.ids(project.db, Filter(layer_id=layer))) == [id]


def test_questions_are_counted_by_how_they_are_answered(filled):
    project, layer, id, by = filled
    with project.edit("add"):
        answers.add_question(project.db, id, layer, Question("When?"), **by)

    found = answers.counts(project.db, layer)

    assert found == answers.AskedCounts(1, 4, 2, 1) and found.open == 1


def test_taking_back_an_import_deletes_its_questions(filled):
    project, layer, id, _by = filled
    (origin,) = [origin for origin in provenance.origins(project.db) if origin.kind == "import"]
    with project.edit("revert"):
        deleted, _suggestions = provenance.take_back(project.db, origin, [layer])

    assert deleted == 4 and asked(project, id) == []
    project.undo()
    assert asked(project, id) == [WHO, WHERE, WHY]
