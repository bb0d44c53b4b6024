"""Batches of items of similar length, drawn again in each epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from workbench.tasks.base import Loss

Contexts = AbstractContextManager[None]
MEGA = 50  # maximum number of batches that are sorted by length together


def bucketed(
    lengths: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Every item once, in ceil(n / batch_size) batches of similar length, in random order.

    lengths int (N,). Yields positions int (B,), B at most batch_size. Items are shuffled, sorted by
    length within groups of several batches, cut into batches, and the batches are shuffled. Small
    data sets use small groups, so that batches differ between epochs.
    """
    count = len(lengths)
    groups = int(np.clip(np.ceil(count / batch_size) // 3, 1, MEGA))
    order = rng.permutation(count)
    batches = []
    for start in range(0, count, groups * batch_size):
        group = order[start : start + groups * batch_size]
        group = group[np.argsort(lengths[group], kind="stable")]
        batches += [group[at : at + batch_size] for at in range(0, len(group), batch_size)]
    for number in rng.permutation(len(batches)):
        yield batches[number]


def resampled(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """N of N items, int64 (N,) in random order, each drawn in proportion to its weight.

    weights float (N,), positive. Low variance: an item with expected count x is drawn floor(x) or
    ceil(x) times, and the total for all items of equal weight is also rounded only once.
    Source: systematic sampling, Madow and Madow 1944.
    """
    count = len(weights)
    order = rng.permutation(count)
    order = order[np.argsort(weights[order], kind="stable")]
    expected = np.cumsum(weights[order]) * (count / weights.sum())
    chosen = np.searchsorted(expected, rng.random() + np.arange(count), side="right")
    return rng.permutation(order[np.minimum(chosen, count - 1)])


def expected(
    targets: Mapping[str, Sequence[np.ndarray]], weights: np.ndarray | None
) -> Mapping[str, Sequence[np.ndarray]]:
    """The targets of an epoch: those of every input, or of inputs drawn by `weights` (N,)."""
    if weights is None:
        return targets
    chosen = resampled(weights, np.random.default_rng(0))
    return {name: [rows[at] for at in chosen] for name, rows in targets.items()}


def drawn(
    lengths: np.ndarray,
    batch_size: int,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """The batches of an epoch: every item once, or drawn by `weights` (N,)."""
    if weights is None:
        yield from bucketed(lengths, batch_size, rng)
        return
    items = resampled(weights, rng)
    for chosen in bucketed(lengths[items], batch_size, rng):
        yield items[chosen]


class CheapDropout(nn.Module):
    """Dropout with masks from random bytes, eight per 64-bit word (p in steps of 1/256).

    On a CPU, torch draws one number per element, which costs more than the preceding matrix
    product (12.6 compared with 2.8 ns per element).
    """

    def __init__(self, p: float, rng: np.random.Generator):
        super().__init__()
        self.p = p  # attention code reads it
        self.rng = rng

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape; the same shape with elements set to 0 and the others scaled."""
        level = round(256 * self.p)
        if not self.training or not level:
            return x
        count = x.numel()
        drawn = self.rng.integers(0, 2**64, (count + 7) // 8, dtype=np.uint64).view(np.uint8)[
            :count
        ]
        return x * _mask(drawn >= level, 256 / (256 - level), x.dtype).view(x.shape)


def _mask(keep: np.ndarray, factor: float, dtype: torch.dtype) -> Tensor:
    """`factor` where `keep`, 0 elsewhere. The bits of the number are multiplied as integers: torch
    converts bool to a float 8 times as slowly (bf16).
    """
    number = torch.tensor(factor, dtype=dtype)
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    bits = number.view(whole).numpy()
    mask = keep.astype(bits.dtype)
    mask *= bits
    return torch.from_numpy(mask).view(dtype)


def use_cheap_dropout(model: nn.Module, seed: int, process: int = 0) -> int:
    """Replace every plain dropout of a model on the CPU by CheapDropout; returns their number.

    Each process that trains the model has masks of its own.
    """
    rng = np.random.Generator(np.random.SFC64((seed, process) if process else seed))
    dropouts = [
        (parent, name, named_child)
        for parent in model.modules()
        for name, named_child in parent.named_children()
        if type(named_child) is nn.Dropout
    ]
    for parent, name, dropout in dropouts:
        setattr(parent, name, CheapDropout(dropout.p, rng).train(dropout.training))
    return len(dropouts)


def replayed(model: nn.Module) -> Callable[[], tuple[Contexts, Contexts]]:
    """The `context_fn` of torch's checkpoint: what is computed again has the same dropout masks."""
    cheap = [module for module in model.modules() if isinstance(module, CheapDropout)]
    generators = [*{id(module.rng): module.rng.bit_generator for module in cheap}.values()]

    def contexts() -> tuple[Contexts, Contexts]:
        before = [generator.state for generator in generators]
        return nullcontext(), again(before)

    @contextmanager
    def again(before: Sequence[Any]) -> Iterator[None]:
        after = [generator.state for generator in generators]
        try:
            put(before)
            yield
        finally:
            put(after)

    def put(states: Sequence[Any]) -> None:
        for generator, state in zip(generators, states, strict=True):
            generator.state = state

    return contexts


def weighted(losses: Mapping[str, Loss], usual: Mapping[str, float | None]) -> Tensor:
    """The loss to minimize, a scalar: every target has the same weight in every batch.

    `usual`: target → its usual count in a batch, see `Task.usual_counts`.
    """
    parts = (
        loss.total / (usual.get(name) or loss.count.clamp(min=1)) for name, loss in losses.items()
    )
    return cast(Tensor, sum(parts))


def added(losses: Mapping[str, Loss], others: Mapping[str, Loss]) -> dict[str, Loss]:
    """The losses of two parts of a batch as those of both."""
    both = dict(losses)
    for name, loss in others.items():
        total, count = both.get(name, Loss(torch.zeros(()), torch.zeros(())))
        both[name] = Loss(total + loss.total, count + loss.count)
    return both
