"""Gold, scores and errors of answers to questions."""

import pytest

from workbench.tasks.answer.info import INFO, AnswerGold, GoldAnswer
from workbench.text.dataset import Record
from workbench.text.document import with_questions
from workbench.text.fields import Answers, Prediction
from workbench.text.labels import Layer
from workbench.text.mistakes import BOUNDARY, LABEL, MISSED, SPURIOUS
from workbench.text.questions import Candidate, PredictedAnswer, Question

TEXT = "Ada met Bob in Rome on Monday."
GOLD = AnswerGold(
    (
        GoldAnswer("Who?", ((0, 3), (0, 7)), ("Ada", "Ada met")),
        GoldAnswer("Where?", ((15, 19),), ("Rome",)),
        GoldAnswer("Why?", (), ()),
    )
)


def answer(question, start, end, score=0.9, *, is_null=False, gap=-1.0):
    best = (Candidate(start, end, score),)
    return PredictedAnswer(question, best, TEXT[start:end], gap, 1 - score, is_null)


def prediction(*answers):
    return Prediction((Answers(answers),))


RIGHT = prediction(
    answer("Who?", 0, 3), answer("Where?", 15, 19), answer("Why?", 0, 3, 0.2, is_null=True, gap=2.0)
)


def test_gold_is_every_question_that_is_not_open():
    record = Record(
        with_questions("a", TEXT, ()),
        questions={
            "q": (Question("Who?", ((0, 3),)), Question("Why?", (), True), Question("When?"))
        },
    )

    found = INFO.gold(record, "q")

    assert found.questions == (GoldAnswer("Who?", ((0, 3),), ("Ada",)), GoldAnswer("Why?", (), ()))
    assert found.left_out == 1 and INFO.gold(Record(with_questions("a", TEXT, ())), "q") is None
    assert INFO.fits(Layer("q", "answer"))


def test_scores_are_those_of_all_questions():
    wrong = prediction(answer("Who?", 0, 7), answer("Where?", 12, 19), answer("Why?", 0, 3))

    assert INFO.score([GOLD], [RIGHT]) == {"answer_exact_match": 1, "answer_f1": 1}
    assert INFO.score([GOLD], [wrong]) == {
        "answer_exact_match": pytest.approx(1 / 3),
        "answer_f1": pytest.approx((1 + 2 / 3 + 0) / 3),
    }
    assert INFO.score([GOLD], [Prediction()])["answer_exact_match"] == pytest.approx(1 / 3)


def test_every_wrong_answer_is_a_mistake_with_its_place_and_kind():
    wrong = prediction(
        answer("Who?", 8, 11), answer("Where?", 12, 19, 0.6), answer("Why?", 0, 3, 0.7)
    )
    document = with_questions("a", TEXT, ())

    found = INFO.mistakes(document, GOLD, wrong)

    assert [(item.kind, item.at, item.predicted_at) for item in found] == [
        (LABEL, (0, 3), (8, 11)),
        (SPURIOUS, None, (0, 3)),
        (BOUNDARY, (15, 19), (12, 19)),
    ]
    missed = INFO.mistakes(document, GOLD, prediction(answer("Who?", 0, 3, is_null=True)))
    assert missed[0].kind == MISSED and missed[0].predicted_at is None
    assert INFO.mistakes(document, GOLD, RIGHT) == []
    assert INFO.error(document, GOLD, wrong).predicted.startswith("Who? Bob")


def test_the_null_threshold_is_fitted_only_where_questions_have_no_answer():
    gold = AnswerGold(GOLD.questions[:2])
    all_null = prediction(
        answer("Who?", 0, 3, is_null=True, gap=3.0),
        answer("Where?", 15, 19, is_null=True, gap=1.0),
        answer("Why?", 0, 3, is_null=True, gap=5.0),
    )

    assert INFO.fit([gold], [all_null], ()) == {"null_threshold": None}
    assert INFO.fit([GOLD], [all_null], ()) == {"null_threshold": 4.0}


def test_predictions_are_stored_and_become_suggestions():
    again = Prediction.from_json(RIGHT.to_json())

    assert again == RIGHT
    assert [(item.label, item.start) for item in INFO.answers(again)] == [
        ("Who?", 0),
        ("Where?", 15),
        ("Why?", None),
    ]
