"""The result of a prompt run as JSON."""

import json

from workbench.base.costs import PredictionCost
from workbench.prompting.results import PromptResult


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
