"""Logits of texts that share their beginning, from the keys and values that causal models keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers import DynamicCache

from workbench.models.base import Branches, Encoder, Growing, shared_length
from workbench.runtime.inputs import MASK

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

SHARED = 16  # tokens at the beginning of texts that are worth a pass of their own
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
        inputs = _inputs(ids, cache, _full(ids, self._length + len(rows[0])))
        logits = self._encoder.logits_at(inputs, last)[:, 0]  # (B, 1, V) → (B, V)
        self._last = rows, cache
        return logits


class GrowingRows:
    """See `models.base.Growing`. Rows are padded on the left, behind what all of them share.

    share: whether the model keeps keys and values of all tokens. positions: whether it takes the
    positions of tokens.
    """

    logits: Tensor

    @torch.inference_mode()
    def __init__(
        self,
        encoder: Encoder,
        texts: Sequence[Sequence[int]],
        before: Growing | None,
        *,
        config: PreTrainedConfig,
        share: bool,
        positions: bool,
    ):
        self._encoder, self._positions = encoder, positions
        known = (before.shared, before.memory) if isinstance(before, GrowingRows) else ((), [])
        self.shared, self.memory = _shared(encoder, texts, *known) if share else ((), [])
        length = len(self.shared)
        most = max(map(len, texts))
        rows = [[0] * (most - len(text)) + list(text[length:]) for text in texts]
        ids = torch.tensor(rows, device=encoder.device)
        padding = torch.tensor([[most - len(text)] for text in texts], device=ids.device)
        real = torch.arange(most - length, device=ids.device) >= padding  # (B, T)
        self._mask = torch.cat([real.new_ones(len(texts), length), real], 1).long()
        if length:
            self._cache = _cache(self.memory, length, rows=len(texts))
        else:
            self._cache = DynamicCache(config=config)
        self._read(ids)

    @torch.inference_mode()
    def grow(self, rows: Sequence[int], ids: Sequence[int]) -> None:
        """See `models.base.Growing`."""
        if len(rows) < len(self._mask):
            index = torch.tensor(rows, device=self._mask.device)
            self._mask = self._mask[index]
            self._cache.batch_select_indices(index)
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(rows), 1)], 1)
        self._read(torch.tensor(ids, device=self._mask.device)[:, None])

    def _read(self, ids: Tensor) -> None:
        inputs = _inputs(ids, self._cache, self._mask)
        if self._positions:
            positions = (self._mask.cumsum(1) - 1).clamp(min=0)
            inputs["position_ids"] = positions[:, -ids.shape[1] :]
        last = torch.full((len(ids), 1), ids.shape[1] - 1, device=ids.device)
        self.logits = self._encoder.logits_at(inputs, last)[:, 0]  # (B, 1, V) → (B, V)


def _shared(
    encoder: Encoder,
    texts: Sequence[Sequence[int]],
    known: Sequence[int],
    memory: Memory,
) -> tuple[Sequence[int], Memory]:
    """What all texts share at their beginning but a last token, and its memory; `memory` is that
    of `known`. Nothing if it is not worth a pass of its own.
    """
    rows = list(map(tuple, texts))
    first, last = min(rows), max(rows)
    length = min(shared_length(first, last), *(len(text) - 1 for text in texts))
    again = shared_length(known, first[:length])
    if len(texts) == 1:
        length = again
    if length < SHARED:
        return (), []
    if length > again:
        memory = _begun(encoder, first[:length], memory, again)[1]
    return first[:length], memory


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
    logits = encoder.logits_at(_inputs(new, cache, _full(new, len(text))), last)
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
    logits = encoder.logits_at(_inputs(new, cache, _full(new, length + most)), where)  # (N, S, V)
    return [rows[: len(end)] for rows, end in zip(logits, ends, strict=True)]


def _full(ids: Tensor, length: int) -> Tensor:
    """Padding is on the right, where no token of an end attends to it, so nothing is masked."""
    return torch.ones(len(ids), length, dtype=torch.long, device=ids.device)


def _inputs(ids: Tensor, cache: DynamicCache, mask: Tensor) -> dict[str, Any]:
    return {"input_ids": ids, MASK: mask, "past_key_values": cache, "use_cache": True}


def _cache(memory: Memory, length: int, *, rows: int) -> DynamicCache:
    """A cache of the first `length` tokens for as many equal rows."""
    if not length:
        return DynamicCache()
    pairs = [(keys[:, :, :length], values[:, :, :length]) for keys, values in memory]
    return DynamicCache([tuple(table.expand(rows, -1, -1, -1) for table in pair) for pair in pairs])
