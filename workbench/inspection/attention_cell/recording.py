"""Record the inputs and outputs of scaled dot-product attention during a forward pass.

All models of transformers that compute attention with torch's fused function are covered, whatever
they do to queries and keys before: rotary positions, relative biases (part of the mask), grouped
keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder

_CROSS = ("encoder_attn", "crossattention", "encdecattention", "encoder_decoder")


@dataclass(frozen=True)
class Call:
    """One attention layer. q (H, T, D), k, v (H, K, D), mask (H or 1, T, K) added to the scores.

    output (H, T, D) is the model's own. cross: a decoder attends to the states of an encoder.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor
    scale: float
    output: Tensor
    cross: bool


def record(encoder: Encoder, inputs: dict[str, Tensor]) -> list[Call]:
    """Every attention layer of one input, in order; [] for a model that computes it otherwise."""
    calls: list[Call] = []
    with torch.inference_mode(), _crossings(encoder) as inside, _recorded(calls, inside):
        encoder(inputs)
    return calls


@contextmanager
def _crossings(encoder: Encoder) -> Iterator[list[str]]:
    """The names of the modules for cross-attention that are being computed."""
    inside: list[str] = []

    def begin(_module: nn.Module, _given: object) -> None:
        inside.append("cross")

    def end(_module: nn.Module, _given: object, _found: object) -> None:
        inside.pop()

    handles = []
    for name, module in encoder.named_modules():
        own = name.rpartition(".")[2].lower()
        if own in _CROSS:
            handles += [module.register_forward_pre_hook(begin), module.register_forward_hook(end)]
    try:
        yield inside
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _recorded(calls: list[Call], inside: list[str]) -> Iterator[None]:
    """Replace torch's function by one that keeps what it is given."""
    original = F.scaled_dot_product_attention

    def attention(q: Tensor, k: Tensor, v: Tensor, *args: Any, **named: Any) -> Tensor:
        output: Tensor = original(q, k, v, *args, **named)
        mask = named.get("attn_mask", args[0] if args else None)
        causal = bool(named.get("is_causal", args[2] if len(args) > 2 else False))
        groups = q.shape[1] // k.shape[1]  # grouped queries share a key
        scale = named.get("scale")
        calls.append(
            Call(
                q[0].double(),
                k[0].double().repeat_interleave(groups, 0),
                v[0].double().repeat_interleave(groups, 0),
                _added(mask, causal, q.shape[-2], k.shape[-2], q.device),
                float(scale) if scale is not None else q.shape[-1] ** -0.5,
                output[0].double(),
                bool(inside),
            )
        )
        return output

    setattr(F, "scaled_dot_product_attention", attention)  # noqa: B010 (typed as a builtin)
    try:
        yield
    finally:
        setattr(F, "scaled_dot_product_attention", original)  # noqa: B010


def _added(
    mask: Tensor | None, causal: bool, queries: int, keys: int, device: torch.device
) -> Tensor:
    """The mask as numbers that are added to the scores, (H or 1, T, K)."""
    added = torch.zeros((1, queries, keys), dtype=torch.float64, device=device)
    if causal:
        later = torch.ones((queries, keys), dtype=torch.bool, device=device).triu(1)
        added = added.masked_fill(later, -torch.inf)
    if mask is None:
        return added
    first = mask[0] if mask.dim() == 4 else mask
    if first.dtype == torch.bool:
        return added.masked_fill(~first, -torch.inf)
    given: Tensor = first.double()
    return added + given
