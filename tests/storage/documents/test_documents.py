import pytest

from workbench.operations.schema import labels as label_acts
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import unfinished
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

FULL = Record(
    Document(
        "full",
        (("text", "Ada met Bob."),),
        "train",
        "g1",
        {"when": 1820, "who": ["Ada"]},
        {"text": ((0, 3), (4, 7), (8, 11), (11, 12))},
    ),
    {"class": "submitted", "spans": "draft"},
    {"class": ("yes",)},
    {"spans": (Span(0, 3, "PER"), Span(8, 11, "PER"), Span(0, 11, "EVENT"))},
)
PAIR = Record(
    Document("pair", (("text", "It rains."), ("text_b", "It is wet."))),
    {"pairs": "submitted"},
    {"pairs": ("entails",)},
)
BARE = Record(Document("bare", (("text", "Nothing here."),)), {"spans": "submitted"})
OUT = Record(
    Document("out", (("text", "Out of it."),), "dev"), {"class": "discarded", "spans": "discarded"}
)


@pytest.fixture
def filled(project):
    label_acts.add_layer(project, "class", "class", labels=["yes", "no"])
    label_acts.add_layer(project, "spans", "span", labels=["PER", "EVENT"])
    label_acts.add_layer(project, "pairs", "class", texts=2, labels=["entails"])
    add(project, FULL, PAIR, BARE, OUT)
    return project


def add(project, *records):
    with project.edit("Import"):
        return documents.add(project.db, records, source_id=project.source("import", "file.jsonl"))


def keys(project, **wanted):
    return [
        row.key for row in documents.rows(project.db, documents.ids(project.db, Filter(**wanted)))
    ]


def without_ids(record):
    spans = {
        name: tuple(Span(s.start, s.end, s.label, s.field) for s in found)
        for name, found in record.spans.items()
    }
    document = record.document
    bare = Document(
        document.key, document.texts, document.split, document.group, document.meta, document.tokens
    )
    return (
        bare,
        dict(record.states),
        dict(record.marks),
        {name: set(found) for name, found in spans.items()},
    )


def test_a_record_comes_back_as_it_went_in(filled):
    stored = list(documents.records(filled.db))
    assert [without_ids(text) for text in stored] == [
        without_ids(item) for item in (FULL, PAIR, BARE, OUT)
    ]


def test_records_are_chosen_by_split_id_layer_and_training_data(filled):
    def chosen(**wanted):
        return [record.document.key for record in documents.records(filled.db, **wanted)]

    assert chosen(splits=["train", "dev"]) == ["full", "out"]
    assert chosen(splits=[None]) == ["pair", "bare"]
    assert chosen(ids=[2, 3]) == ["pair", "bare"]
    assert chosen(submitted_in="spans") == ["bare"]  # submitted without a span: a true negative
    assert chosen(submitted_in="class") == ["full"]
    (only,) = documents.records(filled.db, ids=[1], layers=["class"])
    assert only.spans == {} and only.states == {"class": "submitted"}


def test_what_another_annotator_says_is_not_gold_until_the_layer_names_them(filled):
    with filled.write():
        other = filled.db.writer.execute(
            "insert into annotator(uid, name) values('00000000000000aa', 'other')"
        ).lastrowid
    layer = labels.layer_by_name(filled.db, "class")
    with filled.edit("Label"):
        annotations.set_mark(
            filled.db,
            3,
            layer.id,
            layer.label("no").id,
            annotator_id=other,
            source_id=filled.source("person"),
        )
        annotations.set_state(filled.db, [3], layer.id, other, "submitted")
    assert documents.record(filled.db, 3).marks == {}

    with filled.edit("Adjudicate"):
        labels.update_layer(filled.db, layer.id, gold=other)

    assert documents.record(filled.db, 3).marks == {"class": ("no",)}
    assert [
        record.document.key for record in documents.records(filled.db, submitted_in="class")
    ] == ["bare"]


