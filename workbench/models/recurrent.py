"""LSTM layers of language models, in a form that exports to ONNX; reading padded texts backwards.

torch's own conversion of LSTM to ONNX fixes the length of the traced example (2.13), so the ONNX
operator is written into the graph directly.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.modules.rnn import RNNBase

# cuDNN copies the weights together at every call, as some of them change by dropout.
warnings.filterwarnings("ignore", "RNN module weights")


class StreamTokens(NamedTuple):
    """Tokens of one document in the reading order of a direction, for pretraining.

    inputs: arrays (N, …) that the encoder's `read` takes. targets int (N,): the id of each token
    among its `scores`. words: words of the text.
    """

    inputs: Mapping[str, np.ndarray]
    targets: np.ndarray
    words: float


Memory = tuple[Tensor, Tensor]  # hidden state and cell of one layer, each (1, B, H)


def lstm(
    inputs: Tensor, memory: Memory | None, weights: Sequence[Tensor], *, width: int
) -> tuple[Tensor, Memory | None]:
    """One LSTM layer over (B, T, I): its states (B, T, H) and its memory after the last token.

    weights: of the inputs (4H, I) and of the states (4H, H), then their biases (4H,) each, in
    torch's order of the gates (input, forget, cell, output). memory None is zero. In a graph for
    ONNX the returned memory is None.
    """
    if torch.compiler.is_exporting() and memory is None:
        return _exported(inputs, weights, width), None
    if memory is None:
        zero = inputs.new_zeros(1, inputs.shape[0], width)
        memory = (zero, zero)
    learns = torch.is_grad_enabled()  # else cuDNN keeps nothing and refuses the backward pass
    states, hidden, cell = torch.lstm(
        inputs, memory, list(weights), True, 1, 0.0, learns, False, True
    )
    return states, (hidden, cell)


def ready(layer: RNNBase) -> RNNBase:
    """A recurrent layer of torch, without dropout of its own, set up for the next call.

    cuDNN computes gradients only for a layer in training mode, also where they are needed in
    evaluation, as for attributions. Without dropout the mode changes nothing else.
    """
    if not torch.compiler.is_exporting():
        layer.training = torch.is_grad_enabled()
    return layer


def _exported(inputs: Tensor, weights: Sequence[Tensor], width: int) -> Tensor:
    """The ONNX operator, which has the gates in the order input, output, forget, cell."""
    of_inputs, of_states, *biases = map(_onnx_gates, weights)
    steps = inputs.transpose(0, 1)  # (B, T, I) → (T, B, I)
    states = torch.onnx.ops.symbolic(
        "LSTM",
        [steps, of_inputs[None], of_states[None], torch.cat(biases)[None]],
        {"hidden_size": width},
        dtype=inputs.dtype,
        shape=(steps.shape[0], 1, steps.shape[1], width),
    )
    return states.squeeze(1).transpose(0, 1)  # (T, 1, B, H) → (B, T, H)


def _onnx_gates(weight: Tensor) -> Tensor:
    gate_in, gate_forget, cell, gate_out = weight.chunk(4)
    return torch.cat([gate_in, gate_out, gate_forget, cell])


def backwards(mask: Tensor) -> Tensor:
    """Positions (B, T) that reverse each row of a batch, whose padding stays at the end.

    mask (B, T): 1 at tokens. Applied twice, every token is in its place again.
    """
    lengths = mask.long().sum(1, keepdim=True)
    places = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(places < lengths, lengths - 1 - places, places)


def reordered(values: Tensor, order: Tensor) -> Tensor:
    """Values (B, T, H) at the positions `order` (B, K): (B, K, H)."""
    return values.gather(1, order.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
