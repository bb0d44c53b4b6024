"""The layers of ELMo: character CNN, highway layers, and LSTMs with projection and clipping.

Parameters keep the layout of the published files. Source: Peters et al. 2018; Kim et al. 2015,
Character-Aware Neural Language Models, for the CNN; https://github.com/allenai/bilm-tf
(Apache-2.0) for the order of the gates and the initialization.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.families.elmo.info.options import BYTES, Sizes

CNN_BATCH_WORDS = 256  # in the CNN; bounds memory: the published model has 350 kB per word
FORGET_BIAS = 1.0  # added to the forget gate by TensorFlow's LSTM cell, not part of its bias
CARRY_BIAS = -2.0  # initially a highway layer mostly copies its input
Memory = tuple[Tensor, Tensor]  # output (B, P) and cell (B, C) of one LSTM


class ElmoCharacterCnn(nn.Module):
    """A word's characters → its vector: convolutions, maximum over positions, highway, projection.

    Every entry of `named` is a dataset of the file.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        wide, narrow = sizes.convolved, sizes.projection
        self.activation = torch.relu if sizes.activation == "relu" else torch.tanh
        self.table = _empty(BYTES, sizes.characters)
        self.kernels = nn.ParameterList(
            _empty(1, width, sizes.characters, count) for width, count in sizes.filters
        )
        self.biases = nn.ParameterList(_empty(count) for _width, count in sizes.filters)
        self.highways = nn.ModuleList(Highway(wide) for _number in range(sizes.highway))
        self.projection, self.bias = _empty(wide, narrow), _empty(narrow)

    def forward(self, characters: Tensor) -> Tensor:
        """characters int (N, M), 0 for no word → (N, P)."""
        table = torch.cat([self.table.new_zeros(1, self.table.shape[1]), self.table])
        embedded = F.embedding(characters, table).transpose(1, 2)  # (N, M, D) → (N, D, M)
        parts = []
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            convolved = F.conv1d(embedded, kernel[0].permute(2, 1, 0))  # (N, F, positions)
            parts.append(self.activation(convolved.amax(-1) + bias))
        hidden = torch.cat(parts, -1)
        for highway in self.highways:
            hidden = highway(hidden)
        return torch.addmm(self.bias, hidden, self.projection)

    def of_words(self, characters: Tensor) -> Tensor:
        """As `forward`, int (N, M) → (N, P), but equal words are computed once, a few at a time."""
        distinct, inverse = _distinct(characters)
        parts = [self(some) for some in distinct.split(CNN_BATCH_WORDS)]
        return torch.cat(parts)[inverse]

    def initialize(self) -> None:
        nn.init.uniform_(self.table, -1.0, 1.0)
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            if self.activation is torch.relu:
                nn.init.uniform_(kernel, -0.05, 0.05)
            else:
                nn.init.normal_(kernel, 0.0, math.sqrt(1 / (kernel.shape[1] * kernel.shape[2])))
            nn.init.zeros_(bias)
        for highway in self.highways:
            cast(Highway, highway).initialize()
        nn.init.normal_(self.projection, 0.0, 1 / math.sqrt(len(self.projection)))
        nn.init.zeros_(self.bias)

    def datasets(self) -> Iterator[tuple[str, nn.Parameter]]:
        yield "char_embed", self.table
        for number, (kernel, bias) in enumerate(zip(self.kernels, self.biases, strict=True)):
            yield f"CNN/W_cnn_{number}", kernel
            yield f"CNN/b_cnn_{number}", bias
        for number, highway in enumerate(self.highways):
            for name, parameter in highway.named_parameters():
                yield f"CNN_high_{number}/{name}", parameter
        yield "CNN_proj/W_proj", self.projection
        yield "CNN_proj/b_proj", self.bias


