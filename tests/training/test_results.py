"""The result of a training as JSON, in the form of earlier versions too."""

import json

from workbench.training.plan import Plan
from workbench.training.results import TrainResult

PLAN = Plan(3, 16, 1e-4, 64, 2, 2, "macro_f1")


def test_a_result_goes_to_json_and_back():
    made = TrainResult(
        scores={"dev": {"accuracy": 0.5}}, cut=2, loss=0.1, seconds=3.5, device="cpu", plan=PLAN
    )

    raw = json.loads(json.dumps(made.to_json()))

    assert TrainResult.from_json(raw) == made
    assert raw["plan"]["batch_size"] == 16 and raw["scores"] == {"dev": {"accuracy": 0.5}}


def test_fields_of_other_versions_are_skipped_and_missing_ones_have_defaults():
    raw = {"steps": 4, "of_a_later_version": 1, "evaluations": None}

    result = TrainResult.from_json(raw)

    assert (result.steps, result.evaluations, result.plan, result.cut) == (4, {}, None, None)


def test_a_plan_that_lacks_a_setting_is_skipped():
    result = TrainResult.from_json({"steps": 4, "plan": {"batch_size": 16}})

    assert (result.steps, result.plan) == (4, None)
