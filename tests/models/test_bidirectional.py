"""Bidirectional layers equal torch's packed LSTM, in states and gradients."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from workbench.models.bidirectional import BidirectionalLstm


@pytest.fixture
def layer():
    torch.manual_seed(1)
    return BidirectionalLstm(5, 4)


def packed(layer, states, lengths):
    given = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(layer.lstm(given)[0], batch_first=True)[0]


def results(run, layer, states):
    """States, and the gradients of a weighted sum of them: of the inputs and all weights."""
    states = states.clone().requires_grad_()
    layer.zero_grad()
    found = run(states)
    (found * torch.arange(found.numel()).view_as(found).sin()).sum().backward()
    return [
        found.detach(),
        states.grad,
        *(parameter.grad.clone() for parameter in layer.parameters()),
    ]


@pytest.mark.parametrize("lengths", [[3, 6, 1, 6], [2, 2], [1], [4, 3, 2, 1]])
def test_states_and_gradients_equal_those_of_torch(layer, lengths):
    states = torch.randn(len(lengths), max(lengths), 5)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]

    ours = results(lambda given: layer(given, mask), layer, states)
    theirs = results(lambda given: packed(layer, given, lengths), layer, states)

    for item, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(item, other, atol=1e-5, rtol=1e-5)


def test_states_are_the_same_with_and_without_gradients_and_in_an_exported_graph(layer):
    mask = torch.arange(6) < torch.tensor([[4], [6]])
    states = torch.randn(2, 6, 5)

    trained = layer(states, mask).detach()
    with torch.no_grad():
        predicted, exported = layer(states, mask), layer.padded(states, mask)

    torch.testing.assert_close(trained, predicted, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(exported, predicted, atol=1e-6, rtol=1e-5)


def test_the_recurrence_stays_in_float32_under_autocast(layer):
    mask = torch.ones(2, 3, dtype=torch.bool)

    with torch.autocast("cpu", torch.bfloat16):
        found = layer(torch.randn(2, 3, 5), mask)
        found.sum().backward()

    assert found.dtype == torch.float32
    assert all(parameter.grad.dtype == torch.float32 for parameter in layer.parameters())
