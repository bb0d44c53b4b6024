"""Hand cases of the SQuAD 2.0 script (evaluate-v2.0.py): normalisation, exact match and F1."""

import collections
import random
import re
import string

import pytest

from workbench.metrics import answers


def official(gold, predicted):
    """compute_f1 of the published script, as its definition states it."""

    def tokens(text):
        text = "".join(item for item in text.lower() if item not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split()).split()

    ours, theirs = tokens(gold), tokens(predicted)
    same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    if not ours or not theirs:
        return float(ours == theirs)
    if not same:
        return 0.0
    precision, recall = same / len(theirs), same / len(ours)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cat, an animal!", "cat animal"),
        ("  a  b\tc ", "b c"),
        ("theatre", "theatre"),
        ("U.S.", "us"),
        ("“curly”", "“curly”"),  # not ASCII: kept, as in the script
        ("the a an", ""),
    ],
)
def test_answers_are_normalised(text, expected):
    assert answers.normalised(text) == expected


def test_scores_by_hand():
    # "cat sat" against "cat sat down": precision 1, recall 2/3
    assert answers.f1("the cat sat down", "A cat sat") == pytest.approx(0.8)
    assert answers.f1("to be or not to be", "to be") == pytest.approx(0.5)
    assert answers.f1("dog", "cat") == 0.0
    assert answers.exact_match("The cat.", "cat") == 1.0


def test_the_best_gold_answer_counts_and_none_means_no_answer():
    found = answers.scores([("Paris", "the city of Paris"), (), ("",)], ["city of Paris", "", "x"])

    assert found["answer_exact_match"] == pytest.approx(2 / 3)
    assert found["answer_f1"] == pytest.approx(2 / 3)
    assert answers.scores([], []) == {"answer_exact_match": 0.0, "answer_f1": 0.0}
    with pytest.raises(ValueError, match="1 questions, but 0"):
        answers.scores([("a",)], [])


def test_random_answers_score_as_the_script_defines():
    draw = random.Random(4)
    words = ("the", "a", "cat", "dog", "U.S.", "1,000", "An", "—", "!")
    for _round in range(300):
        gold, predicted = (" ".join(draw.choices(words, k=draw.randrange(6))) for _ in range(2))
        assert answers.f1(gold, predicted) == pytest.approx(official(gold, predicted))
