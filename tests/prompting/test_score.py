"""Scores of labels, and the calibrations with numbers computed by hand."""

from math import exp, log

import pytest

from workbench.base.errors import SpecError
from workbench.prompting.score import (
    answers,
    batch_prior,
    label_score,
    prediction,
    prior_of,
    shares,
)

# Two labels; `long` has two subwords. exp(mean): 0.4 and 0.1. exp(sum): 0.4 and 0.01.
LOGPROBS = {"short": [log(0.4)], "long": [log(0.1), log(0.1)]}


def by_label(rows, field):
    return {row.label: getattr(row, field) for row in rows}


def test_a_label_scores_the_mean_of_its_subwords():
    assert label_score([-1.0, -3.0]) == -2.0
    assert label_score([]) == float("-inf")


def test_shares_by_hand():
    # exp(0) : exp(-ln 3) = 3 : 1
    assert shares([0.0, -log(3)]) == pytest.approx([0.75, 0.25])
    assert shares([-1000.0, -1000.0]) == pytest.approx([0.5, 0.5])
    assert shares([float("-inf")] * 2) == pytest.approx([0.5, 0.5])


def test_without_calibration_the_share_is_that_of_the_mean():
    rows = answers(LOGPROBS, "none")

    assert by_label(rows, "share") == pytest.approx({"short": 0.8, "long": 0.2})
    assert by_label(rows, "score") == pytest.approx({"short": log(0.4), "long": log(0.1)})
    assert by_label(rows, "prior") == {"short": None, "long": None}
    assert by_label(rows, "subwords") == {"short": 1, "long": 2}


def test_content_free_calibration_divides_by_the_mean_prior():
    """Zhao et al. 2021: p_cf is the mean of normalized label probabilities, W = diag(p_cf)^-1."""
    content_free = (
        {"short": [log(0.9)], "long": [log(0.1), log(0.1)]},  # shares 0.9 and 0.1
        {"short": [log(0.3)], "long": [log(0.1), log(0.1)]},  # shares 0.75 and 0.25
    )  # p_cf = (0.825, 0.175)

    rows = answers(LOGPROBS, "content-free", content_free)

    assert by_label(rows, "prior") == pytest.approx({"short": 0.825, "long": 0.175})
    # 0.8 / 0.825 = 0.969697, 0.2 / 0.175 = 1.142857; their sum 2.112554
    assert by_label(rows, "share") == pytest.approx({"short": 0.459016, "long": 0.540984}, abs=1e-6)
    assert [row.label for row in rows] == ["long", "short"]  # the most probable first
    assert by_label(rows, "score") == pytest.approx({"short": log(0.4), "long": log(0.1)})


def test_pmi_subtracts_the_log_probability_without_the_text():
    """Holtzman et al. 2021, PMI_DC: whole sequences, so sums of log-probabilities."""
    premise = {"short": [log(0.5)], "long": [log(0.02), log(0.1)]}  # 0.5 and 0.002

    rows = answers(LOGPROBS, "pmi", (premise,))

    # P(y|x) / P(y|premise): 0.4 / 0.5 = 0.8 and 0.01 / 0.002 = 5, so shares 0.8 / 5.8 and 5 / 5.8
    assert by_label(rows, "share") == pytest.approx({"short": 0.8 / 5.8, "long": 5 / 5.8})
    assert by_label(rows, "prior") == pytest.approx({"short": 0.5 / 0.502, "long": 0.002 / 0.502})


def test_pmi_of_labels_too_improbable_for_a_float():
    result = {"a": [-2000.0], "b": [-2010.0]}
    premise = {"a": [-1000.0], "b": [-1012.0]}

    rows = answers(result, "pmi", (premise,))

    # -1000 against -998: exp(-2) : 1
    assert by_label(rows, "share") == pytest.approx(
        {"a": exp(-2) / (1 + exp(-2)), "b": 1 / (1 + exp(-2))}
    )


def test_the_prior_alone_is_that_of_the_answers():
    assert prior_of("none", (LOGPROBS,)) is None
    assert prior_of("content-free", (LOGPROBS,)) == pytest.approx({"short": 0.8, "long": 0.2})
    assert prior_of("pmi", (LOGPROBS,)) == pytest.approx({"short": 0.4 / 0.41, "long": 0.01 / 0.41})


