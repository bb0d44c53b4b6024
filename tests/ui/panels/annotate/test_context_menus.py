"""The context menus of Annotate: on words, spans, suggestions and rows of the queue."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from tests.ui.context import choose, open_menu
from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.ui.panels.annotate.context_menus import _cut


@pytest.fixture
def view(state, open_view):
    return open_view(state)


def ids(state, layer):
    return {
        label.name: label.id
        for item in state.session.layers
        if item.name == layer
        for label in item.labels
    }


def named(view, name):
    return next(part for part in view.findChildren(QWidget) if part.accessibleName() == name)


def spans(state):
    names = {id: label.name for id, (_layer, label) in state.session.label_of.items()}
    return [
        (
            state.session.doc.document.content(span.field)[span.start : span.end],
            names[span.label_id],
        )
        for span in state.session.spans
    ]


def at(view, place):
    """A point in the middle of the character at a position."""
    return view.first.rect_of(place).center().toPoint()


def add(state, start, end, label):
    return annotate.add_span(
        state.project, state.session.document_id, start, end, ids(state, "names")[label]
    )


def test_the_word_under_the_mouse_is_labelled(view, state):
    choose(open_menu(view.first, at(view, 9)), "Label “Bob” as/PER")

    assert spans(state) == [("Bob", "PER")]


def test_chosen_text_is_labelled_copied_and_kept_under_the_mouse(view, state):
    view.first.select(0, 7)
    result = open_menu(view.first, at(view, 3))
    assert result["Label “Ada met” as/PER"].text().endswith("\t1")

    choose(result, "Copy")
    assert QGuiApplication.clipboard().text() == "Ada met"
    choose(open_menu(view.first, at(view, 3)), "Label “Ada met” as/LOC")
    assert spans(state) == [("Ada met", "LOC")]


def test_the_span_under_the_mouse_is_relabelled_moved_and_deleted(view, state):
    add(state, 0, 3, "PER")
    result = open_menu(view.first, at(view, 1))
    assert result["Change label/PER"].isChecked()
    choose(result, "Change label/TIME")
    assert spans(state) == [("Ada", "TIME")]

    choose(open_menu(view.first, at(view, 1)), "Move boundary/Extend end by a word")
    assert spans(state) == [("Ada met", "TIME")]
    assert not open_menu(view.first, at(view, 1))[
        "Move boundary/Extend start by a word"
    ].isEnabled()

    choose(open_menu(view.first, at(view, 1)), "Delete span")
    assert spans(state) == []


def test_a_suggestion_is_corrected_accepted_or_rejected(view, state):
    names = ids(state, "names")
    layer = next(layer.id for layer in state.session.layers if layer.name == "names")
    rows = [
        NewSuggestion(state.session.document_id, layer, names["PER"], start, end, "text", 0.9)
        for start, end in ((0, 3), (8, 11), (15, 20))
    ]
    suggestion_edits.add_suggestions(state.project, None, rows, kind="rule", ref="test")

    choose(open_menu(view.first, at(view, 16)), "Correct the label/LOC")
    choose(open_menu(view.first, at(view, 1)), "Accept suggestion")
    choose(open_menu(view.first, at(view, 9)), "Reject suggestion")
    assert spans(state) == [("Ada", "PER"), ("Paris", "LOC")] and not state.session.suggestions


def test_the_menu_key_opens_the_menu_of_the_chosen_span(view, state):
    add(state, 8, 11, "PER")
    state.spans.choose_step(1, "text", 0)

    choose(open_menu(view.first), "Delete span")
    assert spans(state) == []


def test_a_row_of_the_table_of_spans_has_the_menu_of_its_span(view, state):
    add(state, 8, 11, "PER")
    table = view.right.spans

    result = open_menu(table, table.visualRect(table.model().index(0, 0)).center())
    choose(result, "Change label/LOC")
    assert spans(state) == [("Bob", "LOC")]


def test_a_row_of_the_queue_is_opened_and_its_document_submitted(view, state, context):
    queue = view.queue.list
    place = queue.visualRect(queue.model().index(2, 0)).center()

    result = open_menu(queue, place)
    assert state.session.doc.document.key == "k2"
    choose(result, "Inspect")
    assert context.gone == [("inspect", {"document": state.session.document_id})]
    choose(open_menu(queue, place), "Copy key")
    assert QGuiApplication.clipboard().text() == "k2"

    here = state.session.document_id
    choose(open_menu(queue, place), "Discard document")
    assert "discarded" in document_view.view(state.project, here).states.values()


def test_without_the_right_to_write_only_copying_is_left(view, state, monkeypatch):
    monkeypatch.setattr(type(state.session), "can_write", False)

    result = open_menu(view.first, at(view, 9))
    assert result["Copy"].isEnabled() and not result["Label “Bob” as"].isEnabled()


def test_long_chosen_text_is_cut_in_the_middle_of_the_line(view):
    view.first.select(0, 21)
    assert "Label “Ada met Bob in Paris.” as" in open_menu(view.first, at(view, 3))

    assert _cut("one two three " * 9) == "one two three on…e one two three"


@pytest.mark.parametrize(("score", "text"), [(None, "Accept all"), (0.9, "Accept ≥")])
def test_a_limit_is_offered_only_where_suggestions_have_scores(view, state, score, text):
    names = ids(state, "names")
    layer = next(layer.id for layer in state.session.layers if layer.name == "names")
    row = NewSuggestion(state.session.document_id, layer, names["PER"], 0, 3, "text", score)
    suggestion_edits.add_suggestions(state.project, None, [row], kind="rule", ref="test")

    assert named(view, "Accept all confident suggestions").text().strip() == text
    limit = named(view, "Minimum score to accept")
    assert limit.isVisibleTo(view.right) == (score is not None)


def test_each_letter_in_the_menu_of_a_span_opens_one_entry(view, state):
    names = next(layer for layer in state.session.layers if layer.name == "names")
    id = annotate.add_span(state.project, state.session.document_id, 0, 3, names.labels[0].id)
    state.session.choose(("gold", id))
    titles = [choice.title for choice in view._menus.chosen() if choice and choice.enabled]

    letters = [title[title.index("&") + 1].lower() for title in titles if "&" in title]

    doubled = {letter for letter in letters if letters.count(letter) > 1}
    assert "&From you" in titles and not doubled
