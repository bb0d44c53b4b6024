"""Documents in the order of a column."""

import pytest

from workbench.storage.documents import documents, flags, notes
from workbench.storage.labels import labels
from workbench.storage.queries import columns, listing
from workbench.storage.queries.columns import SORTABLE, SortOrder
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def filled(project):
    """Keys are not in the order of coming; nothing is equal but the split and state of two."""
    with project.edit("fill"):
        for name, kind in (("c", "class"), ("s", "span")):
            layer = labels.add_layer(project.db, name, kind)
            for label in ("A", "b"):
                labels.add_label(project.db, layer, label)
        rows = (
            ("k3", "four", "test", "submitted", "b", 1),
            ("K1", "a longer one", "train", "pending", None, 0),
            ("k4", "", None, "discarded", None, 0),
            ("k2", "six 🚋", "dev", "draft", "A", 3),
            ("k5", "pair", "dev", "draft", None, 0),
        )
        records = [
            Record(
                Document(key, (("text", text),), split),
                {"c": state},
                {"c": (label,)} if label else {},
                {"s": tuple(Span(n, n + 1, "A") for n in range(spans))},
            )
            for key, text, split, state, label, spans in rows
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    return project.db


def keys(db, by, *, descending=False, **wanted):
    ids = listing.ids(db, Filter(**wanted), SortOrder(by, descending))
    return [row.key for row in listing.rows(db, ids)]


def test_labels_and_states_are_those_of_the_layers_chosen(filled):
    c, s = (layer.id for layer in labels.layers(filled))

    def ordered(by, *layers):
        return [
            row.key
            for row in listing.rows(filled, listing.ids(filled, None, SortOrder(by), layers))
        ]

    assert ordered("state", c) == ["K1", "k4", "k2", "k5", "k3"]
    assert ordered("state", s) == ordered("spans", c) == ordered("class", s)  # all are equal there
    assert ordered("spans", s) == ["K1", "k4", "k5", "k3", "k2"]
    assert ordered("class") == ["k3", "K1", "k4", "k2", "k5"]


@pytest.mark.parametrize(
    ("by", "up", "down"),
    [
        ("key", "K1 k2 k3 k4 k5", "k5 k4 k3 k2 K1"),
        ("length", "k4 k3 k5 k2 K1", "K1 k2 k3 k5 k4"),
        ("split", "K1 k2 k5 k3 k4", "k3 k2 k5 K1 k4"),  # without a split: last
        ("state", "K1 k4 k3 k2 k5", "k3 k2 k5 K1 k4"),  # pending in s: no state is above draft
        ("spans", "K1 k4 k5 k3 k2", "k2 k3 K1 k4 k5"),
        ("class", "k2 k3 K1 k4 k5", "k3 k2 K1 k4 k5"),  # without a class: last
    ],
)
def test_documents_are_listed_in_the_order_of_a_column(filled, by, up, down):
    assert keys(filled, by) == up.split()
    assert keys(filled, by, descending=True) == down.split()


def test_an_order_goes_with_a_filter(filled):
    assert keys(filled, "spans", descending=True, split="dev") == ["k2", "k5"]


def test_every_order_that_is_offered_works(filled):
    for by in SORTABLE:
        assert len(keys(filled, by)) == 5
    with pytest.raises(KeyError):
        listing.ids(filled, Filter(), SortOrder("text"))


def test_a_row_has_the_length_of_its_texts(filled):
    rows = listing.rows(filled, listing.ids(filled))
    assert [row.length for row in rows] == [4, 12, 0, 5, 4]


def test_further_columns_are_shown_and_sorted_by(project):
    metas = ({"n": "10", "who": "b"}, {"n": 9, "who": "A"}, {}, {"n": "x", "a \"b'": "c"})
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "s", "span")
        labels.add_label(project.db, layer, "A")
        records = [
            Record(
                Document(f"k{n}", (("text", "abcd"),), meta=meta),
                {"s": "submitted"} if n == 1 else {},
                {},
                {"s": tuple(Span(at, at + 1, "A") for at in range(n))},
            )
            for n, meta in enumerate(metas)
        ]
        ids = documents.add(project.db, records, source_id=project.source("import", "f.csv"))
        flags.add(project.db, ids[2], "unsure", project.annotator_id)
        notes.add(project.db, ids[3], "ask", project.annotator_id)
    db = project.db

    assert keys(db, "meta.n") == ["k1", "k0", "k3", "k2"]  # numbers, then text, then nothing
    assert keys(db, "meta.who") == ["k1", "k0", "k2", "k3"]
    assert keys(db, "meta.a \"b'")[0] == "k3"
    assert keys(db, "labels", descending=True) == ["k3", "k2", "k1", "k0"]
    assert keys(db, "flags")[0] == "k2" and keys(db, "note")[0] == "k3"
    assert keys(db, "date")[0] == "k1" and len(keys(db, "file")) == 4
    more = (*columns.EXPRESSIONS, "meta.n")
    cells = [dict(zip(more, row.cells, strict=True)) for row in listing.rows(db, ids, more=more)]
    assert [cell["meta.n"] for cell in cells] == ["10", 9, None, "x"]
    assert [cell["labels"] for cell in cells] == [0, 1, 2, 3]
    assert (cells[2]["flags"], cells[3]["note"], cells[0]["file"]) == ("unsure", "ask", "f.csv")
    assert cells[1]["date"] and cells[0]["score"] is None
