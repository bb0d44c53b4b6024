"""Dropout of recurrent weights from random bytes."""

import torch

from workbench.models.families.awd_lstm.network import thinned


def test_a_share_of_the_weights_is_zero_and_the_others_keep_the_sum():
    torch.manual_seed(0)
    weights = torch.ones(401, 503, requires_grad=True)

    found = thinned(weights, 0.2)
    found.sum().backward()

    zero = found == 0
    assert abs(float(zero.float().mean()) - 51 / 256) < 0.004  # p in steps of 1/256
    assert abs(float(found.detach().mean()) - 1) < 0.005
    assert torch.equal(weights.grad, found.detach())
    columns = zero.float().mean(0)  # bytes of a number are independent
    assert float(columns.min()) > 0.1 and float(columns.max()) < 0.3


def test_without_dropout_the_weights_stay_as_they_are():
    weights = torch.randn(3, 5)

    assert torch.equal(thinned(weights, 0.0), weights)
