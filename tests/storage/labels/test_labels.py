import pytest

from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def topic(project):
    """Layer `topic` with labels A, B, C, and a document that is submitted with A."""
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "topic", "class", options={"why": 1})
        ids = [labels.add_label(project.db, layer, name) for name in "ABC"]
        record = Record(Document("k", (("text", "x"),)), {"topic": "submitted"}, {"topic": ("A",)})
        (document,) = documents.add(project.db, [record], source_id=project.source("import"))
    return layer, ids, document


def names(project, layer):
    return labels.layer(project.db, layer).names


@pytest.mark.parametrize(
    ("place", "expected"), [(0, "CAB"), (1, "ACB"), (2, "ABC"), (99, "ABC"), (-5, "CAB")]
)
def test_a_label_moves_and_the_others_make_room(project, topic, place, expected):
    layer, ids, _document = topic

    with project.edit("move"):
        labels.move_label(project.db, ids[2], place)

    assert "".join(names(project, layer)) == expected
    assert [label.position for label in labels.layer(project.db, layer).labels] == [0, 1, 2]


def test_a_new_label_stands_at_the_end_also_after_one_was_deleted(project, topic):
    layer, ids, _document = topic
    with project.edit("change"):
        labels.delete_label(project.db, ids[1])
        labels.add_label(project.db, layer, "D")

    assert names(project, layer) == ("A", "C", "D")


def test_deleting_a_class_sends_its_submitted_documents_back_and_undo_brings_all_back(
    project, topic
):
    layer, ids, document = topic
    assert labels.usage(project.db, ids) == {
        "marks": 1,
        "spans": 0,
        "suggestions": 0,
        "relations": 0,
        "annotations": 1,
        "documents": 1,
    }

    with project.edit("delete"):
        labels.delete_label(project.db, ids[0])

    assert annotations.states(project.db, document) == {layer: "draft"} and labels.submitted_counts(
        project.db
    ) == {layer: 0}
    project.undo()
    assert annotations.states(project.db, document) == {layer: "submitted"} and labels.counts(
        project.db
    ) == {
        ids[0]: 1,
        ids[1]: 0,
        ids[2]: 0,
    }


def test_options_can_change_but_not_how_many_texts_a_document_has(project, topic):
    layer, *_ = topic
    with project.edit("change"):
        labels.update_layer(project.db, layer, options={"other": 2, "texts": 5}, guideline="# How")

    result = labels.layer(project.db, layer)
    assert (result.texts, dict(result.options), result.guideline) == (1, {"other": 2}, "# How")
    with pytest.raises(TypeError, match="kind"), project.edit("odd"):
        labels.update_layer(project.db, layer, kind="span")
    with pytest.raises(KeyError), project.edit("none"):
        labels.update_label(project.db, 999, name="x")


def test_a_deleted_layer_takes_all_along_and_leaves_the_document(project, topic):
    layer, ids, document = topic
    with project.edit("delete"):
        labels.delete_layer(project.db, layer)

    assert (
        labels.layers(project.db) == ()
        and labels.counts(project.db) == {}
        and annotations.marks(project.db, document) == ()
    )
    with pytest.raises(KeyError):
        labels.label(project.db, ids[0])
    assert documents.get(project.db, document).key == "k"
    project.undo()
    assert names(project, layer) == ("A", "B", "C") and annotations.states(
        project.db, document
    ) == {layer: "submitted"}
