"""Rewards, their margin and what gold is of preferences."""

import math

import numpy as np
import pytest

from workbench.base import paths
from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.prefer.info import INFO
from workbench.tasks.references import References
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, with_choices
from workbench.text.labels import PREFERENCE, Label, Layer

TWO = with_choices("a", "When?", ("Often.", "At 7."))
THREE = with_choices("b", "User: Hi\n\nUser: Where?", ("Here.", "There.", "No."))
LOGS = (-9.0, -12.0, -8.0, -10.0, -9.0)
REFERENCES = References("", "", 64, {TWO.text_hash: (-10.0, -10.0), THREE.text_hash: (-9.0,) * 3})


@pytest.fixture(scope="module")
def prepared():
    preparer = Subwords.load(paths.resource("models") / "starter-gpt")
    return INFO.prepare(preparer, [TWO, THREE], 64)


def decoded(prepared, **decoder):
    return INFO.decode([{"logits": np.array([log])} for log in LOGS], prepared, (), decoder)


def test_each_answer_is_an_input_after_its_prompt(prepared):
    assert prepared.owner.tolist() == [0, 0, 1, 1, 1] and prepared.is_joint
    ids = [encoded.ids[encoded.text == -1].tolist() for encoded in prepared.inputs]
    assert ids[0] == ids[1] and ids[2] == ids[3] == ids[4] != ids[0]


def test_probabilities_are_a_softmax_over_rewards(prepared):
    """By hand: gains 1 and -2, β 0.5 → 1 / (1 + exp(-1.5)) = 0.8176."""
    first, second = decoded(REFERENCES.attached(prepared, "reference"), beta=0.5)

    assert first.classes.scores[0] == pytest.approx(0.8176, abs=1e-4)
    assert first.label == "1" and second.label == "1"


def test_without_a_reference_log_probabilities_are_compared(prepared):
    first, _second = decoded(prepared, beta=1.0)

    assert math.log(first.classes.scores[0] / first.classes.scores[1]) == pytest.approx(3.0)


def test_the_margin_is_that_of_the_preferred_answer_over_the_mean_of_the_others(prepared):
    """By hand: rewards 0.5 and -1 with the first preferred: 1.5. Rewards 0.5, -0.5 and 0 with the
    second: -0.5 - 0.25 = -0.75. Their mean is 0.375.
    """
    predictions = decoded(REFERENCES.attached(prepared, "reference"), beta=0.5)

    scores = INFO.score([ClassGold("1"), ClassGold("2")], predictions)

    assert scores["accuracy"] == 0.5
    assert scores["reward_margin"] == pytest.approx(0.375)
    assert INFO.distance(ClassGold("2"), predictions[1]) == pytest.approx(1.0)
    statistic = INFO.statistic([ClassGold("1"), ClassGold("2")], predictions, ())
    assert statistic(np.ones((1, 2)))["reward_margin"] == pytest.approx(0.375)


def test_gold_is_the_preferred_answer_and_a_tie_is_none():
    layer = Layer("better", PREFERENCE.id, (Label("1"), Label("2")), CHOICES)

    assert INFO.fits(layer)
    assert INFO.gold(Record(TWO, {}, {"better": ("2",)}), "better") == ClassGold("2")
    assert INFO.gold(Record(TWO, {"better": "submitted"}, {}), "better") is None
    assert "tie" in INFO.why_unusable()


def test_inspectors_read_the_prompt_with_the_predicted_answer(prepared):
    _first, second = decoded(prepared)

    read = INFO.as_read(THREE, second)

    assert read.texts == (("text", f"{THREE.prompt}\n"), ("text_b", "Here."))
