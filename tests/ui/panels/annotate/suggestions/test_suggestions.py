"""Sources of suggestions and spans: filter, order, and acts on everything of one source."""

import pytest
from PySide6.QtWidgets import QComboBox

from tests.ui.context import choose, open_menu
from tests.ui.panels.annotate.test_session import label_id
from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import labels
from workbench.storage.annotation.provenance import Origin
from workbench.ui.panels.annotate.row_words import RowWords
from workbench.ui.panels.annotate.suggestions.suggestions import (
    BELOW,
    BY_SCORE,
    BY_SOURCE,
    SURE_ONES,
)
from workbench.ui.widgets.controls.chip import ChipButton

NAMES, TIMES = Origin("rule", "pattern:names"), Origin("rule", "pattern:times")


@pytest.fixture
def suggested(state):
    """Suggestions of two patterns: Ada (0.4), Bob (no score), 42 in the next document (0.9)."""
    layer = next(layer.id for layer in state.session.layers if layer.name == "names")
    ids = {label.name: id for id, (_layer, label) in state.session.label_of.items()}
    for ref, rows in (
        ("pattern:names", [(1, ids["PER"], 8, 11, None)]),
        ("pattern:times", [(1, ids["TIME"], 0, 3, 0.4), (2, ids["TIME"], 4, 6, 0.9)]),
    ):
        made = [
            NewSuggestion(document, layer, label, start, end, "text", score)
            for document, label, start, end, score in rows
        ]
        suggestion_edits.add_suggestions(state.project, None, made, kind="rule", ref=ref)
    state.session.open(1)
    return state


@pytest.fixture
def view(suggested, open_view):
    return open_view(suggested)


def starts(state):
    return [row.start for row in state.session.suggestions]


def test_suggestions_are_filtered_by_source_and_sorted(suggested):
    assert starts(suggested) == [0, 8]
    suggested.suggested.sort_suggestions(BY_SOURCE)
    assert starts(suggested) == [8, 0]
    suggested.suggested.sort_suggestions(BY_SCORE)
    assert starts(suggested) == [0, 8]

    suggested.suggested.show_source(NAMES)
    assert starts(suggested) == [8] and len(suggested.session.every_suggestion) == 2


def test_a_suggested_mention_is_told_with_its_chain_and_text(state):
    layer = labels.add_layer(state.project, "people", "cluster", labels=("m",))
    label = next(row for row in state.session.layers if row.id == layer).labels[0].id
    row = NewSuggestion(1, layer, label, 0, 3, "text", 0.5, 2)
    suggestion_edits.add_suggestions(state.project, None, [row], kind="rule")
    state.session.open(1)

    assert RowWords(state.session).line(state.session.suggestions[0]) == "2 · m: Ada (0.50)"


def test_who_made_what_is_told(suggested):
    assert suggested.suggested.origins == (
        (TIMES, "pattern “times”", 1),
        (NAMES, "pattern “names”", 1),
    )
    annotate.add_span(suggested.project, 1, 15, 20, suggested.session.suggestions[0].label_id)

    assert suggested.session.origins.maker(suggested.session.spans[0]) == "you"
    assert suggested.session.origins.made(suggested.session.spans[0]).startswith("you, today")


def test_suggestions_are_filtered_by_score(suggested):
    suggested.suggested.show_scores(BELOW)
    assert starts(suggested) == [0]
    suggested.suggested.show_scores(SURE_ONES)
    assert starts(suggested) == [8]  # without a score

    suggested.suggested.set_sure(0.3)

    assert starts(suggested) == [0, 8] and suggested.suggested.unsure == []


def test_those_below_a_score_are_rejected_here_and_in_all_documents(suggested):
    suggested.suggested.reject_unsure()
    assert starts(suggested) == [8] and suggested.context.message == ["Rejected 1 suggestion."]
    suggested.project.undo()

    suggested.suggested.set_sure(0.95)
    suggested.suggested.decide_everywhere(accept=False, below=suggested.suggested.sure)

    assert suggested.context.message[-1] == "Rejected 2 suggestions." and starts(suggested) == [8]
    assert document_view.view(suggested.project, 2).suggestions == ()


def test_a_source_is_decided_in_this_document_or_in_all(suggested):
    suggested.suggested.decide_here(TIMES, accept=True)
    assert [span.start for span in suggested.session.spans] == [0]
    assert suggested.context.message == ["Accepted 1 suggestion."]

    suggested.suggested.decide_everywhere(accept=False, origin=TIMES)
    assert document_view.view(suggested.project, 2).suggestions == ()
    suggested.project.undo()
    suggested.suggested.decide_everywhere(accept=True, least=0.8)
    assert len(document_view.view(suggested.project, 2).spans) == 1
    assert suggested.context.message[-1] == "Accepted 2 suggestions."


def test_everything_from_a_source_is_reverted(suggested):
    suggested.suggested.decide_everywhere(accept=True, origin=TIMES)
    suggested.suggested.revert(TIMES)

    assert suggested.session.spans == () and starts(suggested) == [8]
    assert suggested.context.message[-1] == "Deleted 2 labels. Deleted 2 suggestions."


def test_the_queue_is_filtered_by_who_made_labels(suggested):
    assert NAMES in [origin for origin, _title in suggested.queue.origin_choices]
    suggested.queue.narrow(origin=NAMES)
    assert list(suggested.queue.ids) == [1]
    assert suggested.queue.filters == ((0, "Made by: pattern “names”"),)

    suggested.queue.narrow(origin=TIMES)
    assert list(suggested.queue.ids) == [1, 2]


# ---------------------------------------------------------------- the page


def test_the_list_shows_sources_and_filters_by_them(view, suggested):
    right = view.right
    sources = next(
        box
        for box in right.findChildren(QComboBox)
        if box.accessibleName() == "Source of the suggestions"
    )
    assert [sources.itemText(n) for n in range(sources.count())] == [
        "All sources",
        "pattern “times” (1)",
        "pattern “names” (1)",
    ]
    sources.setCurrentIndex(2)
    assert [row.start for row in right.suggestions.rows()] == [8]


def test_the_menu_of_a_suggestion_has_acts_on_its_source(view, suggested):
    point = view.first.rect_of(1).center().toPoint()

    choose(open_menu(view.first, point), "From pattern “times”/Accept 1 in this document")
    assert [span.start for span in suggested.session.spans] == [0]

    source = "From pattern “times”/Revert everything from this source"
    choose(open_menu(view.first, point), source)
    assert suggested.session.spans == ()


def test_the_list_of_spans_and_the_chips_tell_who_made_them(view, suggested):
    suggested.suggested.accept(suggested.session.suggestions[0].id)
    suggested.session.label(label_id(suggested, "good"))

    (row,) = suggested.session.spans
    assert suggested.session.origins.briefly_made(row).startswith("pattern “times” at 0.40, ")
    chips = view.document_pane.findChildren(ChipButton)
    (good,) = [chip for chip in chips if chip.text() == "good"]
    assert "you, today" in good.toolTip()
    suggested.session.label(label_id(suggested, "bad"))
    assert good.toolTip() == ""


def test_the_scores_shown_are_chosen_beside_the_list(view, suggested):
    box = next(
        item
        for item in view.right.findChildren(QComboBox)
        if item.count() == 3 and "0.85" in item.itemText(2)
    )
    assert box.itemText(2) == "Below 0.85" and box.isVisible()

    box.setCurrentIndex(2)

    assert starts(suggested) == [0]
    suggested.suggested.set_sure(0.2)
    assert box.itemText(2) == "Below 0.20" and starts(suggested) == []
    assert len(view.right.suggestions.rows()) == 0
