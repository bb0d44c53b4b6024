"""Record queries, keys, values and outputs of attention during a forward pass.

Each call of a function of torch is seen. Models that use the fused function for
attention give everything at once, whatever they do to queries and keys before: rotary positions,
grouped keys. For others the steps are followed: the product of queries and keys, multiplications
by numbers, a soft cap, the softmax, and the product with the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

BLOCKED = -5e3  # additions from here down are masks; GPT's is -10,000, minus the score
_CROSS = ("encoder_attn", "crossattention", "encdecattention", "encoder_decoder")
_TIMES = ("mul", "multiply", "__mul__", "__rmul__")
_OVER = ("div", "divide", "true_divide", "__truediv__", "__div__")
_PLUS = ("add", "__add__", "__radd__", "__iadd__", "add_", "sub", "__sub__", "masked_fill")
_PRODUCTS = ("matmul", "__matmul__", "bmm", "einsum")


@dataclass(frozen=True)
class Call:
    """One attention layer. q (H, T, D), k, v (H, K, D), all float64.

    Scores are cap × tanh(q·k × scale / cap), without a cap q·k × scale. Added to them are bias
    (H or 1, T, K), as of relative positions, and mask (H or 1, T, K), 0 or -inf.
    output (H, T, D) is the model's own. cross: a decoder attends to the states of an encoder.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    bias: Tensor
    mask: Tensor
    scale: float
    output: Tensor
    cross: bool
    cap: float = 0.0


def record(encoder: nn.Module, run: Callable[[], object]) -> list[Call]:
    """Every attention layer of what `run` computes with the encoder, in order."""
    with torch.inference_mode(), _crossings(encoder) as inside:
        recorder = _Recorder(inside)
        with recorder:
            run()
    return recorder.calls


def capped(scores: Tensor, cap: float) -> Tensor:
    """Scores between -cap and cap; unchanged for cap 0. Source: Gemma 2, section 2.

    Of any shape, which is kept.
    """
    return cap * (scores / cap).tanh() if cap else scores


@contextmanager
def _crossings(encoder: nn.Module) -> Iterator[list[str]]:
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


@dataclass
class _Product:
    """Queries times keys: q (…, T, D), k (…, K, D). scores: the result, after what followed."""

    q: Tensor
    k: Tensor
    scores: Tensor
    scale: float
    before_cap: float = 0.0  # the scale when the tanh was taken, 0 without one

    def follow(self, result: Tensor) -> None:
        self.scores = result

    def multiply(self, result: Tensor, by: float) -> None:
        self.scores, self.scale = result, self.scale * by

    def squash(self, result: Tensor) -> None:
        self.scores, self.before_cap, self.scale = result, self.scale, 1.0