def test_filters_of_every_kind(filled):
    layers = {layer.name: layer for layer in labels.layers(filled.db)}
    assert keys(filled) == ["full", "pair", "bare", "out"]
    assert keys(filled, split="train") == ["full"]
    assert keys(filled, split="none") == ["pair", "bare"]
    assert keys(filled, label_id=layers["class"].label("yes").id) == ["full"]
    assert keys(filled, label_id=layers["spans"].label("PER").id) == ["full"]
    assert keys(filled, layer_id=layers["pairs"].id) == ["pair"]
    assert keys(filled, state="submitted") == ["pair"]
    assert keys(filled, state="draft") == ["full", "bare"]  # one of two layers is submitted
    assert keys(filled, state="discarded") == ["out"]
    assert keys(filled, state="pending", layer_id=layers["class"].id) == [
        "bare"
    ]  # the pair does not belong to it
    assert keys(filled, texts=2) == ["pair"]
    assert keys(filled, text="wet") == ["pair"]
    assert keys(filled, ids=[4, 1]) == ["full", "out"]
    assert keys(filled, split="dev", text="out") == ["out"]


def test_rows_show_classes_counts_and_the_state_in_all_layers(filled):
    full, pair, bare, out = documents.rows(filled.db, [1, 2, 3, 4])

    assert (full.classes, full.span_count, full.state, full.split) == (
        (("class", "yes"),),
        3,
        "draft",
        "train",
    )
    assert "It rains." in pair.text and "It is wet." in pair.text
    assert (bare.state, out.state, bare.span_count) == ("draft", "discarded", 0)
    assert [row.id for row in documents.rows(filled.db, [4, 99, 1])] == [4, 1]


def test_counts_have_each_document_once(filled):
    add(filled, Record(Document("new", (("text", "x"),))))
    counts = documents.counts(filled.db)

    assert counts.documents == 5
    assert counts.splits == {"train": 1, "dev": 1, "test": 0, "none": 3}
    assert counts.states == {"pending": 1, "draft": 2, "submitted": 1, "discarded": 1}
    assert counts.spans == 3


def test_label_counts_are_marks_and_spans(filled):
    counts = labels.counts(filled.db)
    by_name = {
        label.name: counts[label.id] for layer in labels.layers(filled.db) for label in layer.labels
    }
    assert by_name == {"yes": 1, "no": 0, "PER": 2, "EVENT": 1, "entails": 1}


def test_training_data_of_each_layer_is_counted(filled):
    by_name = {
        layer.name: labels.submitted_counts(filled.db)[layer.id]
        for layer in labels.layers(filled.db)
    }
    assert by_name == {"class": 1, "spans": 1, "pairs": 1}


def test_an_unknown_layer_or_label_is_an_error_and_nothing_comes_in(filled):
    with pytest.raises(KeyError):
        add(filled, BARE, Record(Document("x", (("text", "x"),)), {}, {"no such layer": ("y",)}))
    assert documents.counts(filled.db).documents == 4


def test_deleting_documents_takes_everything_of_them_along_and_undo_brings_it_back(filled):
    before = [without_ids(record) for record in documents.records(filled.db)]
    with filled.edit("Delete"):
        assert documents.delete(filled.db, [1, 2]) == 2
    assert keys(filled) == ["bare", "out"]
    assert sum(labels.counts(filled.db).values()) == 0

    filled.undo()
    assert [without_ids(record) for record in documents.records(filled.db)] == before


def test_a_missing_document_is_a_key_error(filled):
    for read in (documents.get, documents.record):
        with pytest.raises(KeyError):
            read(filled.db, 99)


def test_next_unlabelled_goes_round_and_knows_which_documents_a_layer_is_for(filled):
    layers = {layer.name: layer.id for layer in labels.layers(filled.db)}

    def after(id, *names):
        return unfinished.next_unlabelled(filled.db, id, [layers[name] for name in names])

    assert after(None, "class") == 3  # the pair is not for it
    assert after(3, "class") == 3  # itself comes last
    assert after(None, "spans") == 1  # a draft is not done
    assert after(1, "class", "spans") == 3
    assert after(3, "class", "spans") == 1
    assert after(None, "pairs") is None
    assert unfinished.open_count(filled.db, list(layers.values())) == 2


def test_a_state_is_only_set_where_the_layer_is_for_the_document(filled):
    layer = labels.layer_by_name(filled.db, "class")
    with filled.edit("Submit all"):
        annotations.set_state(filled.db, [1, 2, 3, 4], layer.id, filled.annotator_id, "submitted")

    assert annotations.states(filled.db, 2).get(layer.id) is None
    assert keys(filled, state="submitted", layer_id=layer.id) == ["full", "bare", "out"]
