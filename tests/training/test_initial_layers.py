"""The lowest layers of the model under new ones: what `init_layers` begins with."""

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.training.finetuning import FineTuning
from workbench.training.optim import Levels
from workbench.training.spec import TrainSpec


@pytest.fixture
def loaded(tiny_model, classes, tmp_path):
    """loaded(init_layers="1") → the weights of each level before training, lowest first."""

    def load(**options):
        given = {"device": "cpu", "precision": "fp32", **options}
        spec = TrainSpec("classify", "c", str(tiny_model), "tiny", 7, given)
        work = FineTuning(spec, classes, tmp_path, None, None)
        list(work.load())
        return [[p.detach().clone() for p in level] for level in Levels.of(work.model).parameters()]

    return load


def equal(level, other):
    return all(map(torch.equal, level, other))


@pytest.mark.parametrize(("text", "count"), [("none", 0), ("embeddings", 1), ("1", 2)])
def test_the_lowest_layers_are_bit_identical_and_the_others_new(loaded, text, count):
    model, random, some = loaded(), loaded(init="random"), loaded(init_layers=text)

    assert all(equal(*pair) for pair in zip(some[:count], model[:count], strict=True))
    assert all(equal(*pair) for pair in zip(some[count:], random[count:], strict=True))
    assert not equal(some[2], model[2])


def test_frozen_or_not_the_weights_before_training_are_the_same(loaded):
    frozen, tuned = loaded(init_layers="1", freeze="1"), loaded(init_layers="1")

    assert all(equal(*pair) for pair in zip(frozen, tuned, strict=True))


def test_more_layers_than_there_are_is_an_error(loaded):
    with pytest.raises(SpecError, match="only 2 layers"):
        loaded(init_layers="3")
    with pytest.raises(SpecError, match="expected all, none, embeddings or a number"):
        TrainSpec("classify", "c", "m", options={"init_layers": "top"})
