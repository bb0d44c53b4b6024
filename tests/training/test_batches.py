"""Batches of similar length hold every input once; cheap dropout drops the right share."""

import numpy as np
import pytest
import torch

from workbench.tasks.base import IGNORED, Loss
from workbench.tasks.classify.task import Classify
from workbench.tasks.tag.task import Tagging
from workbench.training import batches as drawing
from workbench.training.batches import (
    CheapDropout,
    bucketed,
    drawn,
    resampled,
    use_cheap_dropout,
)


def weighted(usual, **losses):
    """The loss to minimize, as training computes it."""
    return drawing.weighted(losses, usual)


def test_every_input_comes_once_and_batches_are_of_similar_length():
    lengths = np.random.default_rng(0).integers(5, 100, 1000)

    batches = list(bucketed(lengths, 32, np.random.default_rng(1)))

    assert sorted(np.concatenate(batches)) == list(range(1000)) and len(batches) == 32
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    assert padded < 1.15 * lengths.sum()


def test_the_seed_decides_and_epochs_differ_even_with_few_inputs():
    lengths = np.arange(1, 61)
    rng = np.random.default_rng(1)

    first, second = (
        [tuple(sorted(batch)) for batch in bucketed(lengths, 8, rng)] for _ in range(2)
    )
    again = [tuple(sorted(batch)) for batch in bucketed(lengths, 8, np.random.default_rng(1))]

    assert again == first and set(first) != set(second)


def test_every_word_has_the_same_weight_whichever_batch_it_is_in():
    rng = np.random.default_rng(0)
    targets = [
        np.where(np.arange(length + 2) % (length + 1) == 0, IGNORED, 0)
        for length in rng.integers(1, 60, 640)
    ]
    usual = Tagging().usual_counts({"tags": targets}, 32)

    each = []  # the gradient of one word's loss, of every word of every batch
    for chosen in bucketed(np.array([len(row) for row in targets]), 32, rng):
        words = int((np.concatenate([targets[index] for index in chosen]) != IGNORED).sum())
        losses = torch.ones(words, requires_grad=True)
        weighted(usual, task=Loss(losses.sum(), torch.tensor(words))).backward()
        each += losses.grad.tolist()

    assert len(each) == sum(len(row) - 2 for row in targets)
    assert np.allclose(each, 1 / usual["task"])
    assert np.isclose(usual["task"], 32 * np.mean([len(row) - 2 for row in targets]))


def test_classes_are_one_target_per_document_and_weigh_by_the_batch():
    usual = Classify().usual_counts({"classes": [np.asarray(n) for n in (0, 1, 2)]}, 32)

    result = weighted(usual, task=Loss(torch.tensor(6.0), torch.tensor(3)))

    assert usual == {"task": None} and float(result) == 2.0  # the mean of the batch


def test_a_batch_of_empty_texts_has_no_loss():
    usual = Tagging().usual_counts({"tags": [np.full(4, IGNORED)]}, 32)
    nothing = Loss(torch.tensor(0.0), torch.tensor(0))

    assert usual == {"task": 1.0} and float(weighted(usual, task=nothing)) == 0.0
    assert float(weighted({"task": None}, task=nothing)) == 0.0


def test_several_losses_are_added_each_by_its_own_count():
    losses = {name: Loss(torch.tensor(6.0), torch.tensor(3)) for name in ("start", "end")}

    assert float(weighted({"start": None, "end": 12.0}, **losses)) == 6 / 3 + 6 / 12


def test_cheap_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    dropout = CheapDropout(0.25, np.random.default_rng(0))
    x = torch.ones(400, 301, requires_grad=True)

    y = dropout(x)
    y.sum().backward()

    assert (
        abs(float((y == 0).float().mean()) - 0.25) < 0.01
        and abs(float(y.detach().mean()) - 1) < 0.02
    )
    assert torch.equal(x.grad, y.detach())
    assert dropout.eval()(x) is x


def test_plain_dropout_is_replaced_and_draws_by_the_seed():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))

    assert use_cheap_dropout(model, 7) == 1 and model[1].p == 0.5
    other = torch.nn.Sequential(torch.nn.Dropout(0.5))
    use_cheap_dropout(other, 7)
    assert torch.equal(model[1](torch.ones(50, 50)), other[0](torch.ones(50, 50)))


def test_weighted_draws_are_in_proportion_and_never_off_by_more_than_one():
    weights = np.array([1.0, 2.0, 3.0, 10.0] * 5)
    rng = np.random.default_rng(0)

    counts = [np.bincount(resampled(weights, rng), minlength=20) for _ in range(500)]

    expected = weights * 20 / weights.sum()
    assert (np.abs(counts - expected) < 1).all()
    assert np.abs(np.mean(counts, axis=0) - expected).max() < 0.1


def test_the_batches_of_an_epoch_hold_what_was_drawn():
    lengths, weights = np.arange(1, 41), np.r_[np.ones(20), np.full(20, 3.0)]

    plain = np.concatenate(list(drawn(lengths, 8, np.random.default_rng(1))))
    weighted_draws = np.concatenate(list(drawn(lengths, 8, np.random.default_rng(1), weights)))

    assert sorted(plain) == list(range(40))
    assert len(weighted_draws) == 40 and abs((weighted_draws >= 20).sum() - 30) <= 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_masks_of_cheap_dropout_are_those_of_a_conversion(dtype):
    x = torch.ones(37, 11, dtype=dtype)
    drawn = np.random.default_rng(3).integers(0, 2**64, 51, dtype=np.uint64).view(np.uint8)[:407]
    expected = (torch.from_numpy(drawn) >= 26).to(dtype).mul_(256 / 230).view(37, 11)

    assert torch.equal(CheapDropout(0.1, np.random.default_rng(3))(x), expected)
