"""Labels that the tokenizer of a model would split, lose or cut; snapping to words."""

import pytest

from workbench.base import paths
from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate, document_view
from workbench.operations.evaluation import alignment_audit
from workbench.operations.evaluation.alignment_audit import audit, snap

STARTER = paths.resource("models/starter-bert")


@pytest.fixture
def places(project, add_layer, add_documents):
    """Layer `place` with labels of documents given as (text, spans); returns (layer, ids)."""

    def add(*rows):
        layer = add_layer("place", "span", ("PLACE",))
        full = [(text, "train", "submitted", "place", spans) for text, spans in rows]
        return layer, add_documents(full)

    return add


def kinds(found):
    return [(finding.kind, finding.quote, finding.fix) for finding in found.findings]


def test_boundaries_inside_words_and_spaces_are_found_with_their_fix(project, places):
    layer, _ids = places(("at Riverside Pier now", [(3, 15, "PLACE"), (17, 18, "PLACE")]),
                         ("at the Pier", [(7, 11, "PLACE")]))  # fmt: skip

    found = audit(project, layer, STARTER)

    assert kinds(found) == [("word", "Riverside Pi", (3, 17)), ("lost", " ", None)]
    assert (found.documents, found.labels) == (2, 3)


def test_labels_over_a_longer_one_are_left_out(project, places):
    layer, _ids = places(("north gate lift", [(0, 10, "PLACE"), (6, 10, "PLACE")]))

    assert kinds(audit(project, layer, STARTER)) == [("overlap", "gate", None)]


def test_nested_labels_are_learned_by_a_span_classifier(project, places):
    layer, _ids = places(("north gate lift", [(0, 10, "PLACE"), (6, 10, "PLACE"), (6, 9, "PLACE")]))

    found = audit(project, layer, STARTER, task="spans")

    assert kinds(found) == [("word", "gat", (6, 10))] and found.task == "spans"
    assert audit(project, layer, STARTER).task == "tag"
    with pytest.raises(WorkbenchError, match="'classify' does not learn layer 'place'"):
        audit(project, layer, STARTER, task="classify")


def test_documents_in_several_windows_are_long(project, places):
    layer, _ids = places(("tram " * 40, [(0, 4, "PLACE")]), ("tram", []))

    (item,) = audit(project, layer, STARTER, max_length=32).findings

    assert item.kind == "long" and item.amount >= 40


def test_a_class_layer_lists_truncated_documents(project, add_layer, add_documents):
    layer = add_layer("topic")
    add_documents([("tram " * 40, "train", "submitted", "topic", "praise")])

    assert [finding.kind for finding in audit(project, layer, STARTER, max_length=16).findings] == [
        "long"
    ]


def test_a_word_without_a_unit_is_lost(project, places):
    # a soft hyphen is a word for annotators; the normalizer of BERT removes it
    layer, _ids = places(("at \u00ad Pier", [(3, 9, "PLACE")]))

    assert [finding.kind for finding in audit(project, layer, STARTER).findings] == ["lost"]


def test_snapping_is_one_step_and_leaves_changed_labels_alone(project, places):
    layer, ids = places(
        ("at Riverside Pier", [(3, 15, "PLACE")]), ("by Mill Lane", [(4, 7, "PLACE")])
    )
    found = audit(project, layer, STARTER)
    moved = document_view.view(project, ids[1]).spans[0]
    annotate.resize_span(project, moved.id, 3, 6)

    assert snap(project, found.findings) == 1
    spans = [document_view.view(project, id).spans[0] for id in ids]
    assert [(row.start, row.end) for row in spans] == [(3, 17), (3, 6)]

    project.undo()
    assert document_view.view(project, ids[0]).spans[0].end == 15


def test_a_cancelled_audit_stops(project, places):
    layer, _ids = places(("at the Pier", [(7, 11, "PLACE")]))
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        audit(project, layer, STARTER, watch=watch)
    assert set(alignment_audit.TITLES) == set(alignment_audit.MEANINGS)