class Highway(nn.Module):
    """carry · relu(x W + b) + (1 - carry) · x. Source: Srivastava et al. 2015."""

    def __init__(self, width: int):
        super().__init__()
        self.W_carry, self.b_carry = _empty(width, width), _empty(width)
        self.W_transform, self.b_transform = _empty(width, width), _empty(width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, width) → (N, width)."""
        carry = torch.sigmoid(torch.addmm(self.b_carry, x, self.W_carry))
        new = torch.relu(torch.addmm(self.b_transform, x, self.W_transform))
        return x + carry * (new - x)  # torch.lerp refuses the mixed types of autocast

    def initialize(self) -> None:
        for weight in (self.W_carry, self.W_transform):
            nn.init.normal_(weight, 0.0, 1 / math.sqrt(len(weight)))
        nn.init.constant_(self.b_carry, CARRY_BIAS)
        nn.init.zeros_(self.b_transform)


class ProjectedLstm(nn.Module):
    """An LSTM with projected output, and limits on the magnitude of cell and output.

    torch's LSTM has no such limits. Source: Sak et al. 2014 for the projection.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.W_0 = _empty(2 * sizes.projection, 4 * sizes.cell)  # rows: input, then output before
        self.B = _empty(4 * sizes.cell)
        self.W_P_0 = _empty(sizes.cell, sizes.projection)
        self.cell, self.width = sizes.cell, sizes.projection
        self.cell_clip = sizes.cell_clip or math.inf
        self.projection_clip = sizes.projection_clip or math.inf

    def inputs(self, x: Tensor) -> Tensor:
        """The gates' share of the inputs, (…, P) → (…, 4 C), computed for all positions at once."""
        ones = torch.full_like(self.B[: self.cell], FORGET_BIAS)
        shift = F.pad(ones, (2 * self.cell, self.cell))
        return F.linear(x, self.W_0[: self.width].t(), self.B + shift)

    def step(self, gates: Tensor, memory: Memory) -> Memory:
        """One position: gates (B, 4 C) from `inputs`."""
        output, cell = memory
        gates = torch.addmm(gates, output, self.W_0[self.width :])
        hidden, cell = self.through_gates(gates, cell)
        return self.clipped(hidden @ self.W_P_0), cell

    def through_gates(self, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Gates (…, 4 C) and the cell before (…, C) → what is projected and the cell, (…, C)."""
        enter, new, forget, leave = gates.chunk(4, -1)  # the order of TensorFlow: i, j, f, o
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        cell = cell.clamp(-self.cell_clip, self.cell_clip)
        return torch.sigmoid(leave) * torch.tanh(cell), cell

    def clipped(self, output: Tensor) -> Tensor:
        """Outputs (…, P) within the limits."""
        return output.clamp(-self.projection_clip, self.projection_clip)

    def packed(self, x: Tensor, sizes: Sequence[int], memory: Memory) -> tuple[Tensor, Memory]:
        """x (N, P) as in torch's PackedSequence: `sizes` are the rows at each position.

        Returns the outputs (N, P) and the memory of every row after its last position.
        """
        states, ended = [], []
        for gates in self.inputs(x).split(list(sizes)):
            rows = len(gates)
            if rows < len(memory[0]):
                ended.append(tuple(part[rows:] for part in memory))
                memory = memory[0][:rows], memory[1][:rows]
            memory = self.step(gates, memory)
            states.append(memory[0])
        ended.append(memory)
        outputs, cells = zip(*reversed(ended), strict=True)
        return torch.cat(states), (torch.cat(outputs), torch.cat(cells))

    def initialize(self) -> None:
        nn.init.xavier_uniform_(self.W_0)
        nn.init.xavier_uniform_(self.W_P_0)
        nn.init.zeros_(self.B)


def scanned(cells: Sequence[ProjectedLstm], x: Tensor) -> Tensor:
    """LSTMs of equal sizes side by side: x (D, B, T, P) → outputs (D, B, T, P).

    One loop of an ONNX graph computes all D of them. Their memory is zero before the first
    position.
    """
    # torch's `scan` has the step compiled to find its weights, which takes seconds; here they are
    # given to the operator.
    from torch._higher_order_ops.scan import scan_op

    first = cells[0]

    def step(output: Tensor, cell: Tensor, gates: Tensor, *weights: Tensor) -> list[Tensor]:
        gates = torch.baddbmm(gates, output, weights[0])  # (D, B, 4 C)
        hidden, cell = first.through_gates(gates, cell)
        output = first.clipped(torch.bmm(hidden, weights[1]))
        return [output, cell, output.clone()]

    pairs = zip(cells, x.unbind(), strict=True)
    gates = torch.stack([cell.inputs(part) for cell, part in pairs])  # (D, B, T, 4 C)
    zeros = [x.new_zeros(*x.shape[:2], width) for width in (first.width, first.cell)]
    weights = (
        torch.stack([cell.W_0[cell.width :] for cell in cells]),
        torch.stack([cell.W_P_0 for cell in cells]),
    )
    outputs: Tensor = scan_op(step, zeros, [gates.permute(2, 0, 1, 3)], weights)[-1]  # (T, D, B, P)
    return outputs.permute(1, 2, 0, 3)


def _empty(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(shape))


def _distinct(characters: Tensor) -> tuple[Tensor, Tensor]:
    """(distinct rows, the number of each row's) of characters (N, M).

    Rows are compared by a hash; torch.unique over whole rows takes longer than the CNN.
    """
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(1, 1 << 62, characters.shape[1:], generator=generator)
    keys = (characters * (factors * 2 + 1).to(characters.device)).sum(-1)
    _keys, inverse = keys.unique(return_inverse=True)
    first = inverse.new_zeros(len(_keys)).scatter_(
        0, inverse.flip(0), torch.arange(len(inverse), device=inverse.device).flip(0)
    )
    distinct = characters[first]
    if not torch.equal(distinct[inverse], characters):  # two words with one hash
        distinct, inverse = characters.unique(dim=0, return_inverse=True)
    return distinct, inverse
