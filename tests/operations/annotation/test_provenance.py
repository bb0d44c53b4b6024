"""Who made labels, accepting and rejecting by origin, and reverting everything from one."""

import pytest

from workbench.operations.annotation import (
    annotate,
    document_view,
    occurrences,
    patterns,
    provenance,
)
from workbench.operations.annotation.annotate import Filter, NewSuggestion
from workbench.operations.annotation.suggestion_edits import add_suggestions
from workbench.operations.schema import labels
from workbench.storage.annotation.provenance import Origin
from workbench.storage.queries import listing
from workbench.text.queries.patterns import WORDS, Pattern

ADA = Origin("rule", "pattern:Ada")


@pytest.fixture
def person(project):
    return labels.add_label(project, labels.add_layer(project, "names", "span"), "PER")


@pytest.fixture
def ids(project, person, add_texts):
    """Two documents with suggestions of the patterns Ada and Bob."""
    ids = add_texts(["Ada met Bob.", "Ada left"])
    patterns.add(project, [Pattern(WORDS, name, person) for name in ("Ada", "Bob")])
    patterns.apply(project)
    return ids


def layers(project):
    return [layer.id for layer in labels.layers(project)]


def spans(project, id):
    return [(span.start, span.end) for span in document_view.view(project, id).spans]


def test_labels_keep_who_made_them_and_when(project, person, ids):
    annotate.add_span(project, ids[0], 4, 7, person)
    provenance.decide(project, layers(project), accept=True, origin=ADA)

    names = provenance.Names(project)
    found = document_view.view(project, ids[0]).spans
    assert [names.of(provenance.origin_of(span)) for span in found] == ["pattern “Ada”", "you"]
    assert all(span.made_at.endswith("Z") for span in found)


def test_sources_are_listed_with_what_they_made(project, person, ids):
    provenance.decide(project, layers(project), accept=True, origin=ADA)
    wanted = occurrences.pattern_of("met", person)
    rows = occurrences.find_occurrences(project, wanted).rows
    occurrences.label_occurrences(project, wanted, rows, gold=True)

    found = provenance.sources(project)
    assert [(item.title, item.labels, item.suggestions) for item in found] == [
        ("all occurrences of “met”", 1, 0),
        ("pattern “Bob”", 0, 1),
        ("pattern “Ada”", 2, 0),
    ]


def test_all_suggestions_of_an_origin_are_accepted_or_rejected_in_one_step(project, ids):
    assert provenance.decide(project, layers(project), accept=True, origin=ADA) == 2
    assert [spans(project, id) for id in ids] == [[(0, 3)], [(0, 3)]]
    project.undo()
    assert [spans(project, id) for id in ids] == [[], []]

    assert provenance.decide(project, layers(project), accept=False, origin=ADA) == 2
    left = [row.source_ref for id in ids for row in document_view.view(project, id).suggestions]
    assert left == ["pattern:Bob"]


def test_a_score_limits_what_is_accepted_or_rejected(project, person, ids):
    layer = layers(project)[0]
    rows = [NewSuggestion(ids[1], layer, person, 4, 8, "text", 0.4)]
    add_suggestions(project, None, rows, kind="rule", ref="unsure")

    assert provenance.decide(project, [layer], accept=False, below=0.4) == 0
    assert provenance.decide(project, [layer], accept=True, least=0.5) == 3
    assert provenance.decide(project, [layer], accept=False, below=0.5) == 1


def test_everything_from_an_origin_is_reverted_in_one_undo_step(project, person, ids):
    provenance.decide(project, layers(project), accept=True, origin=ADA)
    annotate.submit(project, ids[0], layers(project))

    assert provenance.revert(project, ADA) == (2, 2)

    assert [spans(project, id) for id in ids] == [[], []]
    states = [*document_view.view(project, ids[0]).states.values()]
    assert states == ["submitted"]  # without spans it is a true negative
    assert [*document_view.view(project, ids[1]).states.values()] == ["pending"]
    assert [row.source_ref for row in document_view.view(project, ids[0]).suggestions] == [
        "pattern:Bob"
    ]
    assert project.undo() == "Revert pattern “Ada”"
    assert [spans(project, id) for id in ids] == [[(0, 3)], [(0, 3)]]


def test_a_submitted_class_that_is_reverted_becomes_a_draft(project, add_texts):
    layer = labels.add_layer(project, "topic", "class")
    label = labels.add_label(project, layer, "money")
    (id,) = add_texts(["£12"])
    patterns.add(project, [Pattern(WORDS, "12", label)])
    patterns.apply(project)
    origin = Origin("rule", "pattern:12")
    provenance.decide(project, [layer], accept=True, origin=origin)
    annotate.submit(project, id, [layer])

    provenance.revert(project, origin)

    assert document_view.view(project, id).states == {layer: "draft"}


def test_labels_changed_by_hand_stay(project, person, ids):
    provenance.decide(project, layers(project), accept=True, origin=ADA)
    span = document_view.view(project, ids[0]).spans[0]
    annotate.resize_span(project, span.id, 0, 7)

    provenance.revert(project, ADA)

    assert spans(project, ids[0]) == [(0, 7)] and spans(project, ids[1]) == []


def test_documents_are_filtered_by_origin(project, ids):
    found = [
        list(listing.ids(project.db, Filter(origin=Origin("rule", f"pattern:{name}"))))
        for name in ("Ada", "Bob", "Eve")
    ]

    assert found == [ids, ids[:1], []]
