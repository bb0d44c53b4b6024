"""Labelling by sentence or paragraph."""

import pytest

from tests.held import Held
from workbench.operations.annotation import annotate, document_view
from workbench.operations.documents import parts
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.panels.annotate.units import UnitState

BOOK = "Ada met Bob. They went home.\nIt was late. Nobody came."


def label_id(state, name: str) -> int:
    return next(id for id, (_layer, label) in state.session.label_of.items() if label.name == name)


@pytest.fixture
def book(state):
    """A state with a document of four sentences open, by sentence."""
    with state.project.edit("Add"):
        records = [Record(Document("book", (("text", BOOK),)))]
        ids = documents.add(state.project.db, records, source_id=state.project.source("person"))
    state.session.open(ids[0])
    state.session.units.choose_kind("sentence")
    return state


def focused(state) -> str:
    return state.session.doc.document.text[slice(*state.session.units.range)]


def test_a_text_is_labelled_as_a_whole_until_units_are_chosen(state):
    assert state.session.units.range is None
    assert state.session.units.message == ""


def test_enter_goes_to_the_next_sentence_and_submits_after_the_last(book):
    here = book.session.document_id
    seen = []
    for _turn in range(4):
        seen.append((focused(book), book.session.units.message))
        book.submission.finish_unit()

    assert seen[1] == ("They went home.", "Sentence 2 of 4")
    assert [text for text, _told in seen][-1] == "Nobody came."
    assert book.session.document_id != here
    assert "submitted" in document_view.view(book.project, here).states.values()


def test_the_line_above_the_text_follows_each_kind_of_unit(book, open_view):
    unit = open_view(book).head._unit
    found = []
    for kind in ("paragraph", "sentence", "document"):
        book.session.units.choose_kind(kind)
        found.append(unit.text())

    assert found == ["Paragraph 1 of 2", "Sentence 1 of 4", "Whole document"]


def test_submitting_before_the_last_sentence_says_so_with_undo(book, context):
    here = book.session.document_id
    book.session.label(label_id(book, "good"))
    book.submission.submit()

    assert context.message[-1] == (
        "Submitted book as a whole (Sentence 1 of 4)."
        " Submitted book in mood only: names has no labels."
    )
    assert "submitted" in document_view.view(book.project, here).states.values()


def test_the_kind_of_units_is_kept_for_the_project(book, context):
    again = UnitState(context)

    assert again.kind == "sentence"
    again.close()


def test_changing_the_kind_keeps_the_place(book):
    book.session.units.follow(BOOK.index("late"))
    book.session.units.choose_kind("paragraph")

    assert book.session.units.message == "Paragraph 2 of 2"


def test_a_document_opens_at_the_sentence_where_it_was_left(book, context):
    here = book.session.document_id
    book.session.step_unit(1)
    book.session.step_unit(1)
    book.session.open(book.queue.ids[0])
    assert book.session.units.at == 0
    book.session.open(here)
    assert focused(book) == "It was late."


def test_steps_go_on_to_the_neighbouring_documents(book):
    book.session.step_unit(-1)
    assert book.session.doc.document.key == "pair"
    assert book.session.units.ranges == ()  # documents with two texts are labelled as a whole

    book.session.open(book.queue.ids[book.queue.ids.index(book.session.document_id) - 1])
    before = book.session.document_id
    book.session.step_unit(1)
    assert book.session.document_id != before


def test_a_new_span_ends_with_its_sentence_unless_spans_may_cross(book):
    person = label_id(book, "PER")
    book.session.label(person, SpanTarget("text", 8, 17))
    book.session.choose(None)
    book.session.units.set_free(True)
    book.session.label(person, SpanTarget("text", 8, 17))

    assert [(row.start, row.end) for row in book.session.spans] == [(8, 17), (8, 12)]


def test_a_span_is_not_resized_beyond_its_sentence(book):
    book.session.label(label_id(book, "PER"), SpanTarget("text", 8, 11))
    book.spans.resize(4, 20)

    assert (book.session.chosen_span().start, book.session.chosen_span().end) == (4, 12)


def test_selecting_a_span_focuses_its_sentence(book):
    at = BOOK.index("Nobody")
    id = annotate.add_span(
        book.project, book.session.document_id, at, at + 6, label_id(book, "PER")
    )
    book.session.choose(("gold", id))

    assert focused(book) == "Nobody came."


def test_a_long_text_is_divided_in_the_background(book, monkeypatch):
    monkeypatch.setattr("workbench.ui.panels.annotate.units.LARGE_TEXT_LENGTH", 10)
    held = Held(book.context)
    book.session.units.choose_kind("paragraph")
    book.session.units.choose_kind("sentence")
    assert book.session.units.ranges == ()
    held.rest()

    assert book.session.units.message == "Sentence 1 of 4"


def test_a_part_of_a_document_is_shown_between_its_neighbours(book):
    parts.split(book.project, [book.session.document_id], "sentence")
    book.session.units.choose_kind("document")
    here = next(id for id in book.queue.ids if key(book, id) == "book/2")
    book.session.open(here)

    assert book.session.units.beside == ("Ada met Bob.", "It was late.")
    book.session.open(book.queue.ids[0])
    assert book.session.units.beside == ("", "")


def key(state, id: int) -> str:
    return document_view.view(state.project, id).document.key


def test_a_large_text_that_is_opened_again_while_it_is_divided_has_its_units(book, monkeypatch):
    monkeypatch.setattr("workbench.ui.panels.annotate.units.LARGE_TEXT_LENGTH", 10)
    held = Held(book.context)
    book.session.units.choose_kind("paragraph")

    book.session.open(book.session.document_id)
    held.answer(0)

    assert book.session.units.message == "Paragraph 1 of 2"
