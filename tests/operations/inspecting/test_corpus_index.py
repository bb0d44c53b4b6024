"""Indexes of the documents: found again, computed by a job, labels of their rows, senses."""

import pytest

from tests.inline import InlineQueue
from workbench.inspection.corpus.index import CorpusIndex
from workbench.inspection.corpus.spec import IndexFiles
from workbench.inspection.spec import InspectorInfo
from workbench.inspection.uses.info import INFO as USES
from workbench.operations.annotation import senses
from workbench.operations.inspecting import corpus_index, inspect
from workbench.operations.schema import labels
from workbench.storage.documents import documents

DOCUMENTS = InspectorInfo("any", "Any", dict, corpus="documents")
ROWS = [
    ("Stop at the tram stop", "train", "submitted", "topic", "praise"),
    ("the bus STOPS", None, None, "topic", None),
    ("no such word, stopping", None, None, "topic", None),
    (("first stop", "second stop"), None, None, "topic", None),
]


@pytest.fixture
def ids(add_layer, add_documents):
    add_layer("topic")
    return add_documents(ROWS)


@pytest.fixture
def model(tiny_model):
    return inspect.of_folder(str(tiny_model))


def need(project, model, info, **options):
    return corpus_index.need(project, model, info, options)


def compute(project, wanted):
    queue = InlineQueue()
    prepared = corpus_index.prepare(project, wanted)
    need = corpus_index.compute(queue, prepared, device="cpu")
    queue.close()
    assert not prepared.folder.exists()
    return need


def test_all_forms_of_a_word_are_found_ignoring_case(project, ids, model):
    found = compute(project, need(project, model, USES, word="stop stops"))

    index = CorpusIndex(str(found.files.about))
    assert sorted(map(tuple, index.places.tolist())) == [
        (ids[0], 0, 4), (ids[0], 17, 21), (ids[1], 8, 13), (ids[3], 6, 10),
    ]  # fmt: skip
    assert (index.count, index.total, index.layers) == (4, 4, (0, 1, 2))


def test_an_index_is_used_again_until_texts_or_model_change(project, ids, model, add_documents):
    before = need(project, model, DOCUMENTS)
    assert not before.ready
    compute(project, before)

    assert need(project, model, DOCUMENTS).ready
    with project.edit("label"):
        labels.add_label(project, labels.layers(project)[0].id, "more")
    assert need(project, model, DOCUMENTS).ready
    add_documents([("another text", None, None, "topic", None)])
    assert not need(project, model, DOCUMENTS).ready


def test_no_index_is_needed_without_a_word_and_none_is_computed_without_a_use(project, ids, model):
    assert need(project, model, USES, word=" ") is None

    found = compute(project, need(project, model, USES, word="nowhere"))
    assert corpus_index.completed(project, found, {"index": ""}) == {"index": ""}


def test_many_uses_are_a_random_sample(project, ids, model, monkeypatch):
    monkeypatch.setattr(corpus_index, "MAX_USES", 2)
    found = compute(project, need(project, model, USES, word="stop"))

    index = CorpusIndex(str(found.files.about))
    assert (index.count, index.total) == (2, -1)


def test_senses_are_labels_of_uses_and_one_step_to_undo(project, ids, model):
    found = compute(project, need(project, model, USES, word="stop"))
    places = [(ids[0], 17, 21), (ids[0], 0, 4)]

    pair = (ids[3], 6, 10)  # of two texts, to which the layer does not apply
    assert senses.assign(project, senses.LAYER, "place", [*places, pair]) == 2
    senses.assign(project, senses.LAYER, "act", places[1:])

    spans = documents.record(project.db, ids[0], None).spans[senses.LAYER]
    assert [(span.start, span.end, span.label) for span in spans] == [
        (0, 4, "act"), (17, 21, "place"),
    ]  # fmt: skip
    by_place = dict(
        zip(
            map(tuple, CorpusIndex(str(found.files.about)).places.tolist()),
            corpus_index.labels_of(project, corpus_index.places_of(found), senses.LAYER),
            strict=True,
        )
    )
    assert by_place == {(ids[0], 0, 4): "act", (ids[0], 17, 21): "place", (ids[3], 6, 10): ""}
    project.undo()
    project.undo()
    assert senses.names(project, senses.LAYER) == ()


def test_the_class_of_a_document_is_the_label_of_its_uses(project, ids, model):
    found = compute(project, need(project, model, USES, word="stops stop"))

    assert sorted(corpus_index.labels_of(project, corpus_index.places_of(found), "topic")) == [
        "",
        "",
        "praise",
        "praise",
    ]


def test_the_oldest_indexes_are_deleted_when_there_are_too_many(tmp_path):
    import os

    for age, key in enumerate("abc"):
        files = IndexFiles(tmp_path, key)
        files.about.write_text("{}")
        files.lines.write_bytes(b"x" * 100)
        os.utime(files.about, (1000 - age, 1000 - age))

    corpus_index.trim(tmp_path, 210)

    assert {path.name[0] for path in tmp_path.glob("?.*")} == {"a", "b"}
