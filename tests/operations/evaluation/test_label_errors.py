"""Doubtful gold labels: folds, ranking of classes, several classes and spans, decisions."""

import json
from pathlib import Path

import pytest

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.operations.annotation import annotate, document_view
from workbench.operations.evaluation import folds, label_errors
from workbench.operations.schema import labels
from workbench.storage.documents import documents


def end(job, answers, status="done"):
    """End a held job with a prediction for each document, as JSON without keys of other tasks."""
    if status == "done":
        lines = [
            json.dumps({"document_id": document.id, "text_hash": document.text_hash,
                        "prediction": {"label": None, "scores": None, "tokens": [], "spans": [],
                                       "cut": False, **raw}})
            for document, raw in answers
        ]  # fmt: skip
        Path(job.spec.params["output"]).write_text("\n".join(lines) + "\n")
    job.start()
    job.end(status)


@pytest.fixture
def measure(project, queue):
    """measure(layer name, prediction of a document) → (the layer, its ranking)."""

    def run(name, predict, **named):
        layer = folds.layer_named(project, name)

        def worker(job):
            ids = [id for part in job.spec.params["splits"] for id in part["test"]]
            found = [documents.get(project.db, id) for id in ids]
            end(job, [(item, predict(item)) for item in found])

        queue.worker = worker
        folds.measure(project, queue, name, folds=2, **named)
        return layer, label_errors.ranking(project, layer)

    return run


def classes(label, sure):
    other = {"praise": "complaint", "complaint": "praise"}[label]
    scores = {"praise": 0.0, "complaint": 0.0, label: sure, other: 1 - sure}
    return {"label": label, "scores": scores, "fields": ["classes"]}


def as_gold_but_one(document):
    """The number in the text gives the label; the first document of train is answered otherwise."""
    label = ("complaint", "praise")[int(document.text.split()[-1]) % 2]
    return classes("praise" if document.text.endswith("train 0") else label, 0.9)


def test_a_label_that_models_of_other_folds_contradict_is_first(project, topics, measure):
    _layer, found = measure("topic", as_gold_but_one)

    (item,) = found.suspects
    assert (item.key, item.mistake.gold, item.mistake.predicted) == ("d0", "complaint", "praise")
    assert item.margin == pytest.approx(-0.8) and item.fold in (0, 1)
    assert found.documents == found.units == 12  # those of test are left out


def test_the_share_of_wrong_labels_is_estimated_only_by_folds_that_agree_well_with_gold(
    project, topics, add_documents, measure
):
    """By hand: chance is 1/2, so 11 of 12 are 0.83 of what it leaves, and 39 of 40 are 0.95."""
    _layer, found = measure("topic", as_gold_but_one)
    assert (found.agreement, found.share) == (pytest.approx(11 / 12), None)
    assert (found.low, found.high, len(found.suspects)) == (None, None, 1)

    rows = [
        (f"more {n}", "train", "submitted", "topic", ("complaint", "praise")[n % 2])
        for n in range(28)
    ]
    add_documents(rows)
    _layer, found = measure("topic", as_gold_but_one)

    assert found.units == 40 and found.share == pytest.approx(1 / 40)
    assert found.low <= found.share <= found.high


def test_folds_that_predict_hardly_more_than_chance_are_called_weak(project, topics, measure):
    _layer, found = measure("topic", as_gold_but_one)
    assert (found.chance, found.weak) == (pytest.approx(1 / 2), False)

    _layer, found = measure("topic", lambda _document: classes("praise", 0.6))

    assert (found.agreement, found.weak) == (pytest.approx(1 / 2), True)


def test_folds_spread_labels_and_never_train_on_what_they_predict(project, topics):
    prepared = folds.prepare(project, "topic", folds=3)

    for split in prepared.job.params["splits"]:
        assert len(split["test"]) == 4
        assert not set(split["test"]) & {*split["train"], *split["dev"]}
    golds = prepared.about["given"]
    kept = [sorted(golds[id] for id in param["test"]) for param in prepared.job.params["splits"]]
    assert kept == [["complaint"] * 2 + ["praise"] * 2] * 3


def test_keep_change_and_skip_are_remembered_and_undone(project, topics, measure):
    layer, found = measure("topic", as_gold_but_one)
    (item,) = found.suspects

    label_errors.skip(project, layer, item)
    assert [s.verdict for s in label_errors.ranking(project, layer).suspects] == ["skipped"]
    label_errors.keep(project, layer, item)
    assert [s.verdict for s in label_errors.ranking(project, layer).suspects] == ["kept"]
    label_errors.change(project, layer, item)
    after = label_errors.ranking(project, layer)
    assert [s.verdict for s in after.suspects] == ["changed"] and after.changed == 1
    (mark,) = document_view.view(project, item.document_id).marks
    assert layer.label("praise").id == mark.label_id and mark.source_kind == "person"

    project.undo(3)
    assert [s.verdict for s in label_errors.ranking(project, layer).suspects] == [""]


def test_each_of_several_classes_is_judged_on_its_own(project, add_layer, add_documents, measure):
    layer = add_layer("topics", "multi")
    ids = add_documents([(f"text {n}", "train", "submitted", "topics", None) for n in range(8)])
    for id in ids[:4]:
        annotate.set_class(project, id, layer.label("praise").id)

    def predict(document):
        has = document.id in ids[:3]
        scores = {"praise": 0.9 if has else 0.1, "complaint": 0.1}
        limits = {"praise": 0.5, "complaint": 0.5}
        return {"scores": scores, "thresholds": limits, "fields": ["labels"]}

    _layer, found = measure("topics", predict)

    (item,) = found.suspects
    assert (item.mistake.kind, item.mistake.gold, item.document_id) == ("missed", "praise", ids[3])
    assert found.units == 16


def test_spans_are_ranked_by_their_worst_word(project, add_layer, add_documents, measure):
    add_layer("entity", "span", ("PLACE",))
    rows = [(f"at Pier {n}", "train", "submitted", "entity", [(3, 7, "PLACE")]) for n in range(9)]
    ids = add_documents([*rows, ("at Pier 9", "train", "submitted", "entity", [])])

    def predict(document):
        words = [(0, 2, None, 0.95), (3, 7, "PLACE", 0.9), (8, 9, None, 0.95)]
        tokens = [dict(zip(("start", "end", "label", "score"), w, strict=True)) for w in words]
        spans = [{"start": 3, "end": 7, "label": "PLACE", "score": 0.9}]
        return {"tokens": tokens, "spans": spans, "fields": ["words", "spans"]}

    _layer, found = measure("entity", predict)

    (item,) = found.suspects
    assert (item.document_id, item.mistake.kind, item.quote) == (ids[9], "spurious", "Pier")
    assert item.margin == pytest.approx(0.1 - 0.9) and found.units == 30


def test_a_cancelled_measurement_keeps_the_one_before(project, topics, queue, measure):
    layer, before = measure("topic", as_gold_but_one)
    queue.worker = lambda job: end(job, (), "cancelled")

    with pytest.raises(Cancelled):
        folds.measure(project, queue, "topic", folds=2)

    assert label_errors.ranking(project, layer).measured.at == before.measured.at


def test_a_model_or_layer_that_does_not_fit_is_refused_with_those_that_do(project, topics):
    with pytest.raises(WorkbenchError, match="baseline:logistic"):
        folds.prepare(project, "topic", model="baseline:frequent_tag")
    with pytest.raises(WorkbenchError, match="topic"):
        folds.prepare(project, "nothing")
    (layer,) = labels.layers(project)
    assert label_errors.ranking(project, layer) is None
