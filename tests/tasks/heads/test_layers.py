"""The layers of an encoder combined: scalar mix, mean, concatenation, attention over layers."""

from types import SimpleNamespace

import pytest
import torch

from workbench.models.base import States
from workbench.tasks.heads.layers import (
    Concat,
    LayerAttention,
    Mean,
    ScalarMix,
    combined,
    head_width,
)

GENERATOR = torch.Generator().manual_seed(0)
WIDTH = 4


def states(*widths):
    """Two texts of 3 and 2 units."""
    layers = tuple(torch.randn(2, 3, width, generator=GENERATOR) for width in widths)
    return States(layers, torch.tensor([[1, 1, 1], [1, 1, 0]]).bool(), None)


def encoder(*widths, directions=()):
    return SimpleNamespace(widths=widths, width=widths[-1], directions=directions)


def test_a_scalar_mix_follows_the_equation_of_elmo():
    # Peters et al. 2018, equation 1, by hand: γ Σ s_k h_k with s = softmax(w)
    given, mix = states(WIDTH, WIDTH, WIDTH), ScalarMix((WIDTH,) * 3)
    with torch.no_grad():
        mix.scalars.copy_(torch.tensor([0.5, -1.0, 2.0]))
        mix.gamma.fill_(1.5)
    exponents = torch.tensor([0.5, -1.0, 2.0]).exp()

    result = mix(given)

    shares = exponents / exponents.sum()
    expected = 1.5 * sum(share * layer for share, layer in zip(shares, given.layers, strict=True))
    torch.testing.assert_close(result.layers[-1], expected)
    assert len(result.layers) == 4 and result.layers[:3] == given.layers
    assert mix.weights()["weights"] == pytest.approx(shares.tolist())
    assert mix.weights()["gamma"] == 1.5


def test_the_penalty_acts_on_the_weights_before_their_softmax_and_not_on_the_factor():
    mix = ScalarMix((WIDTH,) * 2, l2=0.5)
    with torch.no_grad():
        mix.scalars.copy_(torch.tensor([3.0, -1.0]))

    total, count = mix.penalties()["layer_l2"]
    total.backward()

    assert (total.item(), count.item()) == (0.5 * 10.0, 1.0)
    assert mix.scalars.grad.tolist() == [3.0, -1.0] and mix.gamma.grad is None
    assert ScalarMix((WIDTH,) * 2).penalties() == {}


@pytest.mark.parametrize("kind", [Mean, ScalarMix, LayerAttention])
def test_learned_combinations_start_as_the_mean(kind):
    given = states(WIDTH, WIDTH)

    result = kind((WIDTH, WIDTH))(given).layers[-1]

    torch.testing.assert_close(result, (given.layers[0] + given.layers[1]) / 2)


def test_layers_are_normalized_token_by_token():
    given = states(WIDTH, WIDTH)

    result = Mean((WIDTH, WIDTH), normalized=True)(given).layers[-1]

    both = [(h - h.mean(-1, keepdim=True)) / h.std(-1, keepdim=True, correction=0)
            for h in given.layers]  # fmt: skip
    torch.testing.assert_close(result, sum(both) / 2, atol=1e-4, rtol=1e-4)


def test_attention_has_weights_of_each_token_and_reports_their_mean_without_padding():
    given, attention = states(WIDTH, WIDTH), LayerAttention((WIDTH, WIDTH))
    with torch.no_grad():
        attention.query.copy_(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    stacked = torch.stack(given.layers)
    shares = torch.softmax((stacked @ attention.query) / 2, 0)  # √4 = 2; (L, B, T)

    result = attention(given).layers[-1]

    torch.testing.assert_close(result, (shares.unsqueeze(-1) * stacked).sum(0))
    mean = shares[:, given.mask].mean(1)
    assert attention.weights()["weights"] == pytest.approx(mean.tolist())
    assert attention.weights()["weights"] == pytest.approx(mean.tolist())  # no text since then


def test_concatenated_layers_keep_the_directions_apart():
    given = states(2, 4)

    plain = Concat((2, 4))(given).layers[-1]
    both = Concat((2, 4), halves=True)(given).layers[-1]

    first, second = given.layers
    torch.testing.assert_close(plain, torch.cat([first, second], -1))
    forward = [first[..., :1], second[..., :2]]
    torch.testing.assert_close(both, torch.cat([*forward, first[..., 1:], second[..., 2:]], -1))


def test_narrow_layers_are_padded_with_zeros_where_layers_are_added():
    given = states(2, 4)
    first, second = given.layers

    plain = Mean((2, 4))(given).layers[-1]
    halves = Mean((2, 4), halves=True)(given).layers[-1]

    zeros = torch.zeros(2, 3, 1)
    torch.testing.assert_close(plain, (torch.cat([first, zeros, zeros], -1) + second) / 2)
    padded = torch.cat([first[..., :1], zeros, first[..., 1:], zeros], -1)
    torch.testing.assert_close(halves, (padded + second) / 2)


def test_the_settings_choose_the_combination_and_its_width():
    given = encoder(4, 6, 6, 4)

    assert combined(given, {}) is None and head_width(given, {}) == 4
    assert head_width(given, {"layers": "concat"}) == 20
    assert head_width(given, {"layers": "mean"}) == 6
    mix = combined(given, {"layers": "mix", "layer_l2": 0.25, "layer_norm": True})
    assert (type(mix), mix.l2, mix.normalized) == (ScalarMix, 0.25, True)
    assert combined(encoder(4, 4, directions=("next", "previous")), {"layers": "mean"}).halves
