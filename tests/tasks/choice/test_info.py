"""The inputs and gold of multiple choice."""

import numpy as np
import pytest

from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.choice.info import INFO
from workbench.tasks.classify.info import ClassGold
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document
from workbench.text.fields import ClassScores, Prediction
from workbench.text.labels import ONE_OF, Label, Layer

LATE = Document("a", (("text", "late"), ("choice_1", "ada met"), ("choice_2", "bob")))


def test_each_choice_is_read_with_the_context(tiny_model):
    prepared = INFO.prepare(Subwords.load(tiny_model), [LATE, LATE], 16)

    assert prepared.inputs[0].text.tolist() == [-1, 0, -1, 1, 1, -1]
    assert prepared.owner.tolist() == [0, 0, 1, 1] and prepared.is_joint
    assert prepared.documents == [LATE, LATE] and not prepared.cut.any()


@pytest.mark.parametrize(
    ("question", "second"), [("Who?", "Who? bob"), ("It was _ again.", "It was bob again.")]
)
def test_a_question_stands_before_the_choice_or_has_a_blank_for_it(question, second):
    asked = Document("a", (("text", "late"), ("question", question), ("choice_1", "bob")))

    assert [pair.content("text_b") for pair in INFO.pairs(asked)] == [second]


def test_gold_is_a_choice_that_the_document_has():
    assert LATE.form == CHOICES and INFO.fits(Layer("q", ONE_OF.id, (Label("1"),), CHOICES))
    assert INFO.gold(Record(LATE, {}, {"q": ("2",)}), "q") == ClassGold("2")
    assert INFO.gold(Record(LATE, {}, {"q": ("3",)}), "q") is None


def test_the_temperature_counts_only_the_choices_that_there_are(tiny_model):
    prepared = INFO.prepare(Subwords.load(tiny_model), [LATE, LATE], 16)
    logits = [{"logits": np.array([score])} for score in (2.0, 0.0, 1.0, 0.0)]
    predictions = INFO.decode(logits, prepared, ("1", "2"), {})

    assert INFO.temperature([ClassGold("1"), ClassGold("2")], predictions) > 1


def test_a_prediction_has_one_probability_for_each_choice(tiny_model):
    three = Document("b", (*LATE.texts, ("choice_3", "bob")))
    prepared = INFO.prepare(Subwords.load(tiny_model), [LATE, three], 16)
    logits = [{"logits": np.array([score])} for score in (0.0, np.log(3.0), 1.0, 1.0, 1.0)]

    first, second = INFO.decode(logits, prepared, ("1", "2"), {})

    assert first.classes.as_dict() == pytest.approx({"1": 0.25, "2": 0.75})
    assert second.classes.labels == ("1", "2", "3")
    assert [answer.label for answer in INFO.answers(first)] == ["2"]
    scores = INFO.score([ClassGold("2"), ClassGold("3")], [first, second])
    assert scores == {"accuracy": 0.5, "mean_reciprocal_rank": pytest.approx((1 + 1 / 3) / 2)}


def test_both_scores_are_resampled():
    predictions = [
        Prediction((ClassScores(("1", "2"), scores),)) for scores in ((0.9, 0.1), (0.6, 0.4))
    ]
    golds = [ClassGold("1"), ClassGold("2")]

    measured = INFO.statistic(golds, predictions, ())(np.ones((1, 2), np.float32))

    assert {name: float(row[0]) for name, row in measured.items()} == INFO.score(golds, predictions)
