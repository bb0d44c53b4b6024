"""Exact match and F1 with weights of documents, and the null threshold, by hand."""

import numpy as np
import pytest

from workbench.metrics import answers
from workbench.metrics.answer_scores import AnswerStatistic, best_threshold

GOLDS = [[["the tram"], []], [["a red bus", "bus"]]]
PREDICTED = [["tram", "late"], ["red bus stop"]]


def test_weights_of_one_give_the_scores_of_the_squad_script():
    statistic = AnswerStatistic.of(GOLDS, PREDICTED)

    found = statistic(np.ones((1, 2)))

    wanted = answers.scores([*GOLDS[0], *GOLDS[1]], [*PREDICTED[0], *PREDICTED[1]])
    assert {name: float(value[0]) for name, value in found.items()} == pytest.approx(wanted)
    assert wanted["answer_exact_match"] == pytest.approx(1 / 3)


def test_a_document_without_weight_does_not_count():
    statistic = AnswerStatistic.of(GOLDS, PREDICTED)

    assert float(statistic(np.array([[0, 1]]))["answer_f1"][0]) == pytest.approx(0.8)
    assert float(statistic.taken(np.array([0]))(np.ones((1, 1)))["answer_exact_match"][0]) == 0.5
    assert float(statistic(np.zeros((1, 2)))["answer_f1"][0]) == 0


@pytest.mark.parametrize(
    ("gaps", "with_answer", "null", "answered"),
    [
        ([-5.0, 1.0, 3.0], [1, 0, 0], [0, 1, 1], [True, False, False]),
        ([-5.0, 1.0], [1, 1], [0, 0], [True, True]),
        ([-5.0, 1.0], [0, 0], [1, 1], [False, False]),
    ],
)
def test_the_threshold_answers_exactly_what_scores_best(gaps, with_answer, null, answered):
    threshold = best_threshold(gaps, with_answer, null)

    assert [gap <= threshold for gap in gaps] == answered
