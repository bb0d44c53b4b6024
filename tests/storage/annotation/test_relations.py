"""Relations and chains in the project file: stored, imported, undone, checked."""

import pytest

from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels
from workbench.storage.staging import copy_staged, staging
from workbench.storage.staging.copy_staged import Targets
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

TEXT = "Ada works for IBM in Ulm"
ADA, FIRM, ULM = Span(0, 3, "PER"), Span(14, 17, "ORG"), Span(21, 24, "ORG")
SPLIT = Span(0, 24, "ORG", parts=((0, 3), (21, 24)))


LINKS = Relation("works for", ADA, FIRM), Relation("in", FIRM, ULM)


def record(key="k", chain=None, links=LINKS):
    mentions = (Span(0, 3, "m", chain=1), Span(14, 17, "m", chain=2)) if chain else ()
    return Record(
        Document(key, (("text", TEXT),)),
        {},
        {},
        {"names": (ADA, SPLIT, FIRM, ULM), **({"chains": mentions} if mentions else {})},
        relations={"links": links},
    )


@pytest.fixture
def scheme(project):
    with project.edit("Layers"):
        for name, kind, names in (
            ("names", "span", ("PER", "ORG")),
            ("links", "relation", ("works for", "in")),
            ("chains", "cluster", ("m",)),
        ):
            options = {"spans": "names"} if kind == "relation" else None
            id = labels.add_layer(project.db, name, kind, options=options)
            for label in names:
                labels.add_label(project.db, id, label)
    return project


def add(project, *records):
    with project.edit("Add", bulk=True):
        return documents.add(project.db, records, source_id=project.source("import", "f"))


def simple(found):
    """Relations by the text offsets of their ends."""
    return [
        (relation.label, relation.from_span.start, relation.to_span.start)
        for name in ("links",)
        for relation in found.relations[name]
    ]


def test_relations_without_a_label_count_as_deleted_with_their_spans(scheme):
    add(scheme, record())
    with scheme.edit("Labels lost"):
        scheme.db.writer.execute("update relation set label_id = null")
    names = labels.layer_by_name(scheme.db, "names")

    assert labels.usage(scheme.db, [names.labels[1].id])["relations"] == 2

    with scheme.edit("Delete"):
        labels.delete_label(scheme.db, names.labels[1].id)
    assert not scheme.db.reader().execute("select 1 from relation").fetchall()


def test_records_come_back_with_relations_parts_and_chains(scheme):
    ids = add(scheme, record("a"), record("b", chain=True))

    first, second = (documents.record(scheme.db, id) for id in ids)

    assert simple(first) == [("works for", 0, 14), ("in", 14, 21)]
    assert [span.parts for span in first.spans["names"] if span.parts] == [((0, 3), (21, 24))]
    assert [span.chain for span in second.spans["chains"]] == [1, 2]
    assert list(integrity.problems(scheme.db)) == []


def test_deleting_a_span_deletes_its_relations_and_one_undo_brings_all_back(scheme):
    (id,) = add(scheme, record())
    before = documents.record(scheme.db, id).relations
    firm = next(row for row in annotations.spans(scheme.db, id) if row.start == 14)

    with scheme.edit("Delete span"):
        annotations.delete_span(scheme.db, firm.id)
    assert documents.record(scheme.db, id).relations == {}

    scheme.undo()
    assert documents.record(scheme.db, id).relations == before
    assert list(integrity.problems(scheme.db)) == []


def test_a_span_that_becomes_equal_to_another_takes_its_relations_but_the_one_between_them(scheme):
    (id,) = add(scheme, record())
    rows = {row.start: row.id for row in annotations.spans(scheme.db, id) if not row.parts}

    with scheme.edit("Move"):
        annotations.update_span(
            scheme.db, rows[21], start=14, end=17, source_id=scheme.source("person")
        )

    found = documents.record(scheme.db, id).relations["links"]
    assert [(item.from_span.id, item.to_span.id) for item in found] == [(rows[0], rows[21])]


