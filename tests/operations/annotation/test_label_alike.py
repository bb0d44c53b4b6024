"""Labels copied to duplicates: as gold and as suggestions, with what has no place there."""

import pytest

from workbench.operations.annotation.label_alike import Copied, describe, label_alike
from workbench.operations.documents import duplicates
from workbench.operations.schema import labels as schema
from workbench.storage.annotation import suggestions
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span

TEXT = "Ada met Bob in New York on a cold day in May"
ADA, BOB, DAY = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(29, 37, "DAY")
FULL = {
    "states": dict.fromkeys(("topic", "names", "links", "score", "note", "qa"), "submitted"),
    "marks": {"topic": ("a",)},
    "spans": {"names": (ADA, BOB, DAY)},
    "relations": {"links": (Relation("met", ADA, BOB), Relation("on", BOB, DAY))},
    "numbers": {"score": 3.0},
    "written": {"note": "a meeting"},
    "questions": {"qa": (Question("Who?", ((0, 3),)), Question("When?", ((29, 37),)))},
}


@pytest.fixture
def alike(project):
    """alike(text, …) → ids: a labelled document and others with these texts, as one group."""
    schema.add_layer(project, "topic", "class", labels=("a", "b"))
    schema.add_layer(project, "names", "span", labels=("PER", "DAY"))
    schema.add_layer(project, "links", "relation", labels=("met", "on"))
    for name, kind in (("score", "score"), ("note", "text"), ("qa", "answer")):
        schema.add_layer(project, name, kind)

    def fill(*texts, **labels):
        records = [Record(Document("k0", (("text", TEXT),)), **(labels or FULL))]
        records += [
            text if isinstance(text, Record) else Record(Document(f"k{n}", (("text", text),)))
            for n, text in enumerate(texts, 1)
        ]
        with project.edit("fill"):
            ids = documents.add(project.db, records, source_id=project.source("import"))
        splits = (None,) * len(ids)
        return duplicates.DuplicateGroup(tuple(ids), splits, 1.0, True, "x")

    return fill


def bare(record):
    """The labels of a record without the ids of their rows."""
    spans = {name: [item.place for item in found] for name, found in record.spans.items()}
    relations = {name: [item.place for item in found] for name, found in record.relations.items()}
    return (
        dict(record.states), dict(record.marks), spans, relations, dict(record.numbers),
        dict(record.written), dict(record.questions),
    )  # fmt: skip


def test_all_labels_of_an_equal_text_are_copied_as_one_step(project, alike):
    group = alike(TEXT)

    copied = label_alike(project, [group])

    first, second = (documents.record(project.db, id) for id in group.ids)
    assert bare(first) == bare(second) and len(second.relations["links"]) == 2
    assert copied == Copied(1, 10, 0)
    assert project.undo() == "Copy labels in 1 group of duplicates"
    assert documents.record(project.db, group.ids[1]).states == {}


def test_labels_without_a_place_in_a_similar_text_are_left_out(project, alike):
    group = alike("So " + TEXT.replace("cold", "warm"))

    copied = label_alike(project, [group])

    found = documents.record(project.db, group.ids[1])
    assert [(span.start, span.end) for span in found.spans["names"]] == [(3, 6), (11, 14)]
    assert [relation.label for relation in found.relations["links"]] == ["met"]
    assert [question.answers for question in found.questions["qa"]] == [((3, 6),), ()]
    assert found.states == FULL["states"] | dict.fromkeys(("names", "links", "qa"), "draft")
    assert copied.lost == 3 and "3 labels could not be aligned" in describe(copied)


def test_as_suggestions_nothing_becomes_gold(project, alike):
    group = alike(TEXT)

    copied = label_alike(project, [group], suggest=True)

    assert documents.record(project.db, group.ids[1]).states == {}
    rows = suggestions.suggestions(project.db, group.ids[1])
    assert len(rows) == copied.labels == 5 and copied.documents == 1
    assert {row.source_ref for row in rows} == {"duplicates"}


def test_labelled_documents_are_kept_unless_they_are_to_be_overwritten(project, alike):
    other = Record(Document("other", (("text", TEXT),)), {"topic": "submitted"}, {"topic": ("b",)})
    group = alike(other)

    label_alike(project, [group])
    kept = documents.record(project.db, group.ids[1])
    label_alike(project, [group], overwrite=True)

    assert kept.marks == {"topic": ("b",)} and kept.numbers == {"score": 3.0}
    assert documents.record(project.db, group.ids[1]).marks == {"topic": ("a",)}


def test_the_source_can_be_chosen(project, alike):
    other = Record(Document("other", (("text", TEXT),)), {"topic": "submitted"}, {"topic": ("b",)})
    group = alike(other)

    label_alike(project, [group], source=group.ids[1], overwrite=True)

    found = documents.record(project.db, group.ids[0])
    assert found.marks == {"topic": ("b",)} and found.numbers == {"score": 3.0}


def test_documents_that_are_alike_already_are_not_changed(project, alike):
    group = alike(TEXT)
    label_alike(project, [group])

    assert label_alike(project, [group], overwrite=True) == Copied(0, 0, 0)


def test_relations_need_spans_of_the_document_that_keeps_its_own(project, alike):
    own = {"names": (Span(0, 3, "PER"), Span(4, 7, "DAY"))}
    group = alike(Record(Document("o", (("text", TEXT),)), {"names": "submitted"}, {}, own))

    copied = label_alike(project, [group])

    found = documents.record(project.db, group.ids[1])
    assert "links" not in found.relations and found.states["links"] == "draft"
    assert copied.lost == 2 and len(found.spans["names"]) == 2


def test_relations_are_added_to_spans_that_are_there(project, alike):
    own = {"names": FULL["spans"]["names"]}
    group = alike(Record(Document("o", (("text", TEXT),)), {"names": "submitted"}, {}, own))

    label_alike(project, [group])

    first, second = (documents.record(project.db, id) for id in group.ids)
    assert bare(first) == bare(second)


def test_true_negatives_are_copied(project, alike):
    group = alike(TEXT, states={"names": "submitted"})

    copied = label_alike(project, [group])

    assert documents.record(project.db, group.ids[1]).states == {"names": "submitted"}
    assert copied == Copied(1, 0, 0)


def test_without_labels_nothing_is_copied(project, alike):
    group, before = alike(TEXT, states={}), project.undo_step

    assert label_alike(project, [group]) == Copied(0, 0, 0)
    assert project.undo_step == before
