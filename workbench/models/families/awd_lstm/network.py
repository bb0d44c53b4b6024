"""The parts of an AWD-LSTM: embeddings and recurrent layers with their dropouts.

Source: Merity, Keskar and Socher 2018, Regularizing and Optimizing LSTM Language Models; the
dropouts as in fastai 2.8, fastai/text/models/awdlstm.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.recurrent import Memory, lstm


@dataclass(frozen=True)
class Dropouts:
    """Probabilities: of whole rows of the embeddings, of the inputs of the first layer, of single
    recurrent weights, of the states between layers, and of the states before the decoder.
    """

    embedding: float
    input: float
    weight: float
    hidden: float
    output: float

    def times(self, factor: float) -> Dropouts:
        """All multiplied by `factor`, as `drop_mult` of fastai, each at most 0.9."""
        values = (self.embedding, self.input, self.weight, self.hidden, self.output)
        return Dropouts(*(min(0.9, value * factor) for value in values))


# The defaults of fastai for classifiers, which it halves (drop_mult 0.5), and language models.
CLASSIFIER = Dropouts(0.05, 0.4, 0.5, 0.3, 0.4).times(0.5)
LANGUAGE_MODEL = Dropouts(0.02, 0.25, 0.2, 0.15, 0.1)


def locked(values: Tensor, p: float) -> Tensor:
    """Dropout of (B, T, H) with the same mask at every position of a text."""
    if not p:
        return values
    mask = values.new_empty(values.shape[0], 1, values.shape[2]).bernoulli_(1 - p)
    return values * mask.div_(1 - p)


def thinned(weights: Tensor, p: float) -> Tensor:
    """Dropout of single weights, of any shape, p in steps of 1/256.

    On a CPU the masks are random bytes, eight per number drawn: torch draws one number per weight,
    which takes a tenth of a second per step at the sizes of ULMFiT.
    """
    level = round(256 * p)
    if weights.device.type != "cpu" or not level:
        return F.dropout(weights, p)
    count = weights.numel()
    drawn = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(1 << 63), None)
    mask = drawn.view(torch.uint8)[:count].view(weights.shape) >= level
    return weights * mask.to(weights.dtype).mul_(256 / (256 - level))


class Embeddings(nn.Module):
    """Words → (B, T, width). In training whole words of the vocabulary are dropped."""

    def __init__(self, vocabulary: int, width: int, dropouts: Dropouts):
        super().__init__()
        self.dropouts = dropouts
        self.weight = nn.Parameter(torch.empty(vocabulary, width).uniform_(-0.1, 0.1))

    def forward(self, ids: Tensor) -> Tensor:
        """ids int (B, T). Returns (B, T, width)."""
        vectors = F.embedding(ids, self.weight)
        p = self.dropouts.embedding
        if not self.training or not p:
            return vectors
        # The rows of the batch alone are multiplied, not the table as in fastai.
        mask = vectors.new_empty(len(self.weight)).bernoulli_(1 - p).div_(1 - p)
        return vectors * mask[ids].unsqueeze(-1)

    def dropped(self, embedded: Tensor) -> Tensor:
        """The inputs of the first layer, (B, T, width)."""
        return locked(embedded, self.dropouts.input) if self.training else embedded


class AwdLstmLayer(nn.Module):
    """One LSTM layer with dropout on its recurrent weights."""

    def __init__(self, inputs: int, width: int, dropouts: Dropouts):
        super().__init__()
        self.width, self.dropouts = width, dropouts
        shapes = ((4 * width, inputs), (4 * width, width), (4 * width,), (4 * width,))
        bound = width**-0.5
        values = [nn.Parameter(torch.empty(shape).uniform_(-bound, bound)) for shape in shapes]
        self.of_inputs, self.of_states, self.bias_of_inputs, self.bias_of_states = values

    @property
    def weights(self) -> tuple[nn.Parameter, ...]:
        """The parameters in torch's order."""
        return self.of_inputs, self.of_states, self.bias_of_inputs, self.bias_of_states

    def forward(self, inputs: Tensor, memory: Memory | None) -> tuple[Tensor, Memory | None]:
        """inputs (B, T, I). Returns states (B, T, width), and the memory after the last token."""
        p = self.dropouts.weight
        of_states = thinned(self.of_states, p) if self.training else self.of_states
        weights = (self.of_inputs, of_states, self.bias_of_inputs, self.bias_of_states)
        return lstm(inputs, memory, weights, width=self.width)

    def dropped(self, states: Tensor) -> Tensor:
        """The inputs of the layer above, (B, T, width)."""
        return locked(states, self.dropouts.hidden) if self.training else states
