"""Bidirectional recurrent layers over words, and their dropouts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from workbench.models.lstm_scan import scan
from workbench.models.recurrent import backwards, lstm, ready, reordered


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
