"""The result of a training as JSON, in the form of earlier versions too."""

import json

from workbench.metrics.classes import LabelScore
from workbench.metrics.evaluation import Evaluation
from workbench.tasks import spec as tasks
from workbench.training.plan import Plan
from workbench.training.results import Scoring, TrainResult

PLAN = Plan(3, 16, 1e-4, 64, 2, 2, "macro_f1")


def test_a_result_goes_to_json_and_back():
    dev = Evaluation("dev", 2, "f" * 32, {"accuracy": 0.5}, (LabelScore("a", 0.5, 1.0, 2 / 3, 1),))
    made = TrainResult({"dev": dev}, cut=2, loss=0.1, seconds=3.5, device="cpu", plan=PLAN)

    raw = json.loads(json.dumps(made.to_json()))

    assert TrainResult.from_json(raw) == made
    assert raw["plan"]["batch_size"] == 16 and raw["evaluations"]["dev"]["scores"] == {
        "accuracy": 0.5
    }


def test_fields_of_other_versions_are_skipped_and_missing_ones_have_defaults():
    raw = {"steps": 4, "of_a_later_version": 1, "evaluations": None}

    result = TrainResult.from_json(raw)

    assert (result.steps, result.evaluations, result.plan, result.cut) == (4, {}, None, None)


def test_a_result_of_an_earlier_version_has_the_same_evaluations():
    row = ["a", 0.5, 1.0, 2 / 3, 1]
    dev = {"n": 2, "fingerprint": "f" * 32, "scores": {"accuracy": 0.5}, "per_label": [row]}
    raw = {"scores": {"dev": {"accuracy": 0.5}, "test": {"accuracy": 0.4}}}

    result = TrainResult.from_json({**raw, "evaluations": {"dev": dev}})

    label = LabelScore(*row)
    assert result.evaluations == {
        "dev": Evaluation("dev", 2, "f" * 32, {"accuracy": 0.5}, (label,)),
        "test": Evaluation("test", scores={"accuracy": 0.4}),
    }
    assert not result.evaluations["test"].is_complete


def test_a_plan_that_lacks_a_setting_is_skipped():
    result = TrainResult.from_json({"steps": 4, "plan": {"batch_size": 16}})

    assert (result.steps, result.plan) == (4, None)


def test_a_result_keeps_the_titles_of_a_task_for_when_its_plugin_is_disabled():
    stored = Scoring.of(tasks.info("tag"))

    assert (stored.task, stored.short) == ("Token tagging", "Spans")
    assert list(stored.titles) == [score.name for score in tasks.info("tag").scores]
    assert TrainResult.from_json(TrainResult(scoring=stored).to_json()).scoring == stored
