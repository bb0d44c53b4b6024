"""Runs of relations: suggestions that become gold, and errors that are corrected."""

from dataclasses import replace

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import (
    annotate,
    document_view,
    live_suggestions,
    relation_rules,
    relations,
    suggest,
    suggestion_edits,
)
from workbench.operations.evaluation import end_to_end, errors
from workbench.operations.runs import predict, span_runs
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.schema import labels
from workbench.storage.annotation import suggestions
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels as store
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, Relations, SpanScores
from workbench.text.mistakes import LABEL, MISSED, SPURIOUS
from workbench.text.relations import Relation
from workbench.text.spans import Span

TEXT = "Ada met Bob in Paris."
ADA, BOB, PARIS = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(15, 20, "LOC")
PREDICTED = (
    Relation("knows", ADA, BOB, 0.9, directed=False),
    Relation("in", ADA, PARIS, 0.8),
    Relation("in", PARIS, BOB, 0.7),  # the rules of the layer do not allow it
)


@pytest.fixture
def scheme(project):
    """Layers names (PER, LOC) and links (knows without a direction, in); a run of links."""
    labels.add_layer(project, "names", "span", labels=("PER", "LOC"))
    labels.add_layer(project, "links", "relation", labels=("in", "knows"))
    links = store.layer_by_name(project.db, "links")
    relation_rules.set_rules(
        project, links.id, spans="names", undirected=["knows"], pairs={"in": [("PER", "LOC")]}
    )
    with project.edit("Add"):
        documents.add(
            project.db, [Record(Document("k", (("text", TEXT),), "dev"))],
            source_id=project.source("person"),
        )  # fmt: skip
        spec = {"task": "relations", "layer": "links"}
        run = runs.add(project.db, "links", "train", layer_id=links.id, spec=spec, status="done")
    for span in (ADA, BOB, PARIS):
        annotate.add_span(project, 1, span.start, span.end, ids(project)["names", span.label])
    store_prediction(project, run, PREDICTED)
    return project


def ids(project):
    return {
        (layer.name, label.name): label.id
        for layer in store.layers(project.db)
        for label in layer.labels
    }


def record(project):
    (found,) = documents.records(project.db, layers=("links",))
    return found


def store_prediction(project, run, predicted):
    answer = Prediction((Relations(tuple(predicted)),))
    with project.write("Store"):
        rows = [(1, record(project).document.asked_hash, answer.to_json())]
        runs.save_predictions(project.db, run.id, rows)


def add_suggestions(project):
    run = runs.all(project.db)[0]
    layer = store.layer_by_name(project.db, "links")
    answer = Prediction((Relations(PREDICTED),))
    rows = suggest.rows_of(project, run, layer, record(project), answer)
    suggestion_edits.add_suggestions(project, run.id, rows)
    return suggestions.suggestions(project.db, 1)


def gold(project):
    return {
        (r.label, TEXT[r.from_span.start : r.from_span.end], TEXT[r.to_span.start : r.to_span.end])
        for r in record(project).relations.get("links", ())
    }


def test_predicted_relations_that_the_rules_allow_are_suggested_and_accepted(scheme):
    rows = add_suggestions(scheme)

    assert sorted(tuple(map(str, (row.start, row.score))) for row in rows) == [
        ("None", "0.8"), ("None", "0.9"),
    ]  # fmt: skip
    assert not list(integrity.problems(scheme.db))
    assert suggestion_edits.accept(scheme, [row.id for row in rows]) == 2
    assert gold(scheme) == {("knows", "Ada", "Bob"), ("in", "Ada", "Paris")}
    assert {row.score for row in document_view.view(scheme, 1).relations} == {0.8, 0.9}
    scheme.undo()
    assert gold(scheme) == set()


def test_a_relation_that_is_gold_already_is_not_suggested_in_either_order(scheme):
    spans = {row.start: row.id for row in document_view.view(scheme, 1).spans}
    relations.add_relation(scheme, spans[8], spans[0], ids(scheme)["links", "knows"])

    assert [row.score for row in add_suggestions(scheme)] == [0.8]


def test_a_span_that_was_deleted_is_made_again_with_the_relation(scheme):
    rows = add_suggestions(scheme)
    spans = {row.start: row.id for row in document_view.view(scheme, 1).spans}
    annotate.delete_span(scheme, spans[15])

    suggestion_edits.accept(scheme, [row.id for row in rows if row.score == 0.8])

    assert gold(scheme) == {("in", "Ada", "Paris")}


def test_the_stored_prediction_is_offered_for_the_spans_as_they_are(scheme):
    run, layer = runs.all(scheme.db)[0], store.layer_by_name(scheme.db, "links")
    view = document_view.view(scheme, 1)

    offered = live_suggestions.of_run(scheme, run.id, layer.id, view)
    annotate.delete_span(scheme, next(row.id for row in view.spans if row.start == 15))
    later = live_suggestions.of_run(scheme, run.id, layer.id, document_view.view(scheme, 1))

    assert len(offered) == 2 and later == []


