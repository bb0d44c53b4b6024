"""The errors of a run one by one: order, filters, accepting and keeping, undo."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import document_view
from workbench.operations.evaluation import errors
from workbench.operations.evaluation.errors import ErrorFilters, arranged
from workbench.operations.runs import results
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction
from workbench.text.mistakes import Mistake
from workbench.text.result_view import DetailRow


@pytest.fixture
def spans(project, add_layer, add_documents):
    """A tag run with one mistake of each kind in one document; returns (run, document id)."""
    layer = add_layer("entity", "span", ("PLACE", "TIME"))
    text = "Riverside Pier since spring, twice this week by the ferry"
    gold = [(0, 14, "PLACE"), (21, 27, "TIME"), (29, 44, "TIME")]
    (id,) = add_documents([(text, "dev", "submitted", "entity", gold)])
    predicted = [(0, 14, "TIME", 0.9), (15, 27, "TIME", 0.8), (52, 57, "PLACE", 0.7)]
    words = [(0, 9, "TIME", 0.9), (10, 14, "TIME", 0.9), (29, 34, None, 0.6), (35, 39, None, 0.6)]
    raw = {
        "label": None,
        "scores": None,
        "tokens": [
            dict(zip(("start", "end", "label", "score"), row, strict=True)) for row in words
        ],
        "spans": [
            dict(zip(("start", "end", "label", "score"), row, strict=True)) for row in predicted
        ],
        "fields": ["words", "spans"],
        "cut": False,
    }
    spec = {"task": "tag", "layer": "entity", "model": "m"}
    with project.write():
        run = runs.add(project.db, "tags", "train", layer_id=layer.id, spec=spec, status="done")
        document = documents.get(project.db, id)
        runs.save_predictions(project.db, run.id, [(id, document.text_hash, raw)])
    return results.run(project, run.id), id


def gold_of(project, id):
    names = {label.id: label.name for layer in labels.layers(project) for label in layer.labels}
    return [
        (row.start, row.end, names[row.label_id]) for row in document_view.view(project, id).spans
    ]


def test_classes_are_listed_with_confidence_loss_and_order(project, trained):
    (found,) = errors.items(project, trained)

    assert (found.mistake.gold, found.mistake.predicted) == ("complaint", "praise")
    assert found.mistake.confidence == pytest.approx(0.9)
    assert found.mistake.loss == pytest.approx(2.302585)  # −ln 0.1
    assert found.key == "d8" and found.quote.startswith("the tram is late")


def test_filters_and_orders(project, spans):
    found = errors.items(project, spans[0])

    assert [item.mistake.kind for item in arranged(found, ErrorFilters())] == [
        "label", "boundary", "spurious", "missed",
    ]  # fmt: skip
    assert [i.mistake.kind for i in arranged(found, ErrorFilters(sort="loss"))][:2] == [
        "label",
        "missed",
    ]
    assert [i.mistake.kind for i in arranged(found, ErrorFilters(sort="kind"))][:2] == [
        "label",
        "missed",
    ]
    assert [i.quote for i in arranged(found, ErrorFilters(kind="missed"))] == ["twice this week"]
    assert len(arranged(found, ErrorFilters(gold="TIME"))) == 2
    assert [i.quote for i in arranged(found, ErrorFilters(gold="–"))] == ["ferry"]
    assert len(arranged(found, ErrorFilters(predicted="TIME", match="PIER"))) == 2
    assert arranged(found, ErrorFilters(documents=())) == ()


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("label", [(0, 14, "TIME"), (21, 27, "TIME"), (29, 44, "TIME")]),
        ("boundary", [(0, 14, "PLACE"), (15, 27, "TIME"), (29, 44, "TIME")]),
        ("missed", [(0, 14, "PLACE"), (21, 27, "TIME")]),
        ("spurious", [(0, 14, "PLACE"), (21, 27, "TIME"), (29, 44, "TIME"), (52, 57, "PLACE")]),
    ],
)
def test_accepting_changes_this_place_only_and_undo_brings_gold_back(project, spans, kind, after):
    run, id = spans
    before = gold_of(project, id)
    (item,) = arranged(errors.items(project, run), ErrorFilters(kind=kind))

    errors.accept(project, run, item)
    assert gold_of(project, id) == after
    (shown,) = arranged(errors.items(project, run), ErrorFilters(kind=kind))
    assert shown.verdict == "accepted"

    project.undo()
    assert gold_of(project, id) == before
    assert arranged(errors.items(project, run), ErrorFilters(state="reviewed")) == ()


def test_kept_gold_stays_reviewed_for_other_runs_until_undo(project, trained):
    (item,) = errors.items(project, trained)

    errors.keep(project, trained, item)

    assert [error.verdict for error in errors.items(project, trained)] == ["kept"]
    assert arranged(errors.items(project, trained), ErrorFilters(state="open")) == ()
    project.undo()
    assert [error.verdict for error in errors.items(project, trained)] == [""]


def test_an_accepted_class_replaces_gold_and_keeps_its_source(project, trained):
    (item,) = errors.items(project, trained)

    errors.accept(project, trained, item)

    (mark,) = document_view.view(project, item.document_id).marks
    assert (mark.source_kind, mark.source_ref) == ("run", str(trained.id))
    assert document_view.view(project, item.document_id).states == {mark.layer_id: "submitted"}


def test_accepting_twice_says_that_gold_has_changed(project, spans):
    run, _id = spans
    (item,) = arranged(errors.items(project, run), ErrorFilters(kind="label"))
    errors.accept(project, run, item)

    with pytest.raises(WorkbenchError, match="has changed"):
        errors.accept(project, run, item)


def test_errors_on_test_stay_hidden_before_its_score_was_viewed(project, trained):
    with pytest.raises(WorkbenchError, match="has not been viewed"):
        errors.check_split(trained, "test")


def test_labels_decided_one_by_one_have_their_thresholds_beside_the_probabilities():
    raw = {"scores": {"a": 0.4, "b": 0.2}, "thresholds": {"a": 0.5, "b": 0.1}, "labels": ["b"]}
    several = {"label": None, "tokens": [], "spans": [], "cut": False, "fields": ["labels"], **raw}
    prediction = Prediction.from_json(several)
    document = Document("d", (("text", "some text"),))

    mistake = Mistake("label", "a", "b", 0.4, 1.0)

    shown = errors.Detail(document, "submitted", (), (), {}, prediction)
    assert shown.rows(mistake) == [
        DetailRow("a", 0.4, threshold=0.5),
        DetailRow("b", 0.2, threshold=0.1),
    ]
    assert errors.Detail(document, "submitted", (), (), {}, None).rows(mistake) == []


def test_probabilities_of_ordered_labels_follow_their_order():
    prediction = Prediction((ClassScores(("low", "middle", "high"), (0.2, 0.1, 0.7)),))
    document = Document("d", (("text", "some text"),))
    mistake = Mistake("label", "low", "high", 0.7, 1.6)

    plain = errors.Detail(document, "submitted", (), (), {}, prediction)
    ordered = errors.Detail(document, "submitted", (), (), {}, prediction, ordered=True)

    assert [row.label for row in plain.rows(mistake)] == ["high", "low", "middle"]
    assert [row.label for row in ordered.rows(mistake)] == ["low", "middle", "high"]
