"""Contrastive tuning before it starts: its steps, rate, memory and defaults."""

import pytest

from workbench.models.spec import read_folder
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import FIRST
from workbench.training.plan import plan
from workbench.training.spec import TrainSpec


def spec(**options):
    return TrainSpec("classify", "c", "model", options={"method": "contrastive", **options})


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, 40),  # 16 documents × 20 pairs of two kinds, 16 in a batch
        ({"pairs": 3}, 6),
        ({"pair_epochs": 2, "pairs": 3}, 12),
        ({"batch_size": 7, "pairs": 1}, 5),
        ({"method": "full"}, 0),
    ],
)
def test_the_pairs_are_planned_before_the_start(options, steps):
    planned = plan(spec(**options), documents=16)

    assert planned.first_steps == steps
    assert planned.first_stage().startswith(f"First {steps} steps" if steps else "")
    assert bool(planned.first_stage()) == bool(steps)
    assert planned.steps == steps + planned.epochs * planned.steps_per_epoch


def test_the_rate_of_pairs_falls_with_the_width_of_the_model():
    rates = [plan(spec(), documents=16, width=width).first_rate for width in (128, 384, 768)]

    assert rates == [1e-4, 1e-4, 5e-5]
    assert plan(spec(pair_rate=3e-5), documents=16).first_rate == 3e-5


def test_vectors_of_texts_are_their_mean_unless_chosen_otherwise():
    assert spec().option("pooling") == "mean" and spec(pooling="last").option("pooling") == "last"
    assert TrainSpec("classify", "c", "model").option("pooling") is None


def test_a_batch_of_pairs_takes_the_memory_of_both_texts(tiny_model):
    card = read_folder(tiny_model)

    pairs, single, frozen = (
        spec(**options).forecast(card, batch=512, length=64)
        for options in ({}, {"method": "full"}, {"method": "frozen"})
    )

    assert pairs.batch == 1024 and pairs.activations == pytest.approx(2 * single.activations)
    assert pairs.trainable == card.parameters and frozen.activations < single.activations


def test_the_encoder_is_trained_before_the_epochs_and_the_head_in_them():
    info = methods.info("contrastive")

    assert info.factors(2, {}, FIRST) == (1.0, 1.0, 1.0, 0.0)
    assert info.factors(2, {}, 0) == info.factors(2, {}, 9) == (0.0, 0.0, 0.0, 1.0)
