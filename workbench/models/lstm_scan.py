"""The recurrence of LSTMs over packed sequences, with its gradients in closed form.

torch.nn.LSTM records a dozen operations per step for packed sequences on a CPU; this computes the
recurrence of several directions together and the gradients of all weights in one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


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