def test_a_staged_import_takes_a_relation_without_a_direction_once(scheme, tmp_path):
    links = labels.layer_by_name(scheme.db, "links")
    with scheme.edit("Rules"):
        rules = {"spans": "names", "undirected": ["in"]}
        labels.update_layer(scheme.db, links.id, options=rules)
    both = (
        Relation("in", FIRM, ULM), Relation("in", ULM, FIRM),
        Relation("works for", ADA, FIRM), Relation("works for", FIRM, ADA),
    )  # fmt: skip

    staged_import(scheme, tmp_path, record("taken", links=both))

    (taken,) = documents.records(scheme.db)
    assert sorted(simple(taken)) == [("in", 14, 21), ("works for", 0, 14), ("works for", 14, 0)]


def test_a_staged_import_keeps_relations_of_the_documents_it_takes(scheme, tmp_path):
    add(scheme, record("old"))
    records = record("skipped", chain=True), record("taken", chain=True)

    staged = staged_import(scheme, tmp_path, *records, skip=[1])

    (taken,) = [item for item in documents.records(scheme.db) if item.document.key == "taken"]
    assert simple(taken) == [("works for", 0, 14), ("in", 14, 21)]
    assert [(relation.label, relation.relations) for relation in staged.relations] == [
        ("in", 2),
        ("works for", 2),
    ]
    assert list(integrity.problems(scheme.db)) == []
    scheme.undo()
    assert [item.document.key for item in documents.records(scheme.db)] == ["old"]
    scheme.redo()
    assert list(integrity.problems(scheme.db)) == []


def staged_import(scheme, tmp_path, *records, skip=()):
    """Import records through a staging file into the layers of the project."""
    writer = staging.StagingWriter(tmp_path / "staging.sqlite")
    writer.declare(Layer("links", "relation", (Label("in"),), options={"spans": "names"}))
    for number, each in enumerate(records, 1):
        writer.add(each, each.document.key, 0, number)
    writer.close()
    staged = staging.examine(tmp_path / "staging.sqlite")
    known = {layer.name: layer for layer in labels.layers(scheme.db)}
    layers = {layer.n: known[layer.layer.name].id for layer in staged.layers}
    names = {
        number: known[layer.layer.name].label(label.name).id
        for layer in staged.layers
        for number, label in layer.labels
        if layer.layer.name != "chains"
    } | {
        number: known["chains"].label("m").id
        for layer in staged.layers
        for number, _label in layer.labels
        if layer.layer.name == "chains"
    }

    with copy_staged.attached(scheme.db, staged.path), scheme.edit("Import", bulk=True):
        targets = Targets(layers, names, {0: scheme.source("import", "f")})
        copy_staged.copy_documents(
            scheme.db, targets, annotator_id=scheme.annotator_id, at="2026-01-01T00:00:00Z",
            skip=list(skip), keys={},
        )  # fmt: skip
    return staged


def test_renaming_and_deleting_labels_and_layers_changes_the_rules(scheme):
    layer = labels.layer_by_name(scheme.db, "links")
    rules = {"spans": "names", "pairs": {"in": [["ORG", "ORG"]]}}
    names = labels.layer_by_name(scheme.db, "names")

    with scheme.edit("Rename"):
        labels.update_layer(scheme.db, layer.id, options=rules)
        labels.update_label(scheme.db, names.label("ORG").id, name="firm")
        labels.update_layer(scheme.db, names.id, name="entities")

    options = labels.layer(scheme.db, layer.id).options
    assert options == {"spans": "entities", "pairs": {"in": [["firm", "firm"]]}}


def test_usage_and_counts_include_relations_of_the_spans_of_a_label(scheme):
    add(scheme, record())
    names, links = (labels.layer_by_name(scheme.db, item) for item in ("names", "links"))

    assert labels.counts(scheme.db)[links.label("in").id] == 1
    assert labels.usage(scheme.db, [names.label("PER").id])["relations"] == 1
    assert labels.usage(scheme.db, [links.label("in").id])["documents"] == 1


@pytest.mark.unsound
def test_a_relation_between_documents_is_reported(scheme):
    first, second = add(scheme, record("a"), record("b"))
    other = annotations.spans(scheme.db, second)[0].id

    with scheme.edit("Break"):
        scheme.db.writer.execute(
            "update relation set to_span = ? where document_id = ?", (other, first)
        )

    assert any("does not connect two spans" in message for message in integrity.problems(scheme.db))
