"""Asking questions and answering them from the text, by keys and mouse."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from tests.ui.tips import read
from workbench.operations.annotation import annotate, document_view, questions
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.review.error_review import ErrorReview
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import Elided

TEXT = "Ada met Bob in Rome on Monday."


@pytest.fixture
def asked(filled):
    """(id of a document, id of a layer of questions, ids of two questions)"""
    layer = labels.add_layer(filled, "answers", "answer")
    with filled.edit("Add documents"):
        record = Record(Document("asked", (("text", TEXT),)))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    made = [questions.add(filled, id, layer, text) for text in ("Who met Bob?", "Where?")]
    return id, layer, made


@pytest.fixture
def view(asked, state, open_view):
    made = open_view(state)
    for layer in state.session.layers:
        if layer.id != asked[1]:
            state.session.switch_layer(layer.id, False)
    state.session.open(asked[0])
    made.take_focus()
    return made


def press(view, key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(view.first, key, modifier)


def given(state):
    return [
        (question.text, question.answers, question.is_null)
        for question in state.questions.shown_questions
    ]


def footer(view):
    """The visible single lines and their tooltips, which painting sets."""
    view.grab()
    return {
        item.text(): read(item.toolTip()) for item in view.findChildren(Elided) if item.isVisible()
    }


def painted(view):
    return [(span.start, span.end, span.kind) for span in view.first.spans]


def test_a_selected_text_becomes_the_answer_and_is_painted(view, state, filled):
    view.first.select(0, 3)
    press(view, Qt.Key.Key_Return)

    assert given(state)[0] == ("Who met Bob?", ("Ada",), False)
    assert painted(view) == [(0, 3, "gold")] and view.first.selection is None
    press(view, Qt.Key.Key_Tab)
    assert state.questions.question.question.text == "Where?" and painted(view) == []
    view.first.select(15, 19)
    press(view, Qt.Key.Key_Return)
    filled.undo()
    assert given(state)[1] == ("Where?", (), False)


def test_n_states_that_there_is_no_answer_and_backspace_takes_it_back(view, state):
    press(view, Qt.Key.Key_N)
    assert given(state)[0][2]
    press(view, Qt.Key.Key_Backspace)
    assert not given(state)[0][2] and state.questions.question.question.is_open


def test_enter_without_a_selection_submits_only_when_all_is_answered(view, state, asked, filled):
    view.first.select(0, 3)
    press(view, Qt.Key.Key_Return)
    press(view, Qt.Key.Key_Return)
    assert document_view.view(filled, asked[0]).states[asked[1]] == "draft"
    state.session.open(asked[0])
    assert state.questions.question.question.text == "Where?"  # the first that is open
    press(view, Qt.Key.Key_N)

    press(view, Qt.Key.Key_Return)

    assert document_view.view(filled, asked[0]).states[asked[1]] == "submitted"


def test_the_footer_says_incomplete_until_every_question_is_answered(view, state):
    message = "answers has no question, or an unanswered one; the document stays a draft."
    assert footer(view)["incomplete"] == message
    state.questions.answer_question(0, 3)
    assert footer(view)["incomplete"] == message  # one of two questions is still open
    state.questions.step_question(1)
    state.questions.toggle_null()

    assert "incomplete" not in footer(view) and "saved" in footer(view)


def test_questions_are_typed_changed_and_deleted_by_keys(view, state):
    press(view, Qt.Key.Key_Question)
    field = view.right.questions.field
    QTest.keyClicks(field, "When?")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert state.questions.question.question.text == "When?" and view.first.hasFocus()

    press(view, Qt.Key.Key_F2)
    assert field.text() == "When?"
    QTest.keyClicks(field, "On which day?")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert state.questions.question.question.text == "On which day?"

    press(view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    assert [text for text, _answers, _null in given(state)] == ["Who met Bob?", "Where?"]


def test_a_click_chooses_a_question_and_its_row_tells_its_answer(view, state, asked):
    state.questions.answer_question(0, 3)
    rows = [row for row in view.right.questions.rows if row.isVisible()]

    assert [row.isChecked() for row in rows] == [True, False]
    assert "“Ada”" in rows[0].accessibleDescription()
    rows[1].click()
    assert state.questions.question.id == asked[2][1] and rows[1].isChecked()


def test_other_layers_keep_their_keys(view, state, asked):
    for layer in state.session.layers:
        state.session.switch_layer(layer.id, True)
    view.first.select(0, 3)
    press(view, Qt.Key.Key_1)

    assert [(row.start, row.end) for row in state.session.spans] == [(0, 3)]
    press(view, Qt.Key.Key_Tab)
    assert state.questions.question.question.text == "Who met Bob?"
    press(view, Qt.Key.Key_Period)
    assert state.questions.question.question.text == "Where?"


def test_few_questions_leave_room_and_many_are_scrolled(view, state, asked, filled):
    pane = view.right.questions
    two = pane.maximumHeight()

    for number in range(3):
        questions.add(filled, asked[0], asked[1], f"And then, number {number}?")

    assert len(state.questions.shown_questions) == 5
    assert two + 3 * 30 < pane.maximumHeight() < two + 3 * 90


def button(view, name):
    return next(item for item in view.findChildren(Button) if item.accessibleName() == name)


def test_a_question_is_answered_by_mouse_with_the_button_or_the_menu(view, state):
    button(view, "Answer").click()
    assert state.context.message == ["Select the answer in the text first."]
    view.first.select(0, 3)
    button(view, "Answer").click()
    assert given(state)[0][1] == ("Ada",) and view.first.hasFocus()
    assert view.first.selection is None

    view.first.select(8, 11)
    (choice,) = (
        item for item in view._menus._words(view.first) if item and "Who met" in item.title
    )
    assert choice.title == "Ans&wer “Who met Bob?”" and choice.enabled
    choice.act()
    assert given(state)[0][1] == ("Ada", "Bob")


def test_the_key_beside_questions_is_the_one_that_steps_through_them(view, state):
    shown = view.right.questions._cap.text()
    for layer in state.session.layers:
        state.session.switch_layer(layer.id, True)
    assert (shown, view.right.questions._cap.text()) == ("Tab", ".")
    press(view, Qt.Key.Key_Period)
    assert state.questions.question.question.text == "Where?"


def test_what_stands_below_a_single_question_is_not_cut(view, state):
    for layer in state.session.layers:
        state.session.switch_layer(layer.id, True)
    label = next(layer for layer in state.session.layers if layer.name == "names").labels[0].id
    for start, end in ((0, 3), (4, 7), (8, 11), (12, 14), (15, 19), (20, 22)):
        annotate.add_span(state.project, state.session.document_id, start, end, label)
    state.questions.delete_question()
    view.resize(1100, 640)
    QApplication.processEvents()

    pane = view.right.questions
    for part in (pane._none, pane.field, pane._null):
        assert part.height() >= part.minimumSizeHint().height()
        assert part.mapTo(pane, part.rect().bottomLeft()).y() < pane.height()
    assert pane._none.height() >= pane._none.heightForWidth(pane._none.width())


def predicted(question, start, end):
    text = TEXT[start:end]
    return {
        **{"question": question, "answer": text, "start": start, "end": end, "text": text},
        **{"score": 0.9, "null_score": 0.1, "null_gap": -2.0, "candidates": [[start, end, 0.9]]},
    }


def test_an_error_review_names_the_questions_with_other_answers_until_one_is_accepted(
    asked, view, state
):
    id, layer, made = asked
    questions.answer(state.project, made[0], 0, 3)
    questions.answer(state.project, made[1], 16, 20)
    answers = [predicted("Who met Bob?", 0, 3), predicted("Where?", 24, 30)]
    raw = {"scores": None, "label": None, "answers": answers, "fields": ["answers"], "cut": False}
    with state.project.write():
        spec = {"task": "answer", "layer": "answers", "model": "m"}
        run = runs.add(state.project.db, "qa", "train", layer_id=layer, spec=spec, status="done")
        asked_hash = next(documents.records(state.project.db, ids=[id])).document.asked_hash
        runs.save_predictions(state.project.db, run.id, [(id, asked_hash, raw)])

    state.review.show_errors(run.id, [id], id)
    assert [question.id for question in state.questions.wrong_questions] == [made[1]]
    state.questions.choose_question_text("Where?")
    assert state.questions.question.id == made[1]
    review = next(iter(view.findChildren(ErrorReview)))
    assert "1 question has another answer." in shown_text(review)

    state.review.accept_answer()
    assert state.questions.wrong_questions == ()
    assert "now agrees with gold" in shown_text(review)


def shown_text(widget):
    return " ".join(label.text() for label in widget.findChildren(QLabel))
