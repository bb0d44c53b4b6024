import pytest

from workbench.storage.documents import bulk, documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def filled(project):
    """Layer `topic` (A, B) and three documents: submitted with A, draft with B, pending."""
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "topic", "class")
        a, b = (labels.add_label(project.db, layer, name) for name in "AB")
        rows = [("submitted", ("A",)), ("draft", ("B",)), (None, ())]
        records = [
            Record(
                Document(f"k{n}", (("text", f"t{n}"),)),
                {"topic": state} if state else {},
                {"topic": marks} if marks else {},
            )
            for n, (state, marks) in enumerate(rows)
        ]
        ids = documents.add(project.db, records, source_id=project.source("import"))
    return project, layer, a, b, ids


def set_class(project, ids, layer, label):
    with project.edit("set"):
        return bulk.set_class(
            project.db,
            ids,
            layer,
            label,
            annotator_id=project.annotator_id,
            source=lambda: project.source("person"),
        )


def test_a_class_for_all_leaves_submitted_ones_submitted_and_makes_pending_ones_drafts(filled):
    project, layer, a, _b, ids = filled

    assert set_class(project, ids, layer, a) == 2  # the first had it already

    records = list(documents.records(project.db))
    assert [record.marks for record in records] == [{"topic": ("A",)}] * 3
    assert [record.states["topic"] for record in records] == ["submitted", "draft", "draft"]
    project.undo()
    assert [record.marks.get("topic") for record in documents.records(project.db)] == [
        ("A",),
        ("B",),
        None,
    ]


def test_without_its_class_a_submitted_document_is_a_draft_and_a_draft_is_pending(filled):
    project, layer, _a, _b, ids = filled

    assert set_class(project, ids, layer, None) == 2

    assert [record.states.get("topic") for record in documents.records(project.db)] == [
        "draft",
        None,
        None,
    ]
    assert bulk.without_label(project.db, ids, layer, project.annotator_id) == ids


def test_rows_for_splitting_are_the_submitted_ones_with_their_class(filled):
    project, _layer, _a, _b, ids = filled

    (row,) = bulk.split_rows(project.db, ["topic"])
    assert (row.id, row.split) == (ids[0], None)
    assert bulk.split_labels(project.db, ["topic"]) == {ids[0]: (("topic", "A"),)}
    assert bulk.split_rows(project.db, ["other"]) == []