def test_a_uniform_prior_changes_nothing():
    uniform = {"short": [log(0.3)], "long": [log(0.3), log(0.3)]}

    assert by_label(answers(LOGPROBS, "content-free", (uniform,)), "share") == pytest.approx(
        {"short": 0.8, "long": 0.2}
    )


def test_calibrating_the_content_free_input_itself_gives_equal_shares():
    rows = answers(LOGPROBS, "content-free", (LOGPROBS,))

    assert by_label(rows, "share") == pytest.approx({"short": 0.5, "long": 0.5})


def test_a_label_without_subwords_gets_no_share():
    result = {"a": [-1.0], "nothing": []}

    for method in ("content-free", "pmi"):
        assert by_label(answers(result, method, (result,)), "share") == {"a": 1.0, "nothing": 0.0}


def test_calibration_without_a_prior_is_refused():
    with pytest.raises(SpecError, match="needs the scores without a text"):
        answers(LOGPROBS, "pmi")


def test_the_answer_names_the_label_with_the_highest_share():
    result = prediction({"delay": [-2.0, -2.0], "ticket": [-3.0]}, cut=True)
    assert result.label == "delay" and result.cut
    assert sum(result.classes.scores) == pytest.approx(1)

    prior = {"delay": [-1.0, -1.0], "ticket": [-3.0]}
    result = prediction({"delay": [-2.0, -2.0], "ticket": [-3.0]}, "content-free", (prior,))
    assert result.label == "ticket" and result.classes.labels == ("delay", "ticket")


def test_batch_calibration_divides_by_the_mean_over_the_documents():
    """Zhou et al. 2024, equation 3: the prior is the mean of the probabilities over the batch."""
    documents = [{"a": [log(0.9)], "b": [log(0.1)]}, {"a": [log(0.6)], "b": [log(0.4)]}]
    (prior,) = batch_prior(documents).values()
    assert prior == pytest.approx({"a": 0.75, "b": 0.25})

    rows = answers(documents[1], "batch", batch=prior)

    # 0.6 / 0.75 = 0.8, 0.4 / 0.25 = 1.6
    assert by_label(rows, "share") == pytest.approx({"a": 1 / 3, "b": 2 / 3})
    assert by_label(rows, "raw") == pytest.approx({"a": 0.6, "b": 0.4})
    assert prediction(documents[1], "batch", batch=prior).label == "b"
    assert by_label(answers(documents[1], "batch"), "share") == pytest.approx({"a": 0.6, "b": 0.4})


def test_documents_with_other_choices_have_a_batch_of_their_own():
    documents = [{"1": [-1.0], "2": [-1.0]}, {"1": [-1.0], "2": [-1.0], "3": [-1.0]}]

    priors = batch_prior(documents)

    assert priors["1", "2"] == {"1": 0.5, "2": 0.5}
    assert priors["1", "2", "3"] == pytest.approx({"1": 1 / 3, "2": 1 / 3, "3": 1 / 3})


def test_a_label_with_several_words_is_as_probable_as_all_of_them():
    words = {"good": "pos", "fine": "pos", "bad": "neg"}
    logprobs = {"good": [log(0.1), log(0.1)], "fine": [log(0.3)], "bad": [log(0.4)]}

    rows = answers(logprobs, words=words)

    # length-normalized: 0.1 + 0.3 against 0.4
    assert by_label(rows, "share") == pytest.approx({"pos": 0.5, "neg": 0.5})
    assert by_label(rows, "subwords") == {"pos": 1, "neg": 1}
    premise = {"good": [log(0.2), log(0.1)], "fine": [log(0.02)], "bad": [log(0.2)]}
    # PMI, whole words: (0.01 + 0.3) / (0.02 + 0.02) = 7.75 against 0.4 / 0.2 = 2
    shares = by_label(answers(logprobs, "pmi", (premise,), words=words), "share")
    assert shares == pytest.approx({"pos": 7.75 / 9.75, "neg": 2 / 9.75})
    assert prediction(logprobs, "content-free", (premise,), words=words).classes.labels == (
        "pos",
        "neg",
    )
    assert prior_of("content-free", (premise,), words) == pytest.approx(
        {"pos": (0.1 * 2**0.5 + 0.02) / (0.1 * 2**0.5 + 0.22), "neg": 0.2 / (0.1 * 2**0.5 + 0.22)}
    )
