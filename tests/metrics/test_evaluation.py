"""Evaluations as JSON, in the forms of earlier versions too, and with intervals."""

import json

from workbench.metrics import evaluation
from workbench.metrics.classes import LabelScore
from workbench.metrics.evaluation import (
    UNKNOWN,
    ConfusionMatrix,
    Evaluation,
    Intervals,
    Measured,
)

LABELS = (LabelScore("a", 1.0, 0.5, 2 / 3, 2), LabelScore("b", 0.5, 1.0, 2 / 3, 1, 0.75))
MATRIX = ConfusionMatrix(("a", "b"), ((1, 1), (0, 1)))
INTERVALS = Intervals(
    3,
    10,
    1,
    {"accuracy": Measured(2 / 3, 0.0, 1.0), "kappa": Measured(0.4)},
    {"a": {"f1": Measured(2 / 3, 0.0, 1.0)}},
    {"strict": {"correct": 1}},
)
PLAIN = Evaluation("dev", 3, "f" * 32, {"accuracy": 2 / 3}, LABELS)
WHOLE = Evaluation(
    "test", 3, "f" * 32, {"accuracy": 2 / 3}, LABELS, "2026-11-28T15:00:00Z", MATRIX, INTERVALS
)


def test_an_evaluation_goes_to_json_and_back():
    for made in (PLAIN, WHOLE):
        raw = json.loads(json.dumps(made.to_json()))

        assert Evaluation.from_json(raw) == made
    assert set(PLAIN.to_json()) == {"split", "n", "fingerprint", "scores", "per_label"}


def test_rows_of_earlier_versions_are_read():
    rows = [["a", 1.0, 0.5, 2 / 3, 2], ["b", 0.5, 1.0, 2 / 3, 1, 0.75]]
    raw = {"n": 3, "fingerprint": "f" * 32, "scores": {"accuracy": 2 / 3}, "per_label": rows}

    assert evaluation.from_json({"evaluations": {"dev": raw}}) == {"dev": PLAIN}


def test_damaged_evaluations_are_left_out_and_their_scores_are_not():
    raw = {"scores": {"dev": {"accuracy": 0.5}}, "evaluations": {"dev": {"n": 3}, "test": 4}}

    assert evaluation.from_json(raw) == {"dev": Evaluation("dev", scores={"accuracy": 0.5})}
    assert evaluation.from_json({}) == evaluation.from_json({"evaluations": None}) == {}


def test_a_score_keeps_its_last_bit_when_it_gets_an_interval():
    nearly = 2 / 3 + 1e-16
    assert nearly != 2 / 3
    measured = Intervals(
        3,
        10,
        1,
        {"accuracy": Measured(nearly, 0.0, 1.0), "kappa": Measured(0.4)},
        {"a": {"f1": Measured(nearly, 0.0, 1.0), "recall": Measured(None)}},
        {},
    )

    shown = PLAIN.with_intervals(measured)

    assert shown.measures == {"accuracy": Measured(2 / 3, 0.0, 1.0), "kappa": Measured(0.4)}
    assert shown.of_label("a", "f1") == Measured(2 / 3, 0.0, 1.0)
    assert shown.of_label("a", "recall").value is None and shown.of_label("c", "f1") == UNKNOWN
    assert shown.interval("accuracy") == (0.0, 1.0) and PLAIN.interval("accuracy") is None
