"""Attention of a training on a CPU: torch's fused kernel, or plain products where these are faster.

The backward pass of the fused kernel is slow for short texts: forward and backward for 32 texts of
25 tokens with 12 heads of 32 take 23 ms of an EPYC 9005 in bf16, plain products 4. In fp32 the
kernel is faster from about 128 tokens on. So the two are measured, once for each precision, number
and width of heads, and range of lengths.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import scaled_dot_product_attention

from workbench.models import precision

Attention = Callable[..., tuple[Tensor, Tensor | None]]  # of transformers
# Longer texts have the fused kernel, which keeps no probabilities: up to here they take less memory
# than the other activations of a layer.
LONGEST = 512
SHORTEST = 16  # all shorter texts are measured together
TOKENS = 2048  # of a measurement, as parts of a batch
FASTER = 1.1  # minimum speedup of plain products


def of(fused: Attention) -> Attention:
    """`fused`, with plain products within `precision.measuring` where they are faster."""

    def attend(
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        dropout: float = 0.0,
        scaling: float | None = None,
        is_causal: bool | None = None,
        **others: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """query (B, H, T, D), key and value (B, H, S, D) → (B, T, H, D)."""
        trials, length = precision.trials(), max(query.shape[2], key.shape[2])
        fits = query.device.type == "cpu" and query.requires_grad and length <= LONGEST
        fits = fits and query.shape[1] * query.shape[3] >= precision.MIN_WIDTH
        is_special = dropout or key.shape[1] != query.shape[1] or _changes(others)
        if trials is not None and fits and not is_special:
            query, key, value = _cast(query), _cast(key), _cast(value)
            if _speedup(trials, query, key, value) >= FASTER:
                causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
                bias = _bias(attention_mask, query, key, causal=causal)
                return plain(query, key, value, bias, scaling or query.shape[-1] ** -0.5), None
        arguments = {"dropout": dropout, "scaling": scaling, "is_causal": is_causal, **others}
        return fused(module, query, key, value, attention_mask, **arguments)

    return attend


def plain(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, scale: float) -> Tensor:
    """query (B, H, T, D), key and value (B, H, S, D), bias (B, 1, T, S) → (B, T, H, D)."""
    scores = torch.matmul(query * scale, key.transpose(-1, -2))  # (B, H, T, S)
    if bias is not None:
        scores += bias
    weights = torch.softmax(scores, -1)
    return torch.matmul(weights, value).transpose(1, 2).contiguous()


def _changes(others: dict[str, Any]) -> bool:
    """Whether arguments are given that change what is computed."""
    names = ("position_bias", "softcap", "s_aux", "cache", "output_attentions")
    return any(others.get(name) is not None and others[name] is not False for name in names)


def _cast(tensor: Tensor) -> Tensor:
    """As autocast would before the kernel."""
    return (
        tensor.to(torch.get_autocast_dtype("cpu")) if torch.is_autocast_enabled("cpu") else tensor
    )


def _bias(mask: Tensor | None, query: Tensor, key: Tensor, *, causal: bool) -> Tensor | None:
    """What is added to the scores, (B or 1, 1, T, S); mask: bool, True at what is read, or this."""
    if mask is None:
        if not causal or query.shape[2] == 1:
            return None
        mask = torch.ones(1, 1, query.shape[2], key.shape[2], dtype=torch.bool).tril()
    if mask.dtype != torch.bool:
        return mask.to(query.dtype)
    lowest = torch.finfo(query.dtype).min
    return torch.where(mask, 0.0, lowest).to(query.dtype)


def _speedup(trials: precision.Trials, query: Tensor, key: Tensor, value: Tensor) -> float:
    """Speed of plain products over the fused kernel, on some rows of this batch."""
    _, heads, length, width = query.shape
    length = max(length, key.shape[2], SHORTEST)
    most = 1 << (length - 1).bit_length()  # (most / 2, most]
    kind = str(query.dtype).removeprefix("torch.")

    def measure() -> float:
        rows = slice(max(1, TOKENS // length))
        own = [tensor[rows].detach().clone().requires_grad_() for tensor in (query, key, value)]
        q, k, v = own

        def run(is_plain: bool) -> None:
            if is_plain:
                out = plain(q, k, v, None, 1.0)
            else:
                out = scaled_dot_product_attention(q, k, v, scale=1.0).transpose(1, 2)
            torch.autograd.grad(out, own, out)

        # the innermost hooks count: gradient checkpointing must not record these tensors
        with saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return precision.speedup(run, time.process_time)

    return trials.ratio(f"attention {kind} {heads}x{width} {most}", measure)
