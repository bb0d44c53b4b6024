"""Logits of texts that share their beginning, from the keys and values that causal models keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from workbench.models.base import Branches, Encoder, shared_length
from workbench.runtime.inputs import MASK

Memory = list[tuple[Tensor, Tensor]]  # keys and values of each layer, each (1, heads, T, width)


def branched(encoder: Encoder, texts: Sequence[Branches]) -> Iterator[list[Tensor]]:
    """Logits (1 + S, V) for each end of each text, see Encoder.branched_logits."""
    memory: Memory = []
    before: Sequence[int] = ()
    for text, ends in texts:
        shared = min(shared_length(before, text), len(text) - 1)
        first, memory = _begun(encoder, text, memory, shared)
        before = text
        yield [torch.cat([first, rest]) for rest in _ended(encoder, memory, ends)]


class ContinuedRows:
    """See `models.base.Continued`."""

    def __init__(self, encoder: Encoder, text: Sequence[int]):
        self._encoder, self._length = encoder, len(text)
        self._first, self._memory = _begun(encoder, text, [], 0)
        self._last: tuple[list[list[int]], DynamicCache] | None = None  # rows that were read

    @torch.inference_mode()
    def logits(self, added: Sequence[Sequence[int]]) -> Tensor:
        """(B, V) after each of the B rows; see `Continued.logits`."""
        rows = [list(row) for row in added]
        if not rows[0]:
            return self._first.expand(len(rows), -1)
        if self._last is not None and self._last[0] == [row[:-1] for row in rows]:
            new, cache = [row[-1:] for row in rows], self._last[1]
        else:
            new, cache = rows, _cache(self._memory, self._length, rows=len(rows))
        ids = torch.tensor(new, device=self._encoder.device)
        last = torch.full((len(rows), 1), ids.shape[1] - 1, device=ids.device)
        inputs = _inputs(ids, cache, self._length + len(rows[0]))
        logits = self._encoder.logits_at(inputs, last)[:, 0]  # (B, 1, V) → (B, V)
        self._last = rows, cache
        return logits


@torch.inference_mode()
def _begun(
    encoder: Encoder, text: Sequence[int], memory: Memory, shared: int
) -> tuple[Tensor, Memory]:
    """The logits (1, V) after `text`, and its memory.

    `memory` is of a text that begins with the first `shared` tokens of this one.
    """
    cache = _cache(memory, shared, rows=1)
    new = torch.tensor([text[shared:]], device=encoder.device)
    last = torch.tensor([[new.shape[1] - 1]], device=encoder.device)
    logits = encoder.logits_at(_inputs(new, cache, len(text)), last)
    layers: list[Any] = cache.layers
    return logits[0], [(layer.keys, layer.values) for layer in layers]


@torch.inference_mode()
def _ended(encoder: Encoder, memory: Memory, ends: Sequence[Sequence[int]]) -> list[Tensor]:
    """The logits (S, V) after each token of each end of the text of `memory`."""
    length, most = memory[0][0].shape[2], max(map(len, ends))
    if not most:
        empty = torch.empty(0, encoder.word_embeddings.shape[0], device=encoder.device)
        return [empty] * len(ends)
    new = torch.tensor([[*end, *[0] * (most - len(end))] for end in ends], device=encoder.device)
    where = torch.arange(most, device=encoder.device).expand(len(ends), -1)
    cache = _cache(memory, length, rows=len(ends))
    logits = encoder.logits_at(_inputs(new, cache, length + most), where)  # (N, S, V)
    return [rows[: len(end)] for rows, end in zip(logits, ends, strict=True)]


def _inputs(ids: Tensor, cache: DynamicCache, length: int) -> dict[str, Any]:
    """Padding is on the right, where no token of an end attends to it, so nothing is masked."""
    mask = torch.ones(len(ids), length, dtype=torch.long, device=ids.device)
    return {"input_ids": ids, MASK: mask, "past_key_values": cache, "use_cache": True}


def _cache(memory: Memory, length: int, *, rows: int) -> DynamicCache:
    """A cache of the first `length` tokens for as many equal rows."""
    if not length:
        return DynamicCache()
    pairs = [(keys[:, :, :length], values[:, :, :length]) for keys, values in memory]
    return DynamicCache([tuple(table.expand(rows, -1, -1, -1) for table in pair) for pair in pairs])
