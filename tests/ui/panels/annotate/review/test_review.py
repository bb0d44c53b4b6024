"""Error review of relations: the prediction is drawn beside gold, and taken over by a key."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.operations.annotation import annotate, document_view, relation_rules
from workbench.operations.annotation import relations as relate
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.runs import runs
from workbench.text.fields import Prediction, Relations
from workbench.text.relations import Relation
from workbench.text.spans import Span
from workbench.ui.panels.annotate.differences import Differences, differences

ADA, BOB, PARIS = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(15, 20, "LOC")


@pytest.fixture
def reviewed(filled, state, open_view):
    """Gold: Bob knows Ada (no direction), Bob in Paris. Predicted: Ada knows Bob, Ada in Paris."""
    labels.add_layer(filled, "links", "relation", labels=("knows", "in"))
    layer = next(layer for layer in labels.layers(filled) if layer.name == "links")
    relation_rules.set_rules(filled, layer.id, spans="names", undirected=["knows"], pairs={})
    names = next(layer for layer in labels.layers(filled) if layer.name == "names")
    ada, bob, paris = (
        annotate.add_span(filled, 1, span.start, span.end, names.label(span.label).id)
        for span in (ADA, BOB, PARIS)
    )
    relate.add_relation(filled, bob, ada, layer.label("knows").id)
    relate.add_relation(filled, bob, paris, layer.label("in").id)
    predicted = (Relation("knows", ADA, BOB, 0.9), Relation("in", ADA, PARIS, 0.8))
    (record,) = documents.records(filled.db, layers=("links",), ids=[1])
    with filled.write("Store"):
        spec = {"task": "relations", "layer": "links"}
        run = runs.add(filled.db, "links", "train", layer_id=layer.id, spec=spec, status="done")
        answer = Prediction((Relations(predicted),)).to_json()
        runs.save_predictions(filled.db, run.id, [(1, record.document.asked_hash, answer)])
    view = open_view(state, height=900)
    state.review.show_errors(run.id, (1,), 1)
    view.take_focus()
    return view


def gold(project):
    view = document_view.view(project, 1)
    text = view.document.text
    places = {row.id: text[row.start : row.end] for row in view.spans}
    return {(places[row.from_span], places[row.to_span]) for row in view.relations}


def test_relations_without_direction_agree_in_either_order(reviewed):
    session = reviewed.state.session
    (row,) = [row for row in session.relations if row.id in differences(session).missed_relations]

    assert [each.label for each in differences(session).relations] == ["in"]
    assert session.label_of[row.label_id][1].name == "in"


def test_one_key_replaces_the_missed_relation_by_the_predicted_one_and_undo_restores(reviewed):
    session = reviewed.state.session
    before = gold(session.project)

    QTest.keyClick(reviewed.first, Qt.Key.Key_A)

    assert gold(session.project) == {("Bob", "Ada"), ("Ada", "Paris")}
    assert differences(session) == Differences()
    assert {row.score for row in session.relations} == {None, 0.8}
    assert not list(integrity.problems(session.project.db))
    session.project.undo()
    assert gold(session.project) == before
    assert not list(integrity.problems(session.project.db))


def test_a_relation_that_the_rules_do_not_allow_changes_nothing(reviewed):
    session = reviewed.state.session
    layer = next(layer for layer in session.layers if layer.name == "links")
    rules = {"in": [("LOC", "LOC")]}
    relation_rules.set_rules(
        session.project, layer.id, spans="names", undirected=["knows"], pairs=rules
    )
    before = gold(session.project)

    QTest.keyClick(reviewed.first, Qt.Key.Key_A)

    assert gold(session.project) == before
