"""Events of a training, as its job sends them."""

from workbench.jobs import steps
from workbench.training.events import Step


def step(number, rate, norm):
    return Step(number, 3, 1, {"task": 0.5}, rate, 10.0, 100, 2.0, norm).to_json()


def test_merged_steps_keep_every_learning_rate_and_gradient_norm():
    merged = steps.merge([step(1, 0.1, 2.0), step(2, 0.2, 1.0), step(3, 0.1, 0.5)])

    assert steps.series(merged, "learning_rate") == [0.1, 0.2, 0.1]
    assert steps.series(merged, "gradient_norm") == [2.0, 1.0, 0.5]
    assert steps.series(merged, "seconds_left") == []
