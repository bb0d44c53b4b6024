"""Gold labels of many documents, read without their texts."""

import random

import pytest

from workbench.operations.inspecting import corpus_index
from workbench.operations.schema import labels as label_acts
from workbench.storage.documents import documents, gold_labels
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

NAMES = ("PER", "LOC", "EVENT")


def add(project, *records):
    with project.edit("Import"):
        return documents.add(project.db, records, source_id=project.source("import", "f.jsonl"))


@pytest.fixture
def filled(project):
    label_acts.add_layer(project, "class", "class", labels=["yes", "no"])
    label_acts.add_layer(project, "spans", "span", labels=NAMES)
    add(
        project,
        Record(Document("a", (("text", "Ada."),)), {"class": "draft"}, {"class": ("yes",)}),
        Record(
            Document("b", (("text", "Ada."), ("text_b", "Bob."))),
            {"spans": "draft"},
            spans={"spans": (Span(0, 3, "PER"), Span(0, 3, "EVENT", "text_b"))},
        ),
        Record(
            Document("c", (("premise", "Ada."), ("text", "Bob."))),
            {"spans": "draft"},
            spans={"spans": (Span(0, 3, "LOC", "premise"), Span(0, 3, "PER"))},
        ),
    )
    return project


def ids_of(project):
    return {record.document.key: record.document.id for record in documents.records(project.db)}


@pytest.mark.unsound
def test_only_spans_in_the_first_text_count(filled):
    ids = ids_of(filled)

    found = gold_labels.labelled_offsets(filled.db, "spans", ids.values())

    assert found == {ids["b"]: ((0, 3, "PER"),), ids["c"]: ((0, 3, "LOC"),)}
    assert gold_labels.labelled_offsets(filled.db, "nowhere", ids.values()) == {}


@pytest.mark.unsound
def test_only_the_documents_that_are_asked_for_are_read(filled):
    ids = ids_of(filled)

    assert gold_labels.first_labels(filled.db, "class", ids.values()) == {ids["a"]: "yes"}
    assert gold_labels.first_labels(filled.db, "class", [ids["b"]]) == {}


def test_spans_are_those_of_the_records_in_their_order(project, monkeypatch):
    monkeypatch.setattr(gold_labels, "PAGE", 7)  # several statements
    label_acts.add_layer(project, "spans", "span", labels=NAMES)
    chance = random.Random(3)
    add(project, *(_record(number, chance) for number in range(20)))
    expected = {
        record.document.id: tuple((s.start, s.end, s.label) for s in record.spans["spans"])
        for record in documents.records(project.db, layers=("spans",))
        if record.spans.get("spans")
    }

    found = gold_labels.labelled_offsets(project.db, "spans", ids_of(project).values())

    assert found == expected and len(expected) > 10


def _record(number, chance):
    starts = [chance.randrange(30) for _span in range(chance.randrange(5))]
    spans = tuple(
        Span(start, start + chance.randrange(1, 9), chance.choice(NAMES)) for start in starts
    )
    return Record(
        Document(f"d{number}", (("text", "x" * 40),)), {"spans": "draft"}, spans={"spans": spans}
    )


@pytest.mark.parametrize(
    ("place", "label"),
    [((0, 20), "LOC"), ((0, 3), "PER"), ((5, 6), "EVENT"), ((9, 10), "LOC"), ((30, 40), "")],
)
def test_the_label_of_a_place_is_the_most_frequent_one_within_it(place, label):
    spans = ((0, 3, "PER"), (4, 12, "LOC"), (4, 8, "EVENT"), (9, 11, "LOC"))

    assert corpus_index.label_over(spans, *place) == label
