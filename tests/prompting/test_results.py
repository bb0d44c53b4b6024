"""The result of a prompt run as JSON."""

import json

import pytest

from workbench.base.costs import PredictionCost
from workbench.prompting.results import PromptResult, cost


def test_a_result_goes_to_json_and_back():
    made = PromptResult(
        n=4,
        language_model="masked",
        prior={"a": 0.25, "b": 0.75},
        prior_sets=1,
        predicting=PredictionCost(4, 0.5),
    )

    assert PromptResult.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_the_report_of_a_worker_has_no_prior_yet():
    result = PromptResult.from_json({"n": 4, "prior": None, "of_a_later_version": 1})

    assert (result.n, result.prior, result.evaluations) == (4, None, {})


def test_costs_are_those_of_1000_documents_over_several_runs():
    runs = [
        PromptResult(n=40, answer_seconds=8.0, prompt_tokens=4000, reply_tokens=100),
        PromptResult(n=60, answer_seconds=2.0, prompt_tokens=6000, reply_tokens=100),
    ]

    result = cost(runs, (2.0, 10.0))

    assert (result.seconds, result.prompt_tokens, result.reply_tokens) == (100, 100_000, 2000)
    assert result.price == pytest.approx(0.2 + 0.02) and result.text == "0.22"
    assert (cost(runs).price, cost(runs).text) == (None, "100 s")
    assert cost([PromptResult()], (2.0, 10.0)).text == "–"
