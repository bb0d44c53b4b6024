import pytest

from workbench.storage.annotation import annotations, suggestions
from workbench.storage.annotation.annotations import NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import unfinished
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def filled(project):
    """A class layer, a span layer, a layer of pairs; two single documents and a pair.

    Gives (db, layers, label of each, ids, who).
    """
    with project.edit("fill"):
        made = [
            labels.add_layer(project.db, name, kind, texts=n)
            for name, kind, n in (("c", "multi", 1), ("s", "span", 1), ("p", "class", 2))
        ]
        named = [labels.add_label(project.db, layer, "A") for layer in made]
        pair = (("text", "one"), ("text_b", "two"))
        records = [
            Record(Document("a", (("text", "Ada met Bob"),))),
            Record(Document("b", pair)),
            Record(Document("c", (("text", "x"),))),
        ]
        ids = documents.add(project.db, records, source_id=project.source("import"))
        who = {"annotator_id": project.annotator_id, "source_id": project.source("person")}
    return project, made, named, ids, who


def test_a_span_is_added_once_and_a_change_by_hand_takes_its_score(filled):
    project, (_c, layer, _p), (_a, label, _b), ids, who = filled
    with project.edit("spans"):
        first = annotations.add_span(project.db, ids[0], layer, label, 0, 3, **who, score=0.5)
        assert annotations.add_span(project.db, ids[0], layer, label, 0, 3, **who) == first
        annotations.add_span(project.db, ids[0], layer, label, 0, 11, **who)
        annotations.update_span(project.db, first, source_id=who["source_id"], end=7)

    assert [
        (span.start, span.end, span.score) for span in annotations.spans(project.db, ids[0])
    ] == [
        (0, 11, None),
        (0, 7, None),
    ]
    project.undo()
    assert annotations.spans(project.db, ids[0]) == ()
    with pytest.raises(KeyError):
        annotations.span(project.db, first)
    with pytest.raises(KeyError), project.edit("gone"):
        annotations.update_span(project.db, first, source_id=who["source_id"], end=5)


def test_a_span_that_becomes_equal_to_another_takes_its_place(filled):
    project, (_c, layer, _p), (_a, label, _b), ids, who = filled
    with project.edit("spans"):
        short, long = (
            annotations.add_span(project.db, ids[0], layer, label, 0, end, **who) for end in (3, 7)
        )
        annotations.add_span(project.db, ids[2], layer, label, 0, 1, **who)
    with project.edit("grow"):
        annotations.update_span(project.db, short, source_id=who["source_id"], end=7)

    assert [span.id for span in annotations.spans(project.db, ids[0])] == [short] and len(
        annotations.spans(project.db, ids[2])
    ) == 1
    project.undo()
    assert [span.id for span in annotations.spans(project.db, ids[0])] == [long, short]


def test_a_class_replaces_the_one_before_unless_many_are_allowed(filled):
    project, (layer, *_), (a, *_rest), ids, who = filled
    with project.edit("marks"):
        b = labels.add_label(project.db, layer, "B")
        annotations.set_mark(project.db, ids[0], layer, a, **who)
        annotations.set_mark(project.db, ids[0], layer, b, **who)
    assert [mark.label_id for mark in annotations.marks(project.db, ids[0])] == [b]

    with project.edit("both"):
        for label in (a, b, a):
            annotations.set_mark(project.db, ids[0], layer, label, **who, many=True)
    assert [mark.label_id for mark in annotations.marks(project.db, ids[0])] == [b, a]

    with project.edit("one away"):
        annotations.clear_mark(project.db, ids[0], layer, who["annotator_id"], b)
    assert [mark.label_id for mark in annotations.marks(project.db, ids[0])] == [a]


