"""Choosing one of several texts by keys and mouse."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

LONG = "a tram that stops at every gate on its way to the north field " * 6


@pytest.fixture
def asked(filled):
    """(id of a document with a question and three choices, id of its layer)"""
    texts = (
        ("text", "Rails run along the street."),
        ("question", "What runs there?"),
        ("choice_1", "a boat"),
        ("choice_2", LONG),
        ("choice_3", "חשמלית"),
    )
    with filled.edit("Add documents"):
        record = Record(Document("asked", texts))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    return id, labels.add_layer(filled, "answer", "choice")


@pytest.fixture
def view(asked, state, open_view):
    made = open_view(state)
    state.session.open(asked[0])
    made.take_focus()
    return made


def chosen(state):
    return [number for number, choice in enumerate(state.choices.choices, 1) if choice.chosen]


def test_a_click_beside_the_choices_lets_number_keys_choose(view, state):
    search = next(field for field in view.findChildren(QLineEdit) if field.isVisible())
    search.setFocus()
    last = rows(view)[-1]
    below = last.mapTo(view, QPoint(20, last.height() + 60))

    QTest.mouseClick(view.childAt(below), Qt.MouseButton.LeftButton)

    assert view.window().focusWidget() is view.first
    QTest.keyClick(view.first, Qt.Key.Key_2)
    assert chosen(state) == [2]


def test_a_number_key_chooses_and_undo_takes_it_back(view, state, asked, filled):
    QTest.keyClick(view.first, Qt.Key.Key_2)
    assert chosen(state) == [2] and [row.isChecked() for row in rows(view)] == [False, True, False]

    QTest.keyClick(view.first, Qt.Key.Key_3)
    assert chosen(state) == [3]
    assert document_view.view(filled, asked[0]).states[asked[1]] == "draft"

    filled.undo()
    assert chosen(state) == [2]
    QTest.keyClick(view.first, Qt.Key.Key_7)  # there is no such choice
    QTest.keyClick(view.first, Qt.Key.Key_2)
    assert chosen(state) == []


def rows(view):
    return [row for row in view._document_pane.choices.rows if row.isVisible()]


def test_a_click_chooses_and_long_texts_are_wrapped(view, state):
    first, second, third = rows(view)

    QTest.mouseClick(second, Qt.MouseButton.LeftButton)

    assert chosen(state) == [2] and second.height() > 2 * first.height()
    assert second.accessibleDescription() == "chosen" and not first.hasFocus()
    assert third._text.layoutDirection() == Qt.LayoutDirection.RightToLeft


def test_a_suggestion_is_shown_on_its_choice_and_accepted(view, state, asked, filled):
    layer = labels.layers(filled)[-1]
    number = layer.label("3").id
    made = [NewSuggestion(asked[0], layer.id, number, score=0.75)]
    suggestion_edits.add_suggestions(filled, None, made, kind="rule", ref="test")
    state.session.open(asked[0])

    assert state.choices.choices[2].score == 0.75
    assert "75" in rows(view)[2].accessibleDescription()
    QTest.keyClick(view.first, Qt.Key.Key_A)
    assert chosen(state) == [3]


def test_other_documents_have_no_choices(view, state):
    state.session.open(state.session.document_id - 1)

    assert state.choices.choices == () and rows(view) == []


def test_a_choice_beyond_the_labels_of_a_layer_adds_them(filled, asked):
    document, layer = asked
    names = [label.name for label in labels.layers(filled)[-1].labels]
    assert names == ["1", "2", "3"]

    for label in labels.layers(filled)[-1].labels[1:]:
        labels.delete_label(filled, label.id)
    annotate.choose(filled, document, layer, 3)

    assert [label.name for label in labels.layers(filled)[-1].labels] == ["1", "2", "3"]
    with pytest.raises(WorkbenchError, match="not among the choices"):
        annotate.choose(filled, document, layer, 4)
    with pytest.raises(WorkbenchError, match="numbers of the choices, not 'good'"):
        labels.add_layer(filled, "other", "choice", labels=("good",))


def test_the_choices_take_only_the_height_they_need(view, state, filled, qtbot):
    texts = (("text", "word " * 70), ("question", "What?"), ("choice_1", "a"), ("choice_2", "b"))
    with filled.edit("Add documents"):
        record = Record(Document("long", texts))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    view.resize(1000, 700)

    state.session.open(id)

    text = view.document_pane.texts[0]
    qtbot.waitUntil(lambda: text.height() >= text.content_height(), timeout=2_000)


@pytest.fixture
def compared(filled):
    """(id of a prompt with a long and a right-to-left answer, id of its layer)"""
    texts = (("text", "When?"), ("choice_1", LONG), ("choice_2", "כל עשר דקות"))
    with filled.edit("Add documents"):
        record = Record(Document("compared", texts))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    return id, labels.add_layer(filled, "better", "preference")


@pytest.fixture
def comparing(compared, state, open_view, qtbot):
    made = open_view(state)
    made.resize(1600, 800)
    state.session.open(compared[0])
    made.take_focus()
    qtbot.waitUntil(lambda: len(rows(made)) == 2)
    return made


def test_compared_answers_are_side_by_side_where_there_is_room(comparing, qtbot):
    first, second = rows(comparing)
    qtbot.waitUntil(lambda: first.y() == second.y() and first.x() < second.x(), timeout=2_000)
    assert first.height() == second.height()
    assert second._text.layoutDirection() == Qt.LayoutDirection.RightToLeft

    comparing.resize(900, 800)

    qtbot.waitUntil(lambda: first.x() == second.x() and first.y() < second.y(), timeout=2_000)
    assert [label.text() for label in comparing.document_pane._titles[:1]] == ["Prompt"]


def test_an_answer_is_preferred_by_key_and_mouse_or_both_are_equal(
    comparing, state, compared, filled
):
    def state_of():
        return document_view.view(filled, compared[0]).states.get(compared[1])

    QTest.keyClick(comparing.first, Qt.Key.Key_2)
    assert chosen(state) == [2]
    QTest.mouseClick(rows(comparing)[0], Qt.MouseButton.LeftButton)
    assert chosen(state) == [1] and state_of() == "draft"
    QTest.keyClick(comparing.first, Qt.Key.Key_1)
    assert chosen(state) == []

    annotate.submit(filled, compared[0], [compared[1]])

    assert state_of() == "submitted"
    filled.undo()
    filled.undo()
    assert chosen(state) == [1]