def test_relations_of_predicted_spans_are_suggested_with_their_spans(scheme):
    for row in document_view.view(scheme, 1).spans:
        annotate.delete_span(scheme, row.id)
    run, names = runs.all(scheme.db)[0], store.layer_by_name(scheme.db, "names")
    spec = {"task": "spans", "layer": "names"}
    with scheme.write("Store"):
        finder = runs.add(scheme.db, "names", "train", layer_id=names.id, spec=spec, status="done")
    plain = record(scheme).document
    read = replace(plain, input_spans=(ADA, PARIS))
    found = Prediction((SpanScores((ADA, PARIS)),))
    answer = Prediction((Relations((Relation("in", ADA, PARIS, 0.8),)),))
    with scheme.write("Store"):
        runs.save_predictions(scheme.db, finder.id, [(1, plain.asked_hash, found.to_json())])
        runs.save_predictions(scheme.db, run.id, [(1, read.asked_hash, answer.to_json())])

    documents_read = predict.with_spans(scheme, None, finder, [plain])
    answers = predict.predictions(scheme, None, run, documents_read)
    layer = store.layer_by_name(scheme.db, "links")
    rows = suggest.rows_of(scheme, run, layer, Record(documents_read[0]), answers[1])
    suggestion_edits.add_suggestions(scheme, run.id, rows)
    open_rows = suggestions.suggestions(scheme.db, 1)
    suggestion_edits.accept(scheme, [row.id for row in open_rows])

    assert plain.input_spans == () and gold(scheme) == {("in", "Ada", "Paris")}
    assert [row.start for row in document_view.view(scheme, 1).spans] == [0, 15]


def test_errors_are_corrected_by_pair(scheme):
    spans = {row.start: row.id for row in document_view.view(scheme, 1).spans}
    label = ids(scheme)["links", "knows"]
    relations.add_relation(scheme, spans[0], spans[15], label)
    relations.add_relation(scheme, spans[8], spans[15], label)
    annotate.submit(scheme, 1, [store.layer_by_name(scheme.db, "links").id])
    run = runs.all(scheme.db)[0]
    store_prediction(scheme, run, PREDICTED[:2])

    items = errors.items(scheme, run)

    assert {(item.mistake.kind, item.quote) for item in items} == {
        (SPURIOUS, "Ada – Bob"), (LABEL, "Ada → Paris"), (MISSED, "Bob – Paris"),
    }  # fmt: skip
    for item in items:
        errors.accept(scheme, run, item)
    assert gold(scheme) == {("knows", "Ada", "Bob"), ("in", "Ada", "Paris")}
    detail = errors.detail(scheme, run, 1)
    assert [span.label for span in detail.document.input_spans] == ["PER", "PER", "LOC"]
    assert detail.prediction is not None and len(detail.rows(items[0].mistake)) == 1


def span_run(project, name="names", layer="names", task="spans"):
    layer_id = store.layer_by_name(project.db, layer).id
    spec = {"task": task, "layer": layer}
    with project.write("Store"):
        return runs.add(project.db, name, "train", layer_id=layer_id, spec=spec, status="done")


def test_end_to_end_scores_count_spans_that_were_not_predicted_as_missed(scheme, monkeypatch):
    """Gold knows(Ada, Bob), in(Ada, Paris). Predicted spans: Ada, and Paris as PER; so one of two
    relations can be predicted, and its span has the wrong label.
    """
    spans = {row.start: row.id for row in document_view.view(scheme, 1).spans}
    label = ids(scheme)
    relations.add_relation(scheme, spans[0], spans[8], label["links", "knows"])
    relations.add_relation(scheme, spans[0], spans[15], label["links", "in"])
    annotate.submit(scheme, 1, [store.layer_by_name(scheme.db, "links").id])
    run, finder = runs.all(scheme.db)[0], span_run(scheme)
    person = Span(15, 20, "PER")
    before = predict.stored(scheme, run, [record(scheme).document])

    def answers(_kind, _project, _queue, chosen, documents, **_more):
        if chosen.id == finder.id:
            return [Prediction((SpanScores((ADA, person)),)) for _document in documents], None
        assert [document.input_spans for document in documents] == [(ADA, person)]
        return [Prediction((Relations((Relation("in", ADA, person, 0.8),)),))], None

    monkeypatch.setattr(type(kinds.of(run)), "predict", answers)
    evaluation = end_to_end.evaluate(scheme, None, run, finder, "dev")

    scores = evaluation.scores
    assert scores["relation_precision"] == 1.0 and scores["relation_recall"] == 0.5
    assert scores["relation_f1"] == pytest.approx(2 / 3) and scores["relation_strict_f1"] == 0.0
    assert evaluation.interval("relation_f1") is not None
    assert predict.stored(scheme, run, [record(scheme).document]) == before


def test_only_runs_of_the_connected_spans_can_be_chosen(scheme):
    run, finder = runs.all(scheme.db)[0], span_run(scheme)

    assert [other.name for other in span_runs.span_runs(scheme, run)] == ["names"]
    assert span_runs.span_runs(scheme, finder) == ()
    with pytest.raises(WorkbenchError, match="does not predict spans of layer 'names'"):
        suggest.suggest(scheme, None, run, spans=run)
    with pytest.raises(WorkbenchError, match="predicts no relations"):
        end_to_end.evaluate(scheme, None, finder, run, "dev")
