"""Bidirectional recurrent layers over words, and their dropouts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from workbench.models.recurrent import backwards, lstm, reordered


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
        if torch.compiler.is_exporting():
            return self.padded(states, mask)
        return _packed(self.lstm, states, mask)

    def padded(self, states: Tensor, mask: Tensor) -> Tensor:
        """The same over padded texts, in a form that exports."""
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
        """Raises NotImplementedError in an export."""
        if torch.compiler.is_exporting():
            raise NotImplementedError("GRU layers in both directions")
        return _packed(self.gru, states, mask)


def _packed(layer: nn.LSTM | nn.GRU, states: Tensor, mask: Tensor) -> Tensor:
    lengths = mask.sum(1).clamp(min=1).cpu()
    packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
    found, _lengths = pad_packed_sequence(
        layer(packed)[0], batch_first=True, total_length=states.shape[1]
    )
    return found


class WordDropout(nn.Module):
    """Replaces all features of a word by zeros, without scaling."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or not self.p:
            return states
        keep = torch.rand(states.shape[:2], device=states.device) >= self.p
        return states * keep.unsqueeze(-1)


class LockedDropout(nn.Module):
    """The same mask at all words of a text. Source: Gal and Ghahramani 2016."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or not self.p:
            return states
        shape = (states.shape[0], 1, states.shape[2])
        keep = (torch.rand(shape, device=states.device) >= self.p).to(states.dtype)
        return states * keep / (1 - self.p)
