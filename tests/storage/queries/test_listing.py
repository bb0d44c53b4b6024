import pytest

from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def filled(project):
    """Layers `c` (class), `s` (span) and `p` (class of pairs); five documents in all states, the
    last a pair.
    """
    with project.edit("fill"):
        for name, kind, texts in (("c", "class", 1), ("s", "span", 1), ("p", "class", 2)):
            labels.add_label(project.db, labels.add_layer(project.db, name, kind, texts=texts), "A")
        records = [
            Record(
                Document("k1", (("text", "the tram\nis late"),), "train"),
                {"c": "submitted", "s": "draft"},
                {"c": ("A",)},
            ),
            Record(
                Document("k2", (("text", "x" * 500),), "dev"),
                {"c": "draft"},
                {},
                {"s": (Span(0, 3, "A"), Span(1, 2, "A"))},
            ),
            Record(Document("k3", (("text", "a bus!?"),), "test"), {"c": "discarded"}),
            Record(Document("k4", (("text", ""),))),
            Record(
                Document("k5", (("text", "one tram"), ("text_b", "two")), "dev"),
                {"p": "submitted"},
                {"p": ("A",)},
            ),
        ]
        ids = documents.add(project.db, records, source_id=project.source("import"))
    return project.db, ids


def keys(db, **wanted):
    return [row.key for row in listing.rows(db, listing.ids(db, Filter(**wanted)))]


def test_conditions_hold_all_at_once(filled):
    db, ids = filled
    by_name = {layer.name: layer for layer in labels.layers(db)}

    assert keys(db) == ["k1", "k2", "k3", "k4", "k5"]
    assert (
        keys(db, split="none") == ["k4"]
        and keys(db, split="dev") == ["k2", "k5"]
        and keys(db, split="dev", texts=2) == ["k5"]
    )
    assert (
        keys(db, text="tram") == ["k1", "k5"]
        and keys(db, text="tram", split="train") == ["k1"]
        and keys(db, text="!?") == ["k3"]
    )
    assert (
        keys(db, label_id=by_name["s"].labels[0].id) == ["k2"] == keys(db, layer_id=by_name["s"].id)
    )
    assert keys(db, ids=[ids[3], ids[0], 999]) == ["k1", "k4"] and keys(db, ids=[]) == []


def test_a_state_is_that_of_the_layer_where_one_is_named_else_of_all_together(filled):
    db, _ids = filled
    layer = {layer.name: layer.id for layer in labels.layers(db)}

    states = ("submitted", "draft", "discarded", "pending")
    assert {state: keys(db, state=state) for state in states} == {
        "submitted": ["k5"], "draft": ["k1", "k2"], "discarded": [], "pending": ["k3", "k4"],
    }  # fmt: skip
    assert keys(db, state="draft", layer_id=layer["s"]) == ["k1"]
    assert keys(db, state="pending", layer_id=layer["s"]) == [
        "k2",
        "k3",
        "k4",
    ]  # not the pair, which the layer is not for
    assert keys(db, state="pending", layer_id=layer["p"]) == []


def test_rows_come_in_the_order_asked_short_and_on_one_line(filled):
    db, ids = filled

    pair, long, first = listing.rows(db, [ids[4], 999, ids[1], ids[0]])

    assert (pair.key, pair.text, pair.classes) == ("k5", "one tram ⏐ two", (("p", "A"),))
    assert (
        long.text == "x" * listing.PREVIEW + "…" and long.span_count == 2 and "\n" not in first.text
    )
    assert (first.state, first.split, first.classes) == ("draft", "train", (("c", "A"),))


def test_rows_and_counts_follow_the_layers_chosen(filled):
    db, ids = filled
    layer = {layer.name: layer.id for layer in labels.layers(db)}

    in_class = listing.rows(db, ids, [layer["c"]])
    in_spans = listing.rows(db, ids, [layer["s"]])

    assert [row.state for row in in_class] == ["submitted", "draft", "discarded", "pending", ""]
    assert [row.state for row in in_spans] == ["draft", "pending", "pending", "pending", ""]
    assert [row.classes for row in in_spans] == [()] * 5
    assert [row.span_count for row in in_class] == [0] * 5
    assert [row.span_count for row in in_spans] == [0, 2, 0, 0, 0]
    assert listing.counts(db, [layer["c"]]).spans == 0


def test_neighbours_pass_over_what_the_filter_leaves_out_and_end_at_the_ends(filled):
    db, ids = filled
    wanted = Filter(split="dev")

    assert (
        listing.neighbour(db, wanted, ids[0], 1) == ids[1]
        and listing.neighbour(db, wanted, ids[1], 1) == ids[4]
    )
    assert (
        listing.neighbour(db, wanted, ids[4], 1) is None
        and listing.neighbour(db, wanted, ids[4], -1) == ids[1]
    )
    assert listing.neighbour(db, wanted, ids[1], -1) is None


def test_each_document_is_counted_once(filled):
    db, _ids = filled

    counts = listing.counts(db)

    assert (counts.documents, counts.spans, counts.suggestions) == (5, 2, 0)
    assert counts.splits == {"train": 1, "dev": 2, "test": 1, "none": 1}
    assert counts.states == {"submitted": 1, "draft": 2, "discarded": 0, "pending": 2}
    assert counts.outside == 0
