"""Numbers and written texts by keys and mouse."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import document_view, suggestion_edits, values
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.row_words import RowWords


@pytest.fixture
def rated(filled):
    """(id of a pair, id of its layer of numbers from 0 to 5 in steps of 0.5, and of texts)"""
    with filled.edit("Add documents"):
        pair = (("text", "A tram runs."), ("text_b", "A lift runs."))
        record = Record(Document("pair", pair))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    scale = {"minimum": 0.0, "maximum": 5.0, "step": 0.5}
    score = labels.add_layer(filled, "similarity", "score", texts=2, options=scale)
    return id, score, labels.add_layer(filled, "why", "text", texts=2)


@pytest.fixture
def view(rated, state, open_view):
    made = open_view(state)
    state.session.open(rated[0])
    made.take_focus()
    return made


def editor(view, layer):
    return view._document_pane._values.editors[layer]


def value(filled, rated, layer=1):
    return document_view.view(filled, rated[0]).value(rated[layer])


def press(view, text):
    for letter in text:
        QTest.keyClicks(view.first, letter)


def test_digits_set_the_number_and_undo_takes_it_back(view, filled, rated):
    press(view, "3")
    assert value(filled, rated) == 3.0
    press(view, ".5")
    assert value(filled, rated) == 3.5
    press(view, "4")  # the scale has one decimal place
    assert value(filled, rated) == 4.0
    press(view, "9")
    assert value(filled, rated) == 4.0

    filled.undo()
    assert editor(view, rated[1]).field.text() == "3.5"


def test_a_point_belongs_to_a_number_only_after_its_digits(view, state):
    assert not state.values.typing_number
    press(view, "4")
    assert state.values.typing_number
    press(view, ".")
    assert not state.values.typing_number


def test_plus_and_minus_move_by_a_step_and_stay_on_the_scale(view, filled, rated):
    press(view, "5+")
    assert value(filled, rated) == 5.0
    press(view, "-")
    assert value(filled, rated) == 4.5
    QTest.keyClick(view.first, Qt.Key.Key_Backspace)
    assert value(filled, rated) is None


def test_the_slider_takes_clicks_and_keys_and_enter_submits(view, filled, rated, state):
    slider = editor(view, rated[1]).slider
    QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 2, 10))
    assert value(filled, rated) == 2.5
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Home)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert value(filled, rated) == 0.5

    editor(view, rated[2]).field.setPlainText("both run")
    QTest.keyClick(slider, Qt.Key.Key_Return)
    states = document_view.view(filled, rated[0]).states
    assert (states[rated[1]], states[rated[2]]) == ("submitted", "submitted")


def test_a_number_outside_of_the_scale_is_refused_and_the_old_one_shown(view, filled, rated, state):
    press(view, "3")
    field = editor(view, rated[1]).field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "17")
    view.first.setFocus()
    assert value(filled, rated) == 3.0 and field.text() == "3"
    assert "not on the scale" in state.context.message[-1]


def test_a_text_is_stored_when_its_document_is_left(view, filled, rated, state):
    field = editor(view, rated[2]).field
    field.setFocus()
    QTest.keyClicks(field, "both run 5")
    state.queue.step(-1)
    assert value(filled, rated, 2) == "both run 5" and value(filled, rated) is None

    filled.undo()
    state.session.open(rated[0])
    assert editor(view, rated[2]).field.toPlainText() == ""


def test_a_suggested_number_is_shown_and_accepted_by_a(view, filled, rated, state):
    row = NewSuggestion(rated[0], rated[1], None, value=2.25)
    suggestion_edits.add_suggestions(filled, None, [row], kind="rule")
    assert "2.25" in editor(view, rated[1])._message.text()
    line = RowWords(state.session).line(state.session.suggestions[0])
    assert line == "2.25: as similarity"

    press(view, "a")
    assert value(filled, rated) == 2.25 and state.session.suggestions == ()


def test_a_suggested_text_is_shown_and_accepted_by_a(view, filled, rated, state):
    row = NewSuggestion(rated[0], rated[2], None, score=0.5, written="both\nrun")
    suggestion_edits.add_suggestions(filled, None, [row], kind="rule")
    assert editor(view, rated[2])._offered.text() == "suggested: both\nrun"
    line = RowWords(state.session).line(state.session.suggestions[0])
    assert line == "why: both run (0.50)"

    press(view, "a")
    assert value(filled, rated, 2) == "both\nrun" and state.session.suggestions == ()
    assert "why" not in [layer.name for layer in state.session.without_label]
    assert editor(view, rated[2]).field.toPlainText() == "both\nrun"


def test_plus_starts_a_chain_where_text_is_selected_and_moves_the_number_elsewhere(
    view, filled, rated, state
):
    labels.add_layer(filled, "chains", "cluster", texts=2)
    state.session.open(rated[0])
    press(view, "3")
    view.first.select(2, 6)
    press(view, "+")
    assert [span.chain for span in document_view.view(filled, rated[0]).spans] == [1]
    assert value(filled, rated) == 3.0

    view.unselect()
    view.first.select(0, 0)
    press(view, "+")
    assert value(filled, rated) == 3.5 and len(document_view.view(filled, rated[0]).spans) == 1


def test_the_state_of_more_than_two_layers_is_counted_and_listed_in_the_tooltip(
    view, filled, rated, state
):
    labels.add_layer(filled, "tone", "class", texts=2, labels=["same"])
    press(view, "3")
    state.session.open(rated[0])
    count = len(state.session.active)

    assert count > 2 and state.submission.states_short == f"draft: 1 of {count} layers"
    assert view.head.states.accessibleName() == state.submission.states_short
    assert "similarity: draft" in view.head.states.toolTip()


def test_a_text_that_cannot_be_stored_is_kept_and_stored_later(
    view, state, filled, rated, monkeypatch
):
    def full(*_args, **_named):
        raise WorkbenchError("The disk is full.")

    field = editor(view, rated[2]).field
    field.setFocus()
    with monkeypatch.context() as disk:
        disk.setattr(values, "write_text", full)
        QTest.keyClicks(field, "both run")
        state.session.open(state.queue.ids[0])
        assert "The disk is full." in state.context.message
        state.session.open(rated[0])
    assert editor(view, rated[2]).field.toPlainText() == "both run"
    assert value(filled, rated, 2) is None

    state.session.open(state.queue.ids[0])

    assert value(filled, rated, 2) == "both run" and not state.session.unsaved


def test_escape_leaves_the_fields_of_values_for_the_text(view, rated):
    number, written = (editor(view, rated[layer]) for layer in (1, 2))
    for part in (number.slider, number.field, written.field):
        part.setFocus()
        QTest.keyClick(part, Qt.Key.Key_Escape)
        assert view.first.hasFocus()
