"""Asking and answering questions about a document; every act is one undo step."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, questions, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.evaluation import reviews
from workbench.operations.schema import labels as operations
from workbench.project.check import check
from workbench.storage.annotation import annotations, suggestions
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.mistakes import Mistake


@pytest.fixture
def filled(project):
    """(project, layer id, document id)."""
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "answers", "answer")
        record = Record(Document("a", (("text", "Ada met Bob in Rome"),)))
        (id,) = documents.add(project.db, [record], source_id=project.source("import"))
    return project, layer, id


def only(project, id, layer):
    (found,) = questions.asked(project, id, layer)
    return found.question


def state(project, id, layer):
    return annotations.states(project.db, id).get(layer, "pending")


def test_a_question_is_asked_answered_and_answered_again(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, " Who met Bob? ")
    questions.answer(project, asked, 0, 3)
    questions.answer(project, asked, 0, 3)
    questions.answer(project, asked, 0, 7)

    assert only(project, id, layer).answers == ((0, 3), (0, 7))
    assert only(project, id, layer).text == "Who met Bob?"
    assert state(project, id, layer) == "draft"
    questions.remove_answer(project, asked, 0, 3)
    assert only(project, id, layer).answers == ((0, 7),)
    project.undo()
    project.undo()
    assert only(project, id, layer).answers == ((0, 3),)


def test_no_answer_replaces_the_answers_and_an_answer_replaces_it(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Why?")
    questions.answer(project, asked, 0, 3)

    questions.set_null(project, asked, True)
    assert only(project, id, layer).is_null and not only(project, id, layer).answers
    questions.answer(project, asked, 4, 7)
    assert only(project, id, layer).answers == ((4, 7),)


def test_a_document_is_submitted_only_when_every_question_is_answered(filled):
    project, layer, id = filled
    assert annotate.submit(project, id, [layer]) != ()
    asked = questions.add(project, id, layer, "Why?")
    (warning,) = annotate.submit(project, id, [layer])
    assert "unanswered" in warning and state(project, id, layer) == "draft"
    questions.set_null(project, asked, True)
    assert annotate.submit(project, id, [layer]) == ()

    questions.add(project, id, layer, "Where?")
    assert state(project, id, layer) == "draft"


def test_the_last_question_that_is_deleted_leaves_the_document_pending(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Why?")
    questions.rename(project, asked, "Why not?")
    assert only(project, id, layer).text == "Why not?"
    questions.delete(project, asked)

    assert questions.asked(project, id, layer) == () and state(project, id, layer) == "pending"
    project.undo()
    assert only(project, id, layer).text == "Why not?"


def test_blank_questions_and_answers_outside_the_text_are_refused(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Why?")

    for act in (
        lambda: questions.add(project, id, layer, "  "),
        lambda: questions.rename(project, asked, ""),
        lambda: questions.answer(project, asked, 3, 3),
        lambda: questions.answer(project, asked, 3, 99),
    ):
        with pytest.raises(WorkbenchError):
            act()


def test_what_deleting_the_layer_removes_names_its_questions(filled):
    project, layer, id = filled
    questions.add(project, id, layer, "Why?")
    questions.add(project, id, layer, "Who?")

    assert "2 questions in 1 document" in operations.will_go(project, layer_id=layer)
    operations.delete_layer(project, layer)
    project.undo()
    assert len(questions.asked(project, id, layer)) == 2


# ---------------------------------------------------------------- suggestions and reviews


def suggested(project, layer, id, asked, offsets, score=0.8):
    start, end = offsets or (None, None)
    row = NewSuggestion(id, layer, None, start, end, score=score, question=asked)
    suggestion_edits.add_suggestions(project, None, [row], kind="rule", ref="x")
    found = suggestions.suggestions(project.db, id)
    return found[0].id if found else None


def test_an_accepted_suggestion_answers_its_question_with_its_source(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Who?")
    wanted = suggested(project, layer, id, asked, (0, 3))
    assert check(project.path) == []

    suggestion_edits.accept(project, [wanted])

    assert only(project, id, layer).answers == ((0, 3),)
    assert questions.asked(project, id, layer)[0].rows[0].source_kind == "rule"
    assert suggestions.suggestions(project.db, id) == ()


def test_that_there_is_no_answer_can_be_suggested_and_what_is_gold_is_not(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Why?")
    suggestion_edits.accept(project, [suggested(project, layer, id, asked, None)])

    assert only(project, id, layer).is_null
    assert suggested(project, layer, id, asked, None) is None
    questions.delete(project, asked)
    assert check(project.path) == []


def test_a_prediction_replaces_the_answer_of_the_question_it_is_about(filled):
    project, layer, id = filled
    asked = questions.add(project, id, layer, "Who?")
    questions.answer(project, asked, 0, 3)
    mistake = Mistake("boundary", "Who?", "Who?", 0.7, 1.0, (0, 3), (0, 7))
    reviews.accept(project, labels.layer(project.db, layer), id, mistake, title="Accept")

    assert only(project, id, layer).answers == ((0, 7),)
    project.undo()
    assert only(project, id, layer).answers == ((0, 3),)


def test_questions_are_read_with_a_document_that_is_opened(filled):
    project, layer, id = filled
    questions.add(project, id, layer, "Who?")

    assert documents.get(project.db, id).questions == ("Who?",)
    assert documents.get(project.db, id).asked_hash != documents.get(project.db, id).text_hash