class _Recorder(TorchFunctionMode):
    """`calls`: the attention layers so far."""

    def __init__(self, inside: list[str]) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self._inside = inside
        self._forget()

    def _forget(self) -> None:
        self._multiplied: list[tuple[Tensor, Tensor, float]] = []  # result, of what, by what
        self._products: list[_Product] = []
        self._soft: tuple[Tensor, Tensor] | None = None  # scores and weights, (…, T, K)

    def __torch_function__(
        self,
        func: Any,
        _types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        result = func(*args, **named)
        name = getattr(func, "__name__", "")
        if name == "scaled_dot_product_attention":
            self.calls.append(_fused(args, named, result, bool(self._inside)))
            self._forget()
        elif name in _PRODUCTS:
            self._take_product(name, args, result)
        elif name in _TIMES or name in _OVER:
            self._take_number(name in _OVER, args, result)
        elif name == "tanh" or name in _PLUS:
            for product in self._products:
                if product.scores is args[0]:
                    product.squash(result) if name == "tanh" else product.follow(result)
        elif name == "softmax" and args[0].dim() >= 3:
            self._soft = args[0].clone(), result
        return result

    def _take_number(self, over: bool, args: tuple[Any, ...], result: Any) -> None:
        """Follow a tensor that is multiplied by a number, or divided by one."""
        if len(args) != 2 or not isinstance(args[0], Tensor) or (by := _number(args[1])) is None:
            return
        by = 1 / by if over else by
        for product in self._products:
            if product.scores is args[0]:
                product.multiply(result, by)
                return
        if args[0].dim() >= 3:
            self._multiplied.append((result, args[0], by))

    def _take_product(self, name: str, args: tuple[Any, ...], result: Tensor) -> None:
        factors = _factors(name, args)
        if factors is None:
            return
        left, right, back = factors  # (…, T, D), (…, D, K)
        if self._soft is not None:
            if left.shape[-2:] == self._soft[1].shape[-2:]:
                self._finish(right, back(result))
            return
        if left.shape[-1] > 1:
            (left, value), (right, other) = map(self._unscaled, (left, right))
            self._products.append(_Product(left, right.mT, result, value * other))

    def _unscaled(self, product: Tensor) -> tuple[Tensor, float]:
        for result, source, by in self._multiplied:
            if result is product:
                return source, by
        return product, 1.0

    def _finish(self, values: Tensor, output: Tensor) -> None:
        assert self._soft is not None  # noqa: S101 (checked by the caller)
        scores, _weights = self._soft
        fitting = (
            product for product in self._products if product.scores.shape[-2:] == scores.shape[-2:]
        )
        product = next(fitting, None)
        if product is not None:
            self.calls.append(_followed(product, scores, values, output, bool(self._inside)))
        self._forget()


def _number(value: Any) -> float | None:
    """A number that a tensor is multiplied by, None for a tensor of several."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None


def _factors(
    name: str, args: tuple[Any, ...]
) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor]] | None:
    """Two batches of matrices (…, T, D), (…, D, K), and what turns the result into (…, T, K).

    None for other products, as that with a weight.
    """
    left, right = (*args, None)[1:3] if name == "einsum" else args[:2]
    for item in (left, right):
        if not isinstance(item, Tensor) or isinstance(item, nn.Parameter) or item.dim() < 3:
            return None
    assert isinstance(left, Tensor) and isinstance(right, Tensor)  # noqa: S101 (for mypy)
    if name != "einsum":
        return left, right, lambda result: result
    operands, output = str(args[0]).replace(" ", "").split("->")
    letters = operands.split(",")
    batch = [text for text in output if text in letters[0] and text in letters[1]]
    rows, columns, within = (
        "".join(text for text in of if text not in but)
        for of, but in ((letters[0], letters[1]), (letters[1], letters[0]), (letters[0], output))
    )
    if any(len(text) != 1 for text in (rows, columns, within)):
        return None
    first, second = (*batch, rows, within), (*batch, within, columns)
    final = (*batch, rows, columns)
    return (
        left.permute([letters[0].index(text) for text in first]),
        right.permute([letters[1].index(text) for text in second]),
        lambda result: result.permute([output.index(text) for text in final]),
    )


def _matrices(values: Tensor) -> Tensor:
    """(1, H, T, D) or (H, T, D) → float64 (H, T, D)."""
    return values.reshape(-1, *values.shape[-2:]).double()


def _followed(
    product: _Product, scores: Tensor, values: Tensor, output: Tensor, cross: bool
) -> Call:
    cap = product.scale if product.before_cap else 0.0
    scale = product.before_cap * cap if cap else product.scale
    q, k = _matrices(product.q), _matrices(product.k)
    added = _matrices(scores) - capped(q @ k.mT * scale, cap)
    bias, mask = _split(added)
    return Call(q, k, _matrices(values), bias, mask, scale, _matrices(output), cross, cap)


def _fused(args: tuple[Any, ...], named: Mapping[str, Any], output: Tensor, cross: bool) -> Call:
    arguments = dict(
        zip(("query", "key", "value", "attn_mask", "_", "is_causal"), args, strict=False)
    )
    arguments |= named
    q, k, v = arguments["query"], arguments["key"], arguments["value"]
    groups = q.shape[1] // k.shape[1]  # grouped queries share a key
    scale = arguments.get("scale")
    added = _added(arguments.get("attn_mask"), bool(arguments.get("is_causal")), q, k.shape[-2])
    return Call(
        q[0].double(),
        k[0].double().repeat_interleave(groups, 0),
        v[0].double().repeat_interleave(groups, 0),
        *_split(added),
        float(scale) if scale is not None else q.shape[-1] ** -0.5,
        output[0].double(),
        cross,
    )


def _split(added: Tensor) -> tuple[Tensor, Tensor]:
    """Bias and mask."""
    blocked = added <= BLOCKED
    bias = added.masked_fill(blocked, 0)
    return bias, torch.zeros_like(added).masked_fill(blocked, -torch.inf)


def _added(mask: Tensor | None, causal: bool, q: Tensor, keys: int) -> Tensor:
    """The mask of the fused function as numbers that are added to the scores, (H or 1, T, K)."""
    queries, device = q.shape[-2], q.device
    added = torch.zeros((1, queries, keys), dtype=torch.float64, device=device)
    if causal:
        later = torch.ones((queries, keys), dtype=torch.bool, device=device).triu(1)
        added = added.masked_fill(later, -torch.inf)
    if mask is None:
        return added
    first = mask[0] if mask.dim() == 4 else mask
    if first.dtype == torch.bool:
        return added.masked_fill(~first, -torch.inf)
    return added + first.double()
