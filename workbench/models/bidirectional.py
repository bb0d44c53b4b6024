"""Bidirectional recurrent layers over words, and their dropouts.

torch.nn.LSTM records a dozen operations per step for packed sequences on a CPU; `scan` computes the
recurrence of several directions together and the gradients of all weights in one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from workbench.models.recurrent import backwards, lstm, ready, reordered


def scan(gates: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
    """States (D, N, H) of D directions.

    gates (D, N, 4H): the inputs' part of the gates (input, forget, cell, output), float32; N packed
    rows, those of a step together. weights (D, 4H, H): of the states. sizes: active sequences at
    each step, the longest first, so never rising; their sum is N.
    """
    states: Tensor = _Scan.apply(gates, weights, sizes)  # type: ignore[no-untyped-call] # torch has no types for it
    return states


def _in_float32() -> torch.autocast:
    """Small products gain nothing from bf16."""
    return torch.autocast("cpu", enabled=False)


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
        with _in_float32():
            width = weights.shape[-1]
            hidden = gates.new_zeros(gates.shape[0], sizes[0], width)
            cell, across = torch.zeros_like(hidden), weights.transpose(1, 2)  # (D, H, 4H)
            steps, before = [], [hidden]
            for now in gates.split(list(sizes), 1):
                count = now.shape[1]
                now = torch.baddbmm(now, hidden[:, :count], across)  # (D, B, 4H)
                now[..., : 2 * width].sigmoid_()
                now[..., 2 * width : 3 * width].tanh_()
                now[..., 3 * width :].sigmoid_()
                gate_in, gate_forget, new, gate_out = now.chunk(4, -1)
                earlier = cell[:, :count]
                cell = torch.addcmul(gate_in * new, gate_forget, earlier)
                bounded = cell.tanh()
                hidden = gate_out * bounded
                steps.append((now, earlier, bounded))
                before.append(hidden)
            ctx.kept, ctx.before, ctx.sizes = steps, before, sizes
            ctx.save_for_backward(weights)
            return torch.cat(before[1:], 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        with _in_float32():
            (weights,) = ctx.saved_tensors
            above = gradients[0].split(list(ctx.sizes), 1)
            of_hidden = of_cell = above[-1].new_zeros(above[-1].shape)
            gate_gradients: list[Tensor] = []
            for step in reversed(range(len(above))):
                now, earlier, bounded = ctx.kept[step]
                gate_in, gate_forget, new, gate_out = now.chunk(4, -1)
                more = now.shape[1] - of_hidden.shape[1]  # sequences that end at this step
                of_hidden = above[step] + F.pad(of_hidden, (0, 0, 0, more))
                of_cell = F.pad(of_cell, (0, 0, 0, more))
                of_cell = of_cell + of_hidden * gate_out * (1 - bounded * bounded)
                slopes = now * (1 - now)  # of the sigmoids
                gates = torch.cat([new, earlier, gate_in, bounded], -1)
                gates *= torch.cat([of_cell, of_cell, of_cell, of_hidden], -1)
                width = new.shape[-1]
                slopes[..., 2 * width : 3 * width] = 1 - new * new
                gates *= slopes
                of_hidden, of_cell = torch.bmm(gates, weights), of_cell * gate_forget
                gate_gradients.append(gates)
            of_gates = torch.cat(gate_gradients[::-1], 1)  # (D, N, 4H)
            states = [
                hidden[:, :count] for hidden, count in zip(ctx.before, ctx.sizes, strict=False)
            ]
            of_weights = torch.bmm(of_gates.transpose(1, 2), torch.cat(states, 1))
            return of_gates, of_weights, None


class BidirectionalLstm(nn.Module):
    """One layer, (B, T, I) → (B, T, 2H), zeros at padding."""

    def __init__(self, below: int, width: int):
        super().__init__()
        self.lstm = nn.LSTM(below, width, batch_first=True, bidirectional=True)
        for name, weight in self.lstm.named_parameters():
            if name.startswith("weight_hh"):
                for gate in weight.data.chunk(4):
                    nn.init.orthogonal_(gate)
            elif name.startswith("weight_ih"):
                nn.init.xavier_uniform_(weight)
            else:
                nn.init.zeros_(weight)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """states (B, T, H), mask bool (B, T). Returns (B, T, 2 * hidden), 0 at padding."""
        if torch.compiler.is_exporting():
            return self.padded(states, mask)
        if torch.is_grad_enabled() and states.device.type == "cpu":
            return self.scanned(states, mask)
        return _packed(self.lstm, states, mask)

    def scanned(self, states: Tensor, mask: Tensor) -> Tensor:
        """As `forward`, with gradients: on the CPU torch has no fast kernel for rows of any length.

        states (B, T, H), mask bool (B, T). Returns (B, T, 2 * hidden).
        """
        packed = _pack(states, mask)
        back = _reversing(packed.batch_sizes)
        weights = dict(self.lstm.named_parameters())
        gates = []
        for end in ("l0", "l0_reverse"):
            bias = weights[f"bias_ih_{end}"] + weights[f"bias_hh_{end}"]
            gates.append(F.linear(packed.data, weights[f"weight_ih_{end}"], bias).float())
        both = torch.stack([gates[0], gates[1][back]])  # (2, N, 4H)
        recurrent = torch.stack([weights["weight_hh_l0"], weights["weight_hh_l0_reverse"]])
        forward, reverse = scan(both, recurrent, packed.batch_sizes.tolist()).unbind()
        outputs = packed._replace(data=torch.cat([forward, reverse[back]], -1))
        return pad_packed_sequence(outputs, batch_first=True, total_length=states.shape[1])[0]

    def padded(self, states: Tensor, mask: Tensor) -> Tensor:
        """Run over padded texts, (B, T, H) → (B, T, 2 * hidden), in a form that can be exported."""
        weights, width = list(self.lstm.parameters()), self.lstm.hidden_size
        order = backwards(mask)
        forward, _memory = lstm(states, None, weights[:4], width=width)
        reverse, _memory = lstm(reordered(states, order), None, weights[4:], width=width)
        both = torch.cat([forward, reordered(reverse, order)], -1)
        return both * mask.unsqueeze(-1)


class BidirectionalGru(nn.Module):
    """One layer, (B, T, I) → (B, T, 2H), zeros at padding. It has no form that exports."""

    def __init__(self, below: int, width: int):
        super().__init__()
        self.gru = nn.GRU(below, width, batch_first=True, bidirectional=True)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """states (B, T, H), mask bool (B, T). Returns (B, T, 2 * hidden).

        Raises NotImplementedError in an export.
        """
        if torch.compiler.is_exporting():
            raise NotImplementedError("GRU layers in both directions")
        return _packed(self.gru, states, mask)


def _packed(layer: nn.LSTM | nn.GRU, states: Tensor, mask: Tensor) -> Tensor:
    outputs = ready(layer)(_pack(states, mask))[0]
    return pad_packed_sequence(outputs, batch_first=True, total_length=states.shape[1])[0]


def _pack(states: Tensor, mask: Tensor) -> PackedSequence:
    lengths = mask.sum(1).clamp(min=1).cpu()
    return pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)


def _reversing(sizes: Tensor) -> Tensor:
    """Rows (N,) that reverse each sequence of packed ones; sizes: active sequences at each step."""
    starts = sizes.cumsum(0) - sizes
    steps = torch.arange(len(sizes)).repeat_interleave(sizes)
    sequences = torch.arange(len(steps)) - starts[steps]
    lengths = (sizes.unsqueeze(1) > torch.arange(int(sizes[0]))).sum(0)
    return starts[lengths[sequences] - 1 - steps] + sequences


class WordDropout(nn.Module):
    """Replaces all features of a word by zeros, without scaling."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, H) → (B, T, H), some words 0 in training."""
        if not self.training or not self.p:
            return states
        keep = torch.rand(states.shape[:2], device=states.device) >= self.p
        return states * keep.unsqueeze(-1)


class LockedDropout(nn.Module):
    """Dropout with one mask for all words of a text. Source: Gal and Ghahramani 2016."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, H) → (B, T, H), in training the same features of all words of a text 0."""
        if not self.training or not self.p:
            return states
        shape = (states.shape[0], 1, states.shape[2])
        keep = (torch.rand(shape, device=states.device) >= self.p).to(states.dtype)
        return states * (keep / (1 - self.p))
