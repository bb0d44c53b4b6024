"""Relations, chains and parts of spans: each act is one undo step and keeps the rules."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view, relation_rules, relations
from workbench.operations.runs import training_data
from workbench.operations.schema import label_changes, labels
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import label_changes as stored_changes
from workbench.storage.labels import labels as store
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXT = "Ada met Bob in Paris."


@pytest.fixture
def scheme(project):
    """Layers names (PER, LOC), links (knows, in) and chains; one document with three spans."""
    labels.add_layer(project, "names", "span", labels=("PER", "LOC"))
    labels.add_layer(project, "links", "relation", labels=("in", "knows"))
    labels.add_layer(project, "chains", "cluster", labels=("mention",))
    links = store.layer_by_name(project.db, "links")
    relation_rules.set_rules(
        project, links.id, spans="names", undirected=["knows"], pairs={"in": [("PER", "LOC")]}
    )
    with project.edit("Add"):
        documents.add(
            project.db, [Record(Document("k", (("text", TEXT),)))],
            source_id=project.source("person"),
        )  # fmt: skip
    return project


def ids(project):
    return {
        (layer.name, label.name): label.id
        for layer in store.layers(project.db)
        for label in layer.labels
    }


def span(project, start, end, label="PER", layer="names"):
    return annotate.add_span(project, 1, start, end, ids(project)[layer, label])


@pytest.fixture
def ends(scheme):
    return span(scheme, 0, 3), span(scheme, 8, 11), span(scheme, 15, 20, "LOC")


def shown(project):
    return [
        (relation.from_span, relation.to_span)
        for relation in document_view.view(project, 1).relations
    ]


def test_a_relation_layer_connects_the_first_span_layer_unless_told_otherwise(project):
    labels.add_layer(project, "names", "span", labels=("PER",))

    id = labels.add_layer(project, "links", "relation", labels=("knows",))

    assert store.layer(project.db, id).options == {"spans": "names"}


def test_a_relation_is_added_once_and_starts_a_draft(scheme, ends):
    ada, bob, _paris = ends
    knows = ids(scheme)["links", "knows"]

    first = relations.add_relation(scheme, ada, bob, knows)
    again = relations.add_relation(scheme, ada, bob, knows)

    view = document_view.view(scheme, 1)
    assert first == again and shown(scheme) == [(ada, bob)]
    assert view.states[store.layer_by_name(scheme.db, "links").id] == "draft"
    assert (view.relations[0].source_kind, view.relations[0].made_by) == (
        "person",
        scheme.annotator_id,
    )


def test_a_relation_without_a_direction_is_not_added_the_other_way_round(scheme, ends):
    ada, bob, paris = ends
    knows, inside = (ids(scheme)["links", name] for name in ("knows", "in"))

    first = relations.add_relation(scheme, ada, bob, knows)

    assert relations.add_relation(scheme, bob, ada, knows) == first
    relations.add_relation(scheme, paris, ada, knows)
    other = relations.add_relation(scheme, ada, paris, inside)
    relations.relabel_relation(scheme, other, knows)  # equals the one from Paris to Ada
    assert shown(scheme) == [(ada, bob), (ada, paris)]
    scheme.undo()
    assert len(shown(scheme)) == 3
    assert list(integrity.problems(scheme.db)) == []


def test_a_label_that_loses_its_direction_has_each_relation_once(scheme, ends):
    ada, bob, _paris = ends
    links = store.layer_by_name(scheme.db, "links")
    relation_rules.set_rules(scheme, links.id, spans="names", undirected=[], pairs={})
    for pair in ((ada, bob), (bob, ada)):
        relations.add_relation(scheme, *pair, ids(scheme)["links", "knows"])

    relation_rules.set_rules(scheme, links.id, spans="names", undirected=["knows"], pairs={})

    assert shown(scheme) == [(ada, bob)]
    scheme.undo()
    assert shown(scheme) == [(ada, bob), (bob, ada)]


def test_merging_into_a_label_without_a_direction_counts_and_drops_the_other_way(scheme, ends):
    ada, _bob, paris = ends
    knows, inside = (ids(scheme)["links", name] for name in ("knows", "in"))
    relations.add_relation(scheme, ada, paris, inside)
    relations.add_relation(scheme, paris, ada, knows)

    assert stored_changes.twice(scheme.db, [inside], knows) == 1
    label_changes.merge(scheme, [inside], knows)

    assert len(shown(scheme)) == 1


def test_pairs_that_the_rules_do_not_allow_are_refused_with_both_labels(scheme, ends):
    ada, bob, paris = ends

    with pytest.raises(WorkbenchError, match="in may not connect PER → PER"):
        relations.add_relation(scheme, ada, bob, ids(scheme)["links", "in"])
    id = relations.add_relation(scheme, ada, paris, ids(scheme)["links", "in"])
    with pytest.raises(WorkbenchError, match="LOC → PER"):
        relations.reverse_relation(scheme, id)
    with pytest.raises(WorkbenchError, match="connects two spans"):
        relations.add_relation(scheme, ada, ada, ids(scheme)["links", "knows"])


def test_relabel_reverse_and_delete_are_undone_one_by_one(scheme, ends):
    ada, _bob, paris = ends
    id = relations.add_relation(scheme, ada, paris, ids(scheme)["links", "in"])

    relations.relabel_relation(scheme, id, ids(scheme)["links", "knows"])
    relations.reverse_relation(scheme, id)
    assert shown(scheme) == [(paris, ada)]
    relations.delete_relation(scheme, id)
    assert shown(scheme) == []

    scheme.undo()
    scheme.undo()
    assert shown(scheme) == [(ada, paris)]
    scheme.undo()
    assert document_view.view(scheme, 1).relations[0].label_id == ids(scheme)["links", "in"]


def test_deleting_a_span_deletes_its_relations_in_one_step_and_empties_the_draft(scheme, ends):
    ada, bob, _paris = ends
    relations.add_relation(scheme, ada, bob, ids(scheme)["links", "knows"])
    before, seen = document_view.view(scheme, 1), []
    drop = scheme.changed.connect(seen.append)

    annotate.delete_span(scheme, bob)

    after = document_view.refreshed(scheme, before, seen[-1])
    assert after.relations == () and after == document_view.view(scheme, 1)
    assert after.states[store.layer_by_name(scheme.db, "links").id] == "pending"
    scheme.undo()
    assert document_view.refreshed(scheme, after, seen[-1]) == before
    drop()
    assert list(integrity.problems(scheme.db)) == []


def test_rules_of_a_used_layer_keep_the_layer_of_its_spans(scheme, ends):
    ada, bob, _paris = ends
    relations.add_relation(scheme, ada, bob, ids(scheme)["links", "knows"])
    links = store.layer_by_name(scheme.db, "links").id

    with pytest.raises(WorkbenchError, match="has relations between spans of names"):
        relation_rules.set_rules(scheme, links, spans="chains", undirected=(), pairs={})
    with pytest.raises(WorkbenchError, match="no layer of spans named gone"):
        relation_rules.set_rules(scheme, links, spans="gone", undirected=(), pairs={})


# ---------------------------------------------------------------- chains


def chains(project):
    return [row.chain for row in document_view.view(project, 1).spans if row.chain is not None]


def mention(project, start, end, chain=None):
    label = ids(project)["chains", "mention"]
    return annotate.add_span(project, 1, start, end, label, chain=chain)


def test_a_mention_starts_a_chain_unless_it_joins_one(scheme):
    mention(scheme, 0, 3)
    mention(scheme, 8, 11)
    mention(scheme, 15, 20, chain=1)

    assert chains(scheme) == [1, 2, 1]
    assert relation_rules.chain_counts(scheme) == {store.layer_by_name(scheme.db, "chains").id: 2}


def test_merging_moves_all_spans_of_a_chain_and_undo_separates_them(scheme):
    first = mention(scheme, 0, 3)
    mention(scheme, 4, 7, chain=1)
    other = mention(scheme, 8, 11)

    assert relations.merge_chains(scheme, first, other) == 2
    assert chains(scheme) == [2, 2, 2]

    scheme.undo()
    assert chains(scheme) == [1, 1, 2]


def test_one_span_moves_to_another_chain_or_splits_off(scheme):
    first, second = mention(scheme, 0, 3), mention(scheme, 4, 7, chain=1)
    other = mention(scheme, 8, 11)

    relations.move_to_chain(scheme, second, other)
    assert chains(scheme) == [1, 2, 2]

    assert relations.split_off(scheme, second) == 3
    with pytest.raises(WorkbenchError, match="another span of the same layer"):
        relations.merge_chains(scheme, first, span(scheme, 15, 20))


# ---------------------------------------------------------------- parts


def test_a_part_is_added_joined_where_it_touches_and_removed(scheme, ends):
    ada, _bob, _paris = ends

    relations.add_part(scheme, ada, 8, 11)
    row = document_view.view(scheme, 1).spans[0]
    assert (row.start, row.end, row.parts) == (0, 11, ((0, 3), (8, 11)))

    relations.add_part(scheme, ada, 3, 8)
    assert document_view.view(scheme, 1).spans[0].ranges == ((0, 11),)

    scheme.undo()
    relations.remove_part(scheme, ada, 1)
    row = document_view.view(scheme, 1).spans[0]
    assert (row.start, row.end, row.parts) == (8, 11, ())


def test_moving_a_boundary_moves_the_outer_part(scheme, ends):
    ada, _bob, _paris = ends
    relations.add_part(scheme, ada, 8, 11)

    annotate.resize_span(scheme, ada, 0, 14)
    assert document_view.view(scheme, 1).spans[0].parts == ((0, 3), (8, 14))

    annotate.resize_span(scheme, ada, 0, 6)
    assert document_view.view(scheme, 1).spans[0].parts == ()


def test_training_says_how_many_spans_have_several_parts(scheme, ends):
    first, second, _place = ends
    names = store.layer_by_name(scheme.db, "names")
    assert annotations.count_in_parts(scheme.db, names.id) == 0
    relations.add_part(scheme, first, 8, 11)

    count = annotations.count_in_parts(scheme.db, names.id)
    found = training_data.TextCheck(1, 0.0, 0.0, 128, in_parts=count)
    (warning,) = training_data.text_warnings("tag", found, "starter-bert")
    assert warning.startswith("1 span has several parts") and second


def test_documents_of_a_relation_layer_come_with_the_spans_that_it_connects(scheme, ends):
    ada, bob, _paris = ends
    relations.add_relation(scheme, ada, bob, ids(scheme)["links", "knows"])

    (record,) = documents.records(scheme.db, layers=("links",))
    (without,) = documents.records(scheme.db, layers=("names",))

    spans = record.document.input_spans
    assert [TEXT[span.start : span.end] for span in spans] == ["Ada", "Bob", "Paris"]
    assert [relation.directed for relation in record.relations["links"]] == [False]
    assert without.document.input_spans == ()
    assert record.document.asked_hash != without.document.asked_hash
