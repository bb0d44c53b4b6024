from dataclasses import replace

import numpy as np
import pytest

from workbench.operations.evaluation import gap
from workbench.operations.evaluation.gap import PronounCounts, gap_scores
from workbench.text.document import with_choices
from workbench.text.fields import Chains, Prediction
from workbench.text.spans import Span

NONE, A, B = frozenset(), frozenset({"1"}), frozenset({"2"})


def test_each_name_is_one_decision_and_the_bias_is_feminine_by_masculine():
    """By hand. Masculine: 1 of 2 gold names found, 2 predicted, so 2 · 1 / 4. Feminine: 1 of 1
    found, 2 predicted, so 2 / 3. All: 2 right of 3 gold and 4 predicted, so 4 / 7.
    """
    genders = ["masculine", "masculine", "feminine", "feminine"]

    found = gap_scores(PronounCounts.of(genders, [A, B, A, NONE], [A, A, A, B]))

    assert (found.masculine, found.feminine) == (0.5, pytest.approx(2 / 3))
    assert found.overall == pytest.approx(4 / 7)
    assert found.bias == pytest.approx(4 / 3) and found.n == {"masculine": 2, "feminine": 2}


def test_scores_without_a_pronoun_of_the_gender_or_a_masculine_score_are_not_defined():
    alone = gap_scores(PronounCounts.of(["feminine", ""], [A, A], [A, A]))
    wrong = gap_scores(PronounCounts.of(["feminine", "masculine"], [A, A], [A, B]))

    assert (alone.feminine, alone.masculine, alone.bias, alone.overall) == (1.0, None, None, 1.0)
    assert (wrong.feminine, wrong.masculine, wrong.bias) == (1.0, 0.0, None)


def test_resampled_documents_count_as_often_as_they_were_drawn():
    """By hand: the first document twice has 2 right of 2 gold and 2 predicted names, the second
    one none right of 1 and 1; so 2 · 2 / 6.
    """
    counts = PronounCounts.of(["masculine", "masculine", ""], [A, B, None], [A, A, A])

    found = counts(np.array([[2, 1, 5], [0, 1, 0]], np.float32))

    assert found["pronoun_f1"] == pytest.approx([2 / 3, 0])
    assert found["pronoun_masculine_f1"] == pytest.approx([2 / 3, 0])


# ---------------------------------------------------------------- rules and chains

TEXT = "Ada met Bob at the sea, and Bob Lee waved to Ada. He left."
PRONOUN, BOB, ADA = (50, 52), (28, 35), (45, 48)


@pytest.fixture
def question():
    return gap.Question(TEXT, PRONOUN, (BOB, ADA))


def test_rules_choose_one_name(question):
    assert gap.nearest(question) == {"2"}
    assert gap.first(question) == {"1"}
    assert gap.most_frequent(gap.Question(TEXT + " Bob ran.", PRONOUN, (ADA, BOB))) == {"2"}


@pytest.mark.parametrize(
    ("mentions", "names"),
    [
        ([PRONOUN, BOB], {"1"}),
        ([PRONOUN, (28, 31)], {"1"}),  # “Bob” within “Bob Lee”
        ([PRONOUN, (24, 35)], {"1"}),  # “and Bob Lee” ends with the name
        ([PRONOUN, (42, 52)], set()),  # “to Ada. He” neither begins nor ends with a name
        ([PRONOUN, BOB, ADA], {"1", "2"}),
        ([BOB, ADA], set()),
        ([(50, 57), BOB], set()),  # “He left” is another mention than “He”
    ],
)
def test_a_pronoun_means_the_names_in_its_chain(question, mentions, names):
    spans = [Span(*mention, "m", chain=1) for mention in mentions]
    prediction = Prediction((Chains((*spans, Span(0, 3, "m", chain=2))),))

    assert gap.of_chains(question, prediction) == names


def test_documents_without_offsets_of_names_ask_nothing():
    choices = with_choices("a", TEXT, ("Bob Lee", "Ada", "neither"), "_ left.")
    places = {"pronoun": "He", "offset": 50, "offset_a": 28, "offset_b": 45}

    assert gap.Question.of(replace(choices, meta=places)) == gap.Question(TEXT, PRONOUN, (BOB, ADA))
    assert gap.Question.of(choices) is None
