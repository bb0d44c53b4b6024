"""Most similar labelled documents: by cosine, submitted ones alone, with their gold."""

import numpy as np
import pytest

from workbench.inspection.corpus.index import Writer
from workbench.inspection.corpus.spec import IndexFiles
from workbench.operations.documents import similar
from workbench.storage.labels import labels


@pytest.fixture
def index(tmp_path):
    """index(ids, rows) → the path of an index with one layer."""

    def make(ids, rows):
        writer = Writer(IndexFiles(tmp_path, "k"), [len(rows[0])], len(ids))
        for id, row in zip(ids, rows, strict=True):
            writer.add((id, 0, 5), {"key": str(id), "text": ""}, [np.array(row)])
        writer.finish(total=len(ids))
        return str(IndexFiles(tmp_path, "k").about)

    return make


def test_submitted_documents_are_listed_by_cosine_with_gold(
    project, add_layer, add_documents, index
):
    add_layer("class", "class", ("good", "bad"))
    rows = [
        ("one", "dev", "submitted", "class", "good"),
        ("two", "train", "submitted", "class", "bad"),
        ("three", "train", "submitted", "class", "good"),
        ("four", None, "pending", "class", None),
    ]
    ids = add_documents(rows)
    (layer,) = labels.layers(project.db)
    path = index(ids, [(1, 0), (0, 2), (3, 3), (1, 0)])

    found = similar.nearest(project, layer, "classify", ids[0], path)

    assert [(item.text, item.gold, item.split) for item in found] == [
        ("three", ("good",), "train"),
        ("two", ("bad",), "train"),
    ]
    assert [item.cosine for item in found] == pytest.approx([0.7071, 0], abs=1e-3)


def test_labels_of_spans_are_listed_once(project, add_layer, add_documents, index):
    add_layer("entity", "span", ("PER", "LOC"))
    spans = [(0, 3, "PER"), (4, 7, "PER"), (8, 11, "LOC")]
    ids = add_documents([("ada bob rom", "train", "submitted", "entity", spans)] * 2)
    (layer,) = labels.layers(project.db)

    (found,) = similar.nearest(project, layer, "tag", ids[0], index(ids, [(1, 0), (1, 1)]))
    assert found.gold == ("PER", "LOC")


def test_a_document_outside_of_the_index_has_no_similar_ones(
    project, add_layer, add_documents, index
):
    add_layer("class", "class", ("good",))
    ids = add_documents([("one", "dev", "submitted", "class", "good")] * 2)
    (layer,) = labels.layers(project.db)

    assert similar.nearest(project, layer, "classify", ids[0], index(ids[1:], [(1, 0)])) == ()


def test_pairs_are_not_compared_as_an_index_holds_their_first_text(add_layer):
    assert similar.fits(add_layer("class", "class", ("good",)))
    assert not similar.fits(add_layer("pair", "class", ("good",), texts=2))
