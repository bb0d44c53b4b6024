"""All occurrences of a text: what is found, what is left out, one undo step."""

import pytest

from workbench.base.errors import SpecError
from workbench.operations.annotation import annotate, document_view, occurrences, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.annotation.occurrences import (
    LABELLED,
    NEW,
    OVERLAPS,
    SUGGESTED,
    pattern_of,
)
from workbench.operations.schema import labels
from workbench.storage.queries.listing import Filter


@pytest.fixture
def stop(project):
    layer = labels.add_layer(project, "places", "span")
    return labels.add_label(project, layer, "STOP")


@pytest.fixture
def ids(project, stop, add_texts):
    return add_texts(
        ["Stood at Elm Park, then Elm Park again.", "Elm Parks, elm park", "Old Dock", "Elm\nPark"]
    )


def search(project, stop, where=None, **options):
    return occurrences.find_occurrences(project, pattern_of("Elm Park", stop, **options), where)


def places(found):
    return [(row.document_id, row.start, row.end) for row in found.rows]


def test_whole_words_in_the_same_case_are_found_in_all_documents(project, stop, ids):
    found = search(project, stop)

    assert places(found) == [(ids[0], 9, 17), (ids[0], 24, 32), (ids[3], 0, 8)]
    assert found.documents == 2 and not found.cut
    assert [(row.before, row.text, row.after) for row in found.rows][0] == (
        "Stood at ",
        "Elm Park",
        ", then Elm Park again.",
    )


def test_a_text_with_a_line_break_is_one_pattern(project, stop, ids):
    found = occurrences.find_occurrences(project, pattern_of("Elm\nPark", stop))

    assert places(found) == [(ids[0], 9, 17), (ids[0], 24, 32), (ids[3], 0, 8)]


def test_parts_of_words_other_case_and_a_filter_are_options(project, stop, ids):
    second = Filter(ids=[ids[1]])

    assert places(search(project, stop, where=second)) == []
    assert places(search(project, stop, where=second, whole_words=False)) == [(ids[1], 0, 8)]
    found = search(project, stop, where=second, whole_words=False, match_case=False)
    assert places(found) == [(ids[1], 0, 8), (ids[1], 11, 19)]


def test_places_that_are_labelled_suggested_or_overlapping_are_shown_as_such(project, stop, ids):
    layer = labels.layers(project)[0].id
    annotate.add_span(project, ids[0], 9, 17, stop)
    annotate.add_span(project, ids[0], 20, 39, labels.add_label(project, layer, "LINE"))
    suggested = NewSuggestion(ids[3], layer, stop, 0, 8)
    suggestion_edits.add_suggestions(project, None, [suggested], kind="rule")

    rows = search(project, stop).rows

    assert [(row.status, row.other) for row in rows] == [
        (LABELLED, "STOP"),
        (OVERLAPS, "LINE"),
        (SUGGESTED, ""),
    ]
    assert [row.is_free(gold=True) for row in rows] == [False, False, True]
    assert [row.is_free(gold=False) for row in rows] == [False, False, False]
    assert [row.may_be_labelled(gold=True) for row in rows] == [False, True, True]


def test_all_places_are_labelled_in_one_undo_step_and_their_documents_become_drafts(
    project, stop, ids
):
    wanted = pattern_of("Elm Park", stop)
    rows = search(project, stop).rows

    assert occurrences.label_occurrences(project, wanted, rows, gold=True) == 3

    view = document_view.view(project, ids[0])
    assert [(span.start, span.end) for span in view.spans] == [(9, 17), (24, 32)]
    assert set(view.states.values()) == {"draft"}
    assert {row.status for row in search(project, stop).rows} == {LABELLED}
    project.undo()
    view = document_view.view(project, ids[0])
    assert view.spans == () and set(view.states.values()) == {"pending"}


def test_as_suggestions_nothing_is_gold_and_the_documents_stay_pending(project, stop, ids):
    wanted, rows = pattern_of("Elm Park", stop), search(project, stop).rows

    assert occurrences.label_occurrences(project, wanted, rows[:1], gold=False) == 1

    view = document_view.view(project, ids[0])
    assert view.spans == () and set(view.states.values()) == {"pending"}
    assert [(row.start, row.end) for row in view.suggestions] == [(9, 17)]
    assert [row.status for row in search(project, stop).rows] == [SUGGESTED, NEW, NEW]


def test_places_that_were_labelled_since_the_search_are_left_out(project, stop, ids):
    wanted, rows = pattern_of("Elm Park", stop), search(project, stop).rows
    annotate.add_span(project, ids[0], 9, 17, stop)

    assert occurrences.label_occurrences(project, wanted, rows, gold=True) == 2


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["我在北京住。", "南京"], "北京"),
        (["زرت القاهرة أمس", "بغداد"], "القاهرة"),
        (["in Zu\u0308rich 😀", "Bern"], "Zürich"),
        (["costs £12 here", "£120"], "£12"),
        (["😀 and 😀", "x"], "😀"),
    ],
)
def test_scripts_composed_letters_and_symbols_are_found(project, stop, add_texts, texts, wanted):
    ids = add_texts(texts)

    found = occurrences.find_occurrences(project, pattern_of(wanted, stop)).rows

    assert found and {row.document_id for row in found} == {ids[0]}


def test_a_class_label_and_an_empty_text_are_refused(project, stop):
    topic = labels.add_label(project, labels.add_layer(project, "topic", "class"), "sport")

    with pytest.raises(SpecError, match="sport is not a label for spans"):
        occurrences.find_occurrences(project, pattern_of("Elm", topic))
    with pytest.raises(SpecError, match="no text to search for"):
        occurrences.find_occurrences(project, pattern_of(" ", stop))


def test_occurrences_of_a_tag_are_tokens_and_a_gold_tag_replaces_the_one_there(project, add_texts):
    layer = labels.add_layer(project, "pos", "tag")
    noun, verb = (labels.add_label(project, layer, name) for name in ("NOUN", "VERB"))
    first, second = add_texts(["Old Dock, Old", "an Old Dock"])
    annotate.add_span(project, first, 4, 8, verb)
    annotate.add_span(project, second, 3, 6, noun)
    wanted = pattern_of("Old Dock", noun)

    found = occurrences.find_occurrences(project, wanted)

    assert [(row.document_id, row.text, row.status) for row in found.rows] == [
        (first, "Old", NEW),
        (first, "Dock", OVERLAPS),
        (second, "Old", LABELLED),
        (second, "Dock", NEW),
    ]
    rows = [row for row in found.rows if row.may_be_labelled(gold=True)]
    assert occurrences.label_occurrences(project, wanted, rows, gold=True) == 3
    tags = [
        [(span.start, span.label_id) for span in document_view.view(project, id).spans]
        for id in (first, second)
    ]
    assert tags == [[(0, noun), (4, noun)], [(3, noun), (7, noun)]]
    project.undo()
    assert [span.label_id for span in document_view.view(project, first).spans] == [verb]
