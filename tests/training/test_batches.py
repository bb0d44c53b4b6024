"""Batches of like length hold every item once; cheap dropout drops the right share."""

import numpy as np
import torch

from workbench.tasks.base import IGNORED
from workbench.training.batches import (
    CheapDropout,
    bucketed,
    use_cheap_dropout,
    usual_targets,
    weight,
)


def test_every_item_comes_once_and_batches_are_of_like_length():
    lengths = np.random.default_rng(0).integers(5, 100, 1000)

    batches = list(bucketed(lengths, 32, np.random.default_rng(1)))

    assert sorted(np.concatenate(batches)) == list(range(1000)) and len(batches) == 32
    padded = sum(int(lengths[one].max()) * len(one) for one in batches)
    assert padded < 1.15 * lengths.sum()


def test_the_seed_decides_and_epochs_differ_also_with_few_items():
    lengths = np.arange(1, 61)
    rng = np.random.default_rng(1)

    first, second = ([tuple(sorted(one)) for one in bucketed(lengths, 8, rng)] for _ in range(2))
    again = [tuple(sorted(one)) for one in bucketed(lengths, 8, np.random.default_rng(1))]

    assert again == first and set(first) != set(second)


def test_every_word_counts_the_same_in_whichever_batch_it_falls():
    rng = np.random.default_rng(0)
    targets = [
        np.where(np.arange(length + 2) % (length + 1) == 0, IGNORED, 0)
        for length in rng.integers(1, 60, 640)
    ]
    usual = usual_targets(targets, 32)

    each = []  # what one word moves: the weight of its batch, shared out among the words of it
    for chosen in bucketed(np.array([len(one) for one in targets]), 32, rng):
        labels = torch.from_numpy(np.concatenate([targets[one] for one in chosen]))[None]
        each.append(weight({"labels": labels}, usual) / int((labels != IGNORED).sum()))

    assert np.allclose(each, 1 / usual)
    assert np.isclose(usual, 32 * np.mean([len(one) - 2 for one in targets]))


def test_classes_are_one_target_a_document_and_empty_texts_are_no_fault():
    assert usual_targets([0, 1, 2], 32) is None and weight({"labels": torch.zeros(3)}, None) == 1.0
    nothing = np.full(4, IGNORED)
    assert weight({"labels": torch.from_numpy(nothing)[None]}, usual_targets([nothing], 32)) == 0.0


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
