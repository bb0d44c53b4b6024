"""Moving, merging and splitting labels of relations, of connected spans and of chains."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view, relation_rules, relations
from workbench.operations.documents import notes
from workbench.operations.schema import label_changes, label_moves, labels
from workbench.project.check import check_open
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.rows import row_id

TEXT = "Ada met Bob in Rome."


@pytest.fixture
def id(project):
    with project.edit("Import"):
        source = project.source("import")
        return documents.add(
            project.db, [Record(Document("a", (("text", TEXT),)))], source_id=source
        )[0]


@pytest.fixture
def names(project, id):
    """Layers of spans and of relations between them: label → id."""
    labels.add_layer(project, "names", "span", labels=["PER", "MAN", "LOC"])
    links = labels.add_layer(project, "links", "relation", labels=["met", "knows", "in"])
    pairs = {"met": [("PER", "MAN")], "in": [("MAN", "LOC")], "knows": [("PER", "PER")]}
    relation_rules.set_rules(project, links, spans="names", undirected=["met"], pairs=pairs)
    return by_name(project)


@pytest.fixture
def spans(project, id, names):
    """Ada, Bob and Rome with the relations Ada met Bob, Bob in Rome."""
    places = ((0, 3, "PER"), (8, 11, "MAN"), (15, 19, "LOC"))
    ada, bob, rome = (annotate.add_span(project, id, a, b, names[label]) for a, b, label in places)
    relations.add_relation(project, ada, bob, names["met"])
    relations.add_relation(project, bob, rome, names["in"])
    return ada, bob, rome


def by_name(project):
    return {label.name: row_id(label) for layer in labels.layers(project) for label in layer.labels}


def layer(project, name):
    return next(item for item in labels.layers(project) if item.name == name)


def linked(project, id):
    """(layer, label) of each relation of the document."""
    names = {item.id: item for item in labels.layers(project)}
    label = {id: name for name, id in by_name(project).items()}
    return [
        (names[relation.layer_id].name, label[relation.label_id])
        for relation in document_view.view(project, id).relations
    ]


def test_a_moved_relation_label_takes_its_relations_and_rules_along(project, id, names, spans):
    other = labels.add_layer(project, "places", "relation", options={"spans": "names"})

    message = label_moves.move_text(project, [names["met"]], other)
    assert label_moves.move(project, [names["met"]], other) == 1

    assert message == "1 annotation in 1 document moves to the layer places."
    assert linked(project, id) == [("places", "met"), ("links", "in")]
    moved = layer(project, "places").options
    assert (moved["undirected"], moved["pairs"]) == (["met"], {"met": [["PER", "MAN"]]})
    assert "met" not in layer(project, "links").options["pairs"]
    assert document_view.view(project, id).states[other] == "draft" and check_open(project) == []
    project.undo()
    assert linked(project, id) == [("links", "met"), ("links", "in")]


def test_relations_go_only_to_a_layer_that_connects_the_same_spans(project, id, names, spans):
    labels.add_layer(project, "things", "span", labels=["THING"])
    other = labels.add_layer(project, "far", "relation", options={"spans": "things"})

    message = label_moves.move_text(project, [names["met"]], other)
    with pytest.raises(WorkbenchError) as refused:
        label_moves.move(project, [names["met"]], other)

    words = "The layer far connects spans of things; 1 relation connects spans of names."
    assert refused.value.message == words and message == str(refused.value)
    assert label_moves.move(project, [names["knows"]], other) == 0  # it has no relations


def test_connected_spans_move_only_with_the_spans_at_the_other_ends(project, id, names, spans):
    other = labels.add_layer(project, "people", "span")

    with pytest.raises(WorkbenchError, match="1 relation has spans of names with other labels"):
        label_moves.move(project, [names["PER"], names["MAN"]], other)
    wanted = [names[name] for name in ("PER", "MAN", "LOC")]
    message = label_moves.move_text(project, wanted, other)
    label_moves.move(project, wanted, other)

    assert message == (
        "3 annotations in 1 document move to the layer people."
        " links then connects spans of people, with its 2 relations."
    )
    rules = layer(project, "links").options
    assert rules["spans"] == "people" and rules["pairs"]["met"] == [["PER", "MAN"]]
    assert check_open(project) == []
    relations.add_relation(project, spans[1], spans[0], names["met"])


def test_merged_spans_lose_the_relation_between_them_and_rules_follow(project, id, names, spans):
    twin = annotate.add_span(project, id, 0, 3, names["MAN"])
    relations.add_relation(project, spans[0], twin, names["met"])
    relations.add_relation(project, twin, spans[2], names["in"])

    message = label_changes.merge_text(project, [names["PER"]], names["MAN"])
    label_changes.merge(project, [names["PER"]], names["MAN"])

    assert message == (
        "1 annotation in 1 document becomes MAN."
        " 1 of them is dropped, because it would be a duplicate."
        " 1 relation of these spans is dropped, because it would connect a span with itself or"
        " be a duplicate."
    )
    assert [name for _layer, name in linked(project, id)] == ["met", "in", "in"]
    assert layer(project, "links").options["pairs"]["met"] == [["MAN", "MAN"]]


def test_merged_relation_labels_connect_what_either_could_and_nothing_twice(
    project, id, names, spans
):
    relations.add_relation(project, spans[1], spans[0], names["met"])
    knows = [("PER", "MAN"), ("MAN", "PER")]
    links = layer(project, "links")
    relation_rules.set_rules(
        project,
        links.id,
        spans="names",
        undirected=["met"],
        pairs={"knows": knows, "met": knows[:1]},
    )
    relations.add_relation(project, spans[0], spans[1], names["knows"])

    message = label_changes.merge_text(project, [names["knows"]], names["met"])
    label_changes.merge(project, [names["knows"]], names["met"])

    assert message.startswith("1 annotation in 1 document becomes met. 1 of them is dropped")
    assert [name for _layer, name in linked(project, id)] == ["met", "in"]  # met has no direction
    assert layer(project, "links").options["pairs"] == {"met": [["PER", "MAN"], ["MAN", "PER"]]}


def test_a_relation_label_is_split_by_the_texts_it_connects(project, id, names, spans):
    uses = label_changes.uses(project, names["in"])
    assert [(use.text, use.count) for use in uses] == [("Bob → Rome", 1)]

    _new, changed = label_changes.split(project, names["in"], "lives in", ids=uses[0].ids)

    assert changed == 1 and linked(project, id) == [("links", "met"), ("links", "lives in")]


def test_moved_chains_keep_apart_from_those_that_are_there(project, id):
    first = labels.add_layer(project, "people", "cluster", labels=["name", "pronoun"])
    second = labels.add_layer(project, "places", "cluster", labels=["place"])
    label = by_name(project)
    for start, end, name, chain in ((0, 3, "name", 1), (4, 7, "pronoun", 1), (8, 11, "name", 2)):
        annotate.add_span(project, id, start, end, label[name], chain=chain)
    annotate.add_span(project, id, 15, 19, label["place"], chain=1)

    message = label_moves.move_text(project, [label["name"]], second)
    label_moves.move(project, [label["name"], label["pronoun"]], second)

    assert message.endswith(" 1 chain is divided, as it also has spans with other labels.")
    chains = [(span.start, span.chain) for span in document_view.view(project, id).spans]
    assert chains == [(0, 2), (4, 2), (8, 3), (15, 1)] and first
    project.undo()
    assert [span.chain for span in document_view.view(project, id).spans] == [1, 1, 2, 1]


def test_mentions_that_become_one_join_their_chains_with_notes_and_flags(project, id):
    """By hand: chains 1 and 2 share "Ada", 2 and 3 share "Bob", so all three are one; 4 is not."""
    labels.add_layer(project, "people", "cluster", labels=["name", "mention"])
    label = by_name(project)
    for start, end, name, chain in (
        (0, 3, "name", 1),
        (4, 7, "name", 1),
        (0, 3, "mention", 2),
        (8, 11, "mention", 2),
        (8, 11, "name", 3),
        (15, 19, "mention", 4),
    ):
        span = annotate.add_span(project, id, start, end, label[name], chain=chain)
        if (start, name) == (0, "mention"):
            notes.set_note(project, id, "which Ada?", span_id=span)
            notes.set_flag(project, [id], "unsure", on=True, span_id=span)
    before = document_view.view(project, id)

    message = label_changes.merge_text(project, [label["mention"]], label["name"])
    label_changes.merge(project, [label["mention"]], label["name"])

    assert "2 of them are dropped" in message and "2 chains are joined with others" in message
    view = document_view.view(project, id)
    assert [(span.start, span.chain) for span in view.spans] == [(0, 1), (4, 1), (8, 1), (15, 4)]
    kept = view.spans[0].id
    read = project.db.reader().execute
    assert read("select body, span_id from note").fetchall() == [("which Ada?", kept)]
    assert read("select name, span_id from flag").fetchall() == [("unsure", kept)]
    assert check_open(project) == []
    project.undo()
    assert document_view.view(project, id) == before


def test_relations_that_become_equal_are_one_and_the_preview_counts_them(project, id, names):
    ada, bob = (
        annotate.add_span(project, id, start, end, names["PER"]) for start, end in ((0, 3), (8, 11))
    )
    friend = labels.add_label(project, labels.layers(project)[-1].id, "friend")
    for label_id in (names["knows"], friend):
        relations.add_relation(project, ada, bob, label_id)

    message = label_changes.merge_text(project, [friend], names["knows"])
    label_changes.merge(project, [friend], names["knows"])

    assert "1 of them is dropped, because it would be a duplicate." in message
    assert linked(project, id) == [("links", "knows")]
    project.undo()
    assert linked(project, id) == [("links", "knows"), ("links", "friend")]
