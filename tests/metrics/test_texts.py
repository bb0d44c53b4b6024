import numpy as np
import pytest

from workbench.metrics.texts import TextStatistic, rouge_l, token_accuracy, words

# The example in the README of rouge-score: precision 5 / 8, recall 5 / 9.
FOX = "The quick brown fox jumps over the lazy dog"
LOG = "The quick brown dog jumps on the log."


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (FOX, LOG, 2 * 5 / (9 + 8)),
        ("police killed the gunman", "police kill the gunman", 0.75),  # Lin 2004, section 3.1
        ("police killed the gunman", "the gunman kill police", 0.5),
        ("police killed the gunman", "", 0.0),
        ("!", "…", 1.0),
        ("Der Fluß", "der fluß!", 1.0),
    ],
)
def test_rouge_l_is_that_of_the_paper_and_of_rouge_score(gold, predicted, expected):
    assert rouge_l(gold, predicted) == pytest.approx(expected)
    assert rouge_l(predicted, gold) == pytest.approx(expected)


def test_token_accuracy_counts_words_at_the_same_place_by_hand():
    assert token_accuracy("the gunman was killed", "the gunman killed") == 2 / 4
    assert token_accuracy("Yes.", "yes") == 1.0
    assert token_accuracy("", "") == 1.0 and token_accuracy("a", "") == 0.0


def test_words_are_those_of_any_script_without_punctuation():
    assert words("Don't_stop, Zoë: 3.5 £!") == ["don", "t", "stop", "zoë", "3", "5"]


def test_scores_are_means_over_documents_and_a_missing_text_counts_as_wrong():
    statistic = TextStatistic.of(["Yes.", FOX, "no"], ["yes", LOG, None])

    found = statistic(np.array([[1, 1, 1], [2, 0, 1]], np.float32))

    assert found["rouge_l"] == pytest.approx([(1 + 10 / 17) / 3, 2 / 3])
    assert found["text_exact_match"] == pytest.approx([1 / 3, 2 / 3])
    assert statistic.taken(np.array([1]))(np.ones((1, 1), np.float32))["rouge_l"] == pytest.approx(
        [10 / 17]
    )
