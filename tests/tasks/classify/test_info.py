"""Document classes: gold, scores, errors and suggestions, worked out by hand."""

import numpy as np
import pytest

from workbench.metrics.classes import LabelScore
from workbench.runtime.inputs import Prepared
from workbench.tasks.classify.info import INFO, ClassGold
from workbench.tasks.spec import Answer, ErrorText
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction

DOCUMENT = Document("a", (("text", "Ada met Bob."),))
GOLDS = [ClassGold(label) for label in "xyyy"]
PREDICTIONS = [
    Prediction((ClassScores(("x", "y"), scores),))
    for scores in ((0.9, 0.1), (0.2, 0.8), (0.7, 0.3), (0.4, 0.6))
]  # x y x y


def test_gold_is_the_class_of_the_layer():
    record = Record(DOCUMENT, {}, {"c": ("x",)})

    gold = INFO.gold(record, "c")

    assert gold == ClassGold("x") and gold.left_out == 0
    assert list(gold.labels()) == ["x"] and gold.to_json() == "x"
    assert INFO.gold(record, "other") is None


def test_class_scores_by_hand():
    scores = INFO.score(GOLDS, PREDICTIONS)

    assert scores["accuracy"] == 0.75  # x: P 1/2 R 1 F 2/3; y: P 1 R 2/3 F 4/5
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert scores["weighted_f1"] == pytest.approx((2 / 3 + 3 * 4 / 5) / 4)


def test_each_label_has_its_row():
    x, y = INFO.per_label(GOLDS, PREDICTIONS)

    assert x == LabelScore("x", 0.5, 1.0, pytest.approx(2 / 3), 1)
    assert y == LabelScore("y", 1.0, pytest.approx(2 / 3), pytest.approx(4 / 5), 3)


def test_a_prediction_is_right_if_its_best_label_is_gold():
    agree = [INFO.agrees(*pair) for pair in zip(GOLDS, PREDICTIONS, strict=True)]

    assert agree == [True, True, False, True]
    assert not INFO.agrees(ClassGold("x"), Prediction())


def test_an_error_names_both_labels_and_the_confidence():
    assert INFO.error(DOCUMENT, GOLDS[2], PREDICTIONS[2]) == ErrorText("y", "x", 0.7)
    assert INFO.error(DOCUMENT, GOLDS[2], Prediction()) == ErrorText("y", "–", 0.0)


def test_the_matrix_counts_gold_by_predicted():
    result = INFO.confusion(GOLDS, PREDICTIONS, ("x", "y"))

    rows = {
        (result.labels[gold], result.labels[predicted]): int(result.counts[gold, predicted])
        for gold, predicted in np.argwhere(result.counts)
    }
    assert rows == {("x", "x"): 1, ("y", "x"): 1, ("y", "y"): 2}


def test_the_best_class_is_suggested_with_its_probability():
    assert INFO.answers(PREDICTIONS[1]) == [Answer("y", 0.8)]


def test_a_layer_of_one_class_cannot_be_trained_on():
    assert "have one class" in INFO.problem({"x": 9}, "topic")
    assert (
        "'topic'" in INFO.problem({"x": 9}, "topic") and INFO.problem({"x": 9, "y": 1}, "t") == ""
    )


def test_logits_become_a_probability_for_each_label_and_truncation_is_kept():
    documents = [DOCUMENT, DOCUMENT]
    prepared = Prepared(documents, [], np.arange(2), np.array([False, True]))
    logits = [{"logits": np.array([0.0, np.log(3.0)])}, {"logits": np.array([1.0, 1.0])}]

    first, second = INFO.decode(logits, prepared, ("x", "y"), {})

    assert first.classes.as_dict() == pytest.approx({"x": 0.25, "y": 0.75}) and not first.cut
    assert second.classes.scores == (0.5, 0.5) and second.cut
