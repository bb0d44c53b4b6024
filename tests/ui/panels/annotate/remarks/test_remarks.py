"""Notes and flags in Annotate: of the document, of the selected span, and in lists."""

import pytest

from tests.ui.panels.annotate.test_session import label_id
from workbench.operations.documents import notes
from workbench.ui.panels.annotate.session import SpanTarget


@pytest.fixture
def spanned(state):
    """The state with the first document open and a span in it."""
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.session.choose(None)
    return state


def test_flags_and_notes_belong_to_the_document_or_to_the_selected_span(spanned):
    state, span = spanned, spanned.session.spans[0].id
    state.remarks.toggle("unsure")
    state.remarks.set_note("ask\nAda")
    state.session.choose(("gold", span))
    assert state.remarks.note == "" and dict(state.remarks.choices)["unsure"] is False
    state.remarks.set_note("who?")
    state.remarks.toggle("discuss")

    assert state.session.remarks.line() == "flag unsure · ask Ada"
    assert state.session.remarks.line(span) == "flag discuss · who?"
    (row,) = state.queue.rows([state.session.document_id])
    assert (row.flags, row.note) == (("unsure", "discuss"), "ask Ada · who?")

    state.remarks.toggle("discuss")
    assert state.remarks.names == ()


def test_another_document_shows_its_own_notes_and_undo_takes_one_back(spanned):
    state = spanned
    state.remarks.set_note("first")
    state.queue.step(1)
    assert state.session.remarks.line() == ""

    state.project.undo()
    assert notes.of_document(state.project, state.queue.ids[0]).note() == ""


def test_the_note_of_a_deleted_span_goes_and_comes_back_with_it(spanned):
    state, span = spanned, spanned.session.spans[0].id
    state.session.choose(("gold", span))
    state.remarks.set_note("who?")
    state.delete_chosen()
    assert state.session.remarks.line(span) == ""

    state.project.undo()

    assert state.session.remarks.line(span) == "who?"


def test_the_queue_is_filtered_by_flags_as_they_are_set(spanned):
    state = spanned
    state.remarks.toggle("unsure")
    state.queue.query.set("flag:unsure")
    assert len(state.queue.ids) == 1

    state.remarks.toggle("unsure")
    state.queue.query.set("-flag:unsure")
    assert len(state.queue.ids) == state.queue.total
