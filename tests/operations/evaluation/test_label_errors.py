"""Doubtful gold labels: folds, ranking of classes, several classes and spans, decisions."""

import json
from pathlib import Path

import pytest

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.operations.annotation import annotate, document_view, questions, values
from workbench.operations.evaluation import errors, folds, label_errors
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.mistakes import BOUNDARY, LABEL, Mistake
from workbench.text.result_views import ANSWERS

TEXT = "Ada met Bob in Bonn."
ADA, BOB, BONN = (0, 3), (8, 11), (15, 19)


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


# ---------------------------------------------------------------- answers and numbers


@pytest.fixture
def rank(project):
    """rank(layer, task, prediction of a document) → ranking, as if folds had predicted that."""

    def found(layer, task, predict):
        given = folds.given_labels(project, task, layer)
        ids = [scored.document.id for scored in given]
        head = {"task": task, "model": "m", "folds": 2, "at": "", "fold": dict.fromkeys(ids, 0)}
        lines = [json.dumps({**head, "given": {}})]
        for scored in given:
            row = {"document_id": scored.document.id, "text_hash": scored.document.asked_hash}
            empty = {"label": None, "scores": None, "tokens": [], "spans": [], "cut": False}
            raw = {**empty, **predict(scored.document)}
            lines.append(json.dumps({**row, "prediction": raw}))
        path = project.runs_folder / "label-errors" / f"{layer.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return label_errors.ranking(project, layer)

    return found


@pytest.fixture
def asked(project, add_layer, add_documents):
    """Layer `qa`: who was met (Bob), asked of ten documents; the last has Bonn as its answer."""
    layer = add_layer("qa", "answer", ())
    ids = add_documents([(TEXT, "train", None, "qa", None)] * 10)
    for id in ids:
        question = questions.add(project, id, layer.id, "Whom did Ada meet?")
        questions.answer(project, question, *(BONN if id == ids[-1] else BOB))
        annotate.submit(project, id, [layer.id])
    return layer, ids


def answered(*candidates):
    """The answers to the question, (range, probability) best first."""
    rows = [[*offsets, score] for offsets, score in candidates]
    (start, end), score = candidates[0]
    one = {"question": "Whom did Ada meet?", "answer": TEXT[start:end], "text": TEXT[start:end]}
    one |= {"start": start, "end": end, "score": score, "null_score": 0.0, "null_gap": -9.0}
    return {"answers": [{**one, "candidates": rows}], "fields": ["answers"]}


def test_an_answer_at_another_place_is_doubtful_and_one_that_overlaps_is_not(project, asked, rank):
    layer, ids = asked

    def predict(document):
        wider = (BOB[0] - 4, BOB[1])
        return answered((wider if document.id == ids[0] else BOB, 0.8), (BONN, 0.1))

    found = rank(layer, "answer", predict)

    (item,) = found.suspects
    sides = [ANSWERS.side(item.mistake, item.text, gold=gold) for gold in (True, False)]
    assert (item.document_id, sides) == (ids[9], ["Bonn", "Bob"])
    assert item.margin == pytest.approx(0.1 - 0.8) and found.units == 10
    assert found.share == pytest.approx(1 / 10) and found.agreement == pytest.approx(9 / 10)


def test_a_doubtful_answer_is_changed_and_undone(project, asked, rank):
    layer, ids = asked
    found = rank(layer, "answer", lambda _document: answered((BOB, 0.8), (BONN, 0.1)))

    label_errors.change(project, layer, found.suspects[0])

    (row,) = questions.asked(project, ids[9], layer.id)
    assert row.question.answers == (BOB,)
    assert [item.verdict for item in label_errors.ranking(project, layer).suspects] == ["changed"]
    project.undo()
    assert [item.verdict for item in label_errors.ranking(project, layer).suspects] == [""]


def test_annotate_selects_the_gold_answer_and_not_all_text_up_to_the_predicted_one():
    elsewhere = Mistake(LABEL, "Q?", "Q?", 0.9, 2.0, BONN, BOB)
    wider = Mistake(BOUNDARY, "Q?", "Q?", 0.9, 2.0, BOB, (4, 11))

    assert errors.place_in_annotate(None, elsewhere) == {"at": ("text", *BONN)}
    assert errors.place_in_annotate(None, wider) == {"at": ("text", 4, 11)}


def test_a_wrong_answer_without_confidence_is_not_doubtful(asked, rank):
    layer, ids = asked

    def predict(document):
        last = answered((BOB, 0.3), (BONN, 0.2))
        return last if document.id == ids[-1] else answered((BOB, 0.8))

    assert rank(layer, "answer", predict).suspects == ()


def test_numbers_far_from_their_predictions_are_doubtful_the_farthest_first(
    project, add_layer, add_documents, rank
):
    layer = add_layer("rating", "score", ())
    ids = add_documents([(f"text {n}", "train", None, "rating", None) for n in range(12)])
    golds = [2.1, 1.9, 2.2, 1.8, 2.1, 1.9, 2.2, 1.8, 2.0, 2.0, 5.0, 4.0]
    for id, value in zip(ids, golds, strict=True):
        values.set_number(project, id, layer.id, value)
        annotate.submit(project, id, [layer.id])

    found = rank(layer, "regress", lambda _document: {"number": 2.0, "fields": ["number"]})

    # differences: median 0, so the deviation is 1.4826 times the median of |difference|, 0.15
    assert [item.document_id for item in found.suspects] == ids[10:]
    assert found.suspects[0].margin == pytest.approx(1 - 3 / (1.4826 * 0.15) / 2.5, abs=0.1)
    assert (found.share, found.low, found.agreement, found.correlation) == (None,) * 4
    label_errors.change(project, layer, found.suspects[0])
    (record,) = documents.records(project.db, layers=("rating",), ids=[ids[10]])
    assert record.numbers == {"rating": 2.0}


def test_a_layer_that_no_baseline_can_predict_says_what_is_needed(project, asked):
    layer, _ids = asked
    assert folds.models(project, layer) == ()

    with pytest.raises(WorkbenchError, match="No baseline can predict layer 'qa'") as found:
        folds.prepare(project, "qa")

    assert "Train a model" in found.value.hint


def test_a_baseline_that_predicts_the_same_for_every_text_is_not_offered(project, add_layer):
    number, topic = add_layer("rating", "score", ()), add_layer("topic")

    assert folds.models(project, number) == ()
    assert "baseline:majority" not in dict(folds.models(project, topic))
