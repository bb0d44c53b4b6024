"""The list of all occurrences: opening it, choosing places, adding the label."""

import pytest
from PySide6.QtCore import Qt

from workbench.operations.annotation import annotate
from workbench.ui.panels.annotate.patterns.occurrences import (
    DOCUMENT,
    PROJECT,
    QUEUE,
    OccurrenceTool,
)


@pytest.fixture
def view(state, open_view):
    return open_view(state)


@pytest.fixture
def listed(state):
    """The state of the list, searching for "42"."""
    listed = OccurrenceTool(state.session)
    listed.open("42")
    yield listed
    listed.close()


def label_id(state, name):
    return next(id for id, (_layer, label) in state.session.label_of.items() if label.name == name)


def keys(listed):
    return [listed.found.rows[index].key for index in sorted(listed.ticked)]


def test_all_documents_are_searched_first_and_free_places_are_ticked(state, listed):
    assert (listed.where, listed.gold) == (PROJECT, False)
    assert keys(listed) == ["k1", "k3"]

    listed.set(where=DOCUMENT)
    assert keys(listed) == []


def test_a_filtered_queue_can_be_searched_alone(state, listed):
    assert not listed.filtered
    state.queue.narrow(split="none", label_id=label_id(state, "PER"))
    listed.set(where=QUEUE)

    assert listed.filtered and keys(listed) == []


def test_unticked_places_are_left_out_and_the_rest_is_one_undo_step(state, listed):
    listed.set(gold=True)
    listed.toggle([0])
    assert keys(listed) == ["k3"]

    listed.add()

    assert state.context.message == ["Labelled 1 place."] and not listed.shown
    assert state.project.undo_title == "Label 1 occurrence as PER"


def test_a_place_that_has_the_label_cannot_be_ticked(state, listed):
    annotate.add_span(state.project, 2, 4, 6, label_id(state, "PER"))

    assert keys(listed) == ["k3"]
    listed.toggle([0, 1])
    assert keys(listed) == []
    listed.toggle([0])
    assert keys(listed) == []


def test_another_label_is_chosen_and_kept_for_the_next_time(state, listed):
    listed.set(label_id=label_id(state, "LOC"))
    listed.add()
    listed.open("Rome")

    assert listed.label_id == label_id(state, "LOC")


def test_many_places_are_labelled_off_the_main_thread(state, listed, monkeypatch):
    monkeypatch.setattr("workbench.ui.panels.annotate.patterns.occurrences.MAIN_THREAD_LIMIT", 1)
    listed.add()

    assert state.context.message == ["Added 2 suggestions."]


# ---------------------------------------------------------------- the pane


def test_m_lists_the_occurrences_of_the_selected_words_and_enter_adds_them(view, state, qtbot):
    state.session.open(2)
    view.first.select(4, 6)
    qtbot.keyClick(view.first, Qt.Key.Key_M)
    pane = view.occurrences
    assert pane.isVisible() and len(pane.table.rows()) == 2

    qtbot.keyClick(pane.table, Qt.Key.Key_3)
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)

    assert pane.isHidden() and [row.start for row in state.session.suggestions] == [4]
    assert state.session.suggestions[0].label_id == label_id(state, "TIME")


def test_the_label_of_a_selected_span_is_used_and_escape_closes(view, state, qtbot):
    annotate.add_span(state.project, state.session.document_id, 0, 3, label_id(state, "LOC"))
    state.spans.choose_step(1, "text", 0)
    qtbot.keyClick(view.first, Qt.Key.Key_M)
    pane = view.occurrences
    assert pane.state.text == "Ada" and pane.state.label_id == label_id(state, "LOC")

    qtbot.keyClick(pane.table, Qt.Key.Key_Escape)
    assert pane.isHidden()


def test_space_and_a_click_untick_a_place(view, state, qtbot):
    state.session.open(2)
    view.first.select(4, 6)
    view.occurrences.open()
    table = view.occurrences.table

    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert keys(view.occurrences.state) == ["k3"]
    place = table.visualRect(table.model().index(1, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert keys(view.occurrences.state) == []


def test_space_without_a_current_place_changes_nothing(view, state, qtbot):
    pane = view.occurrences
    pane.state.open("42")
    pane.table.setCurrentIndex(pane.table.model().index(-1, -1))
    ticked = keys(pane.state)

    qtbot.keyClick(pane.table, Qt.Key.Key_Space)

    assert ticked and keys(pane.state) == ticked


def test_a_list_that_was_left_has_no_rows_when_it_opens_for_other_words(view, state, monkeypatch):
    pane = view.occurrences
    pane.state.open("42")
    assert pane.table.rows()

    pane.leave()
    monkeypatch.setattr(pane.state, "search", lambda: None)  # it has not ended yet
    pane.state.open("Ada")

    assert pane.isVisible() and not pane.table.rows()
    pane.grab()


def test_without_a_document_nothing_is_listed(view, state):
    state.session.doc = None
    view.occurrences.open()

    assert view.occurrences.isHidden()


def test_places_of_the_document_are_those_of_the_one_that_is_open(state, listed):
    listed.set(where=DOCUMENT)
    assert keys(listed) == []

    state.session.open(2)
    assert keys(listed) == ["k1"]


def test_places_of_the_queue_follow_its_filter(state, listed):
    state.queue.narrow(split="none")
    listed.set(where=QUEUE)
    assert keys(listed) == ["k1", "k3"]

    state.queue.narrow(split="dev")
    assert keys(listed) == []
    state.queue.clear_filters()
    assert not listed.shown


def test_another_document_of_the_queue_leaves_the_ticks_as_they_are(state, listed):
    state.queue.narrow(split="none")
    listed.set(where=QUEUE)
    listed.toggle([0])

    state.queue.step(1)

    assert keys(listed) == ["k3"]
