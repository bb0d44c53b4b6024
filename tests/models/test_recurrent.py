"""Recurrent layers ask cuDNN for gradients wherever they are needed, not only in training."""

import pytest
import torch
from torch import nn

from workbench.models.families.char_lm.network import RecurrentLayer
from workbench.models.recurrent import lstm, ready

WEIGHTS = ((12, 2), (12, 3), (12,), (12,))  # of 3 cells that read vectors of 2


@pytest.mark.parametrize("learns", [True, False])
def test_cudnn_keeps_what_gradients_need_in_evaluation_too(learns):
    layer = nn.LSTM(2, 3).eval()

    with torch.set_grad_enabled(learns):
        assert ready(layer).training is learns


@pytest.mark.parametrize("learns", [True, False])
def test_the_function_is_called_for_gradients_where_they_are_enabled(learns, monkeypatch):
    asked, original = [], torch.lstm

    def called(*given):
        asked.append(given[6])
        return original(*given)

    monkeypatch.setattr(torch, "lstm", called)
    weights = [torch.zeros(shape, requires_grad=True) for shape in WEIGHTS]
    with torch.set_grad_enabled(learns):
        states, _memory = lstm(torch.ones(1, 4, 2), None, weights, width=3)

    assert asked == [learns] and states.requires_grad is learns


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_an_evaluated_layer_has_gradients_on_cuda(kind):
    layer = RecurrentLayer(kind, 2, 3, 0.0).cuda().eval()
    given = torch.ones(1, 4, 2, device="cuda", requires_grad=True)

    layer.read(given, None)[0].sum().backward()

    assert given.grad is not None and given.grad.abs().sum() > 0
