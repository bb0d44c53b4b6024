"""Doubtful answers and numbers: folds without baselines, ranking, decisions."""

import json

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, questions, values
from workbench.operations.evaluation import errors, folds, label_errors
from workbench.storage.documents import documents
from workbench.text.mistakes import BOUNDARY, LABEL, Mistake
from workbench.text.result_views import ANSWERS

TEXT = "Ada met Bob in Bonn."
ADA, BOB, BONN = (0, 3), (8, 11), (15, 19)


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
