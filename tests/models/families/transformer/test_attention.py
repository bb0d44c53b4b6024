"""Attention of a training is computed by plain products where these are faster, with equal
results.
"""

import pytest
import torch

from tests import tiny_models
from workbench.models import precision
from workbench.models.base import LoadOptions
from workbench.models.families.transformer import attention
from workbench.models.loading import load

IDS = torch.tensor([[5, 6, 7, 8, 9, 10], [5, 6, 7, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])


class Known(precision.Trials):
    """Every measurement has this result."""

    def __init__(self, ratio):
        super().__init__()
        self.asked, self.result = [], ratio

    def ratio(self, measured, measure):
        self.asked.append(measured)
        return self.result


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """The models of tests are as narrow as this."""
    monkeypatch.setattr(precision, "MIN_WIDTH", 16)


@pytest.fixture
def plain_calls(monkeypatch):
    calls, plain = [], attention.plain
    monkeypatch.setattr(attention, "plain", lambda *call: calls.append(1) or plain(*call))
    return calls


def pass_of(encoder, trials):
    """States of the texts and gradients of the first layer, (B, T, H) and one per parameter."""
    inputs = {"input_ids": IDS, "attention_mask": MASK}
    if "token_type_ids" in encoder.input_names:
        inputs["token_type_ids"] = torch.zeros_like(IDS)
    with precision.measuring(trials):
        states = encoder(inputs).layers[-1] * MASK.unsqueeze(-1)
        states.square().sum().backward()
    gradients = [p.grad for p in encoder.parts().layers[0] if p.grad is not None]
    encoder.zero_grad(set_to_none=True)
    return [states, *gradients]


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "gpt2", "llama"])
def test_plain_products_give_the_states_and_gradients_of_the_fused_kernel(
    tmp_path, family, plain_calls
):
    folder = tiny_models.make(tmp_path, family)
    encoder = load(folder, LoadOptions(attention_dropout=0.0)).eval()

    fused = pass_of(encoder, Known(0.5))
    assert not plain_calls
    plain = pass_of(encoder, Known(2.0))

    assert plain_calls
    for one, other in zip(fused, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_what_is_faster_is_measured_once_for_lengths_of_a_range(tmp_path, monkeypatch):
    monkeypatch.setattr(precision, "_measured", {})
    folder = tiny_models.make(tmp_path, "bert")
    encoder = load(folder, LoadOptions(attention_dropout=0.0)).eval()
    state, trials = torch.get_rng_state(), precision.Trials()

    pass_of(encoder, trials)
    pass_of(encoder, trials)

    (measured,) = trials.new
    assert measured == precision.key_of("attention float32 2x8 16")
    assert torch.equal(torch.get_rng_state(), state)


def test_predictions_use_the_fused_kernel(tmp_path, plain_calls):
    folder = tiny_models.make(tmp_path, "bert")
    encoder = load(folder, LoadOptions()).eval()

    with torch.no_grad(), precision.measuring(Known(2.0)):
        encoder({"input_ids": IDS, "attention_mask": MASK, "token_type_ids": IDS * 0})

    assert not plain_calls