def test_states_leave_out_documents_that_the_layer_is_not_for(filled):
    project, (single, _s, pairs), _labels, ids, who = filled
    me = who["annotator_id"]
    with project.edit("submit"):
        assert annotations.set_state(project.db, ids, single, me, "submitted") == 2
        assert annotations.set_state(project.db, ids, single, me, "submitted") == 0
        assert annotations.set_state(project.db, ids, pairs, me, "draft") == 1

    assert [annotations.states(project.db, id) for id in ids] == [
        {single: "submitted"},
        {pairs: "draft"},
        {single: "submitted"},
    ]
    with project.edit("back"):
        assert annotations.set_state(project.db, ids, single, me, "pending") == 2
    assert (
        annotations.state(project.db, ids[0], single, me) == "pending"
        and annotations.states(project.db, ids[0]) == {}
    )
    with pytest.raises(ValueError, match="odd"), project.edit("odd"):
        annotations.set_state(project.db, ids, single, me, "odd")


def test_the_next_document_to_label_goes_round_and_ends_with_the_one_at_hand(filled):
    project, (single, spans, pairs), _labels, ids, who = filled
    me, both = who["annotator_id"], [single, spans]
    assert unfinished.next_unlabelled(project.db, None, both) == ids[0]
    assert (
        unfinished.next_unlabelled(project.db, ids[0], both) == ids[2]
    )  # the pair is not for these layers
    assert unfinished.next_unlabelled(project.db, ids[2], both) == ids[0]

    with project.edit("submit"):
        for layer in both:
            annotations.set_state(project.db, [ids[2]], layer, me, "discarded")
        annotations.set_state(project.db, [ids[0]], single, me, "submitted")
    assert unfinished.next_unlabelled(project.db, ids[0], both) == ids[0]
    assert (
        unfinished.open_count(project.db, both) == 1 == unfinished.open_count(project.db, [pairs])
    )

    with project.edit("all"):
        annotations.set_state(project.db, [ids[0]], spans, me, "submitted")
    assert unfinished.next_unlabelled(project.db, None, both) is None


# ---------------------------------------------------------------- suggestions


def suggest(filled, *rows):
    project, *_, who = filled
    with project.edit("suggest"):
        suggestions.add_suggestions(project.db, rows, source_id=who["source_id"])
    return project.db


def test_open_suggestions_come_in_order_of_the_text_and_not_where_gold_says_the_same(filled):
    project, (classes, layer, _p), (mark, label, _b), ids, who = filled
    db = suggest(
        filled,
        NewSuggestion(ids[0], layer, label, 8, 11, score=0.4),
        NewSuggestion(ids[0], layer, label, 0, 3, score=0.9),
        NewSuggestion(ids[0], classes, mark, score=0.8),
    )
    assert [
        (suggestion.kind, suggestion.start) for suggestion in suggestions.suggestions(db, ids[0])
    ] == [
        ("class", None),
        ("span", 0),
        ("span", 8),
    ]

    with project.edit("label"):
        annotations.add_span(db, ids[0], layer, label, 0, 3, **who)
        annotations.set_mark(db, ids[0], classes, mark, **who)
    assert [suggestion.start for suggestion in suggestions.suggestions(db, ids[0])] == [8]


def test_a_status_is_set_once_and_known_ones_only(filled):
    project, (_c, layer, _p), (_a, label, _b), ids, _who = filled
    db = suggest(filled, NewSuggestion(ids[0], layer, label, 0, 3))
    (suggestion,) = suggestions.suggestions(db, ids[0])

    with project.edit("reject"):
        assert suggestions.set_suggestion_status(db, [suggestion.id], "rejected") == 1
        assert suggestions.set_suggestion_status(db, [suggestion.id], "rejected") == 0
        with pytest.raises(ValueError, match="odd"):
            suggestions.set_suggestion_status(db, [suggestion.id], "odd")

    assert (
        suggestions.suggestions(db, ids[0]) == ()
        and suggestions.suggestions(db, ids[0], "rejected")[0].id == suggestion.id
    )
    project.undo()
    assert [row.status for row in suggestions.by_ids(db, [suggestion.id, 999])] == ["open"]
