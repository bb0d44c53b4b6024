"""Notes and flags in Annotate: of the document, of the selected span, and in lists."""

import pytest

from tests.ui.panels.annotate.test_state import label_id
from workbench.operations.documents import notes
from workbench.ui.panels.annotate.state import SpanTarget


@pytest.fixture
def spanned(state):
    """The state with the first document open and a span in it."""
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.choose(None)
    return state


def test_flags_and_notes_belong_to_the_document_or_to_the_selected_span(spanned):
    state, span = spanned, spanned.spans[0].id
    state.remarks.toggle("unsure")
    state.remarks.set_note("ask\nAda")
    state.choose(("gold", span))
    assert state.remarks.note == "" and dict(state.remarks.choices)["unsure"] is False
    state.remarks.set_note("who?")
    state.remarks.toggle("discuss")

    assert state.remarks.line() == "flag unsure · ask Ada"
    assert state.remarks.line(span) == "flag discuss · who?"
    (row,) = state.rows([state.document_id])
    assert (row.flags, row.note) == (("unsure", "discuss"), "ask Ada · who?")

    state.remarks.toggle("discuss")
    assert state.remarks.names == ()


def test_another_document_shows_its_own_notes_and_undo_takes_one_back(spanned):
    state = spanned
    state.remarks.set_note("first")
    state.step(1)
    assert state.remarks.line() == ""

    state.project.undo()
    assert notes.of_document(state.project, state.ids[0]).note() == ""


def test_the_note_of_a_deleted_span_goes_and_comes_back_with_it(spanned):
    state, span = spanned, spanned.spans[0].id
    state.choose(("gold", span))
    state.remarks.set_note("who?")
    state.delete_chosen()
    assert state.remarks.line(span) == ""

    state.project.undo()

    assert state.remarks.line(span) == "who?"


def test_the_queue_is_filtered_by_flags_as_they_are_set(spanned):
    state = spanned
    state.remarks.toggle("unsure")
    state.query.set("flag:unsure")
    assert len(state.ids) == 1

    state.remarks.toggle("unsure")
    state.query.set("-flag:unsure")
    assert len(state.ids) == state.total
