"""No answer is a wrong class, as in scikit-learn; macro means are over labels, which it is not."""

import numpy as np
import pytest
from sklearn import metrics

from workbench.metrics.report import intervals
from workbench.tasks.answer.info import INFO as ANSWER
from workbench.tasks.answer.info import AnswerGold, GoldAnswer
from workbench.tasks.classify.info import INFO as CLASSIFY
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.multilabel.info import INFO as MULTILABEL
from workbench.tasks.multilabel.info import LabelsGold
from workbench.tasks.regress.info import INFO as REGRESS
from workbench.tasks.regress.info import NumberGold
from workbench.tasks.spec import evaluate
from workbench.tasks.tag.info import INFO as TAG
from workbench.text import result_view
from workbench.text.document import Document
from workbench.text.fields import Answers, ClassScores, FromReply, LabelScores, Number, Prediction
from workbench.text.questions import PredictedAnswer

UNREAD = Prediction((FromReply("no-label"),))
LABELS = ("x", "y", "z")
GOLD = list("xyyzxzyx")
PREDICTED = ["x", "y", None, "z", "y", None, "x", None]


def one(label):
    scores = tuple(float(label == name) for name in LABELS)
    return Prediction((ClassScores(LABELS, scores), FromReply()))


def several(*chosen):
    scores = tuple(float(name in chosen) for name in LABELS)
    return Prediction((LabelScores(LABELS, scores, (0.5,) * 3), FromReply()))


def document(number):
    return Document(str(number), (("text", f"text {number}"),))


GOLDS = [ClassGold(label) for label in GOLD]
PREDICTIONS = [UNREAD if label is None else one(label) for label in PREDICTED]


def test_scores_of_classes_equal_scikit_learn():
    written = [label or "no answer" for label in PREDICTED]
    f1 = {
        average: metrics.f1_score(
            GOLD, written, average=average, labels=LABELS if average == "macro" else None
        )
        for average in ("macro", "micro", "weighted")
    }
    expected = {
        "accuracy": metrics.accuracy_score(GOLD, written),
        **{f"{average}_f1": value for average, value in f1.items()},
    }

    scores = CLASSIFY.score(GOLDS, PREDICTIONS)
    measured = intervals(CLASSIFY.statistic(GOLDS, PREDICTIONS, LABELS), len(GOLD)).scores

    assert scores == pytest.approx(expected)
    further = {
        "mcc": metrics.matthews_corrcoef(GOLD, written),
        "kappa": metrics.cohen_kappa_score(GOLD, written),
    }
    for name, value in {**expected, **further}.items():
        assert measured[name].value == pytest.approx(value), name
    assert [row.label for row in CLASSIFY.per_label(GOLDS, PREDICTIONS)] == list(LABELS)


def test_no_answer_is_counted_and_has_a_column_of_its_own():
    documents = [document(number) for number in range(len(GOLD))]

    evaluation = evaluate(CLASSIFY, "dev", documents, GOLDS, PREDICTIONS)
    matrix = CLASSIFY.confusion(GOLDS, PREDICTIONS, LABELS)

    assert evaluation.no_answer == 3 and evaluation.to_json()["no_answer"] == 3
    assert type(evaluation).from_json(evaluation.to_json()) == evaluation
    assert matrix.labels == (*LABELS, result_view.NONE)
    assert matrix.counts.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0]]


def test_no_answer_is_neither_a_label_nor_a_suggestion_and_has_no_confidence():
    assert UNREAD.label is None and UNREAD.no_answer == "no-label"
    for info in (CLASSIFY, MULTILABEL, REGRESS, TAG, ANSWER):
        assert info.answers(UNREAD) == []
    assert len(CLASSIFY.confidences(GOLDS, PREDICTIONS)[0]) == 5
    assert Prediction.from_json(UNREAD.to_json()) == UNREAD


def test_scores_of_several_labels_equal_scikit_learn():
    golds = [LabelsGold(("x", "y")), LabelsGold(), LabelsGold(("z",)), LabelsGold()]
    predictions = [several("x"), UNREAD, UNREAD, several()]
    gold = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    written = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])

    scores = MULTILABEL.score(golds, predictions)
    measured = intervals(MULTILABEL.statistic(golds, predictions, LABELS), len(golds)).scores

    expected = {
        "micro_f1": metrics.f1_score(gold, written, average="micro", zero_division=0),
        "macro_f1": metrics.f1_score(
            gold, written, labels=[0, 1, 2], average="macro", zero_division=0
        ),
        "exact_match": metrics.accuracy_score(gold, written),
    }
    for name, value in expected.items():
        assert scores[name] == pytest.approx(value), name
        assert measured[name].value == pytest.approx(value), name
    assert not MULTILABEL.agrees(golds[1], UNREAD)
    assert len(MULTILABEL.mistakes(document(1), golds[1], UNREAD)) == 1
    assert MULTILABEL.with_thresholds(UNREAD, (0.5,) * 3) == UNREAD


def test_a_number_without_an_answer_is_as_wrong_as_gold_numbers_can_be():
    golds = [NumberGold(value) for value in (1.0, 4.0, 5.0)]
    predictions = [Prediction((Number(1.0),)), UNREAD, Prediction((Number(5.0),))]

    scores = REGRESS.score(golds, predictions)

    assert scores["mae"] == pytest.approx(3 / 3) and scores["mse"] == pytest.approx(9 / 3)


def test_a_question_without_an_answer_is_wrong_also_where_the_text_has_none():
    gold = AnswerGold((GoldAnswer("Who?", ((0, 3),), ("Ada",)), GoldAnswer("Why?", (), ())))
    none = PredictedAnswer("Why?", (), "", 0.0, 1.0, is_null=True)

    assert ANSWER.score([gold], [Prediction((Answers((none,)), FromReply("no-json")))]) == {
        "answer_exact_match": 0.5,
        "answer_f1": 0.5,
    }
    assert ANSWER.score([gold], [UNREAD]) == {"answer_exact_match": 0.0, "answer_f1": 0.0}


def test_spans_without_an_answer_are_all_missed_and_never_right():
    from workbench.tasks.heads.info import SpanGold
    from workbench.text.spans import Span

    golds = [SpanGold((Span(0, 3, "PER"),)), SpanGold()]

    listed = [TAG.mistakes(document(0), gold, UNREAD) for gold in golds]
    assert [[(item.gold, item.predicted) for item in each] for each in listed] == [
        [("PER", "")],
        [("", "")],
    ]
    assert not any(TAG.agrees(gold, UNREAD) for gold in golds)
    assert TAG.score(golds, [UNREAD, UNREAD])["span_f1"] == 0.0
