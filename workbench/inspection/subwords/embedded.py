"""The embeddings that an encoder looks up for each token, observed during a forward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from workbench.inspection.subwords.info import EmbeddingParts
from workbench.models.base import Encoder
from workbench.runtime.inputs import EncodedInput, stack

TOKEN, POSITION, SEGMENT = "token", "position", "segment"
Lookups = dict[str, tuple[list[int | None], Tensor]]  # part → T ids, vectors (T, E)


class _Enough(Exception):
    """All embeddings have been looked up: the layers need not be computed."""


def embedded(encoder: Encoder, piece: EncodedInput) -> tuple[EmbeddingParts, ...]:
    """One per unit of the input; () if the encoder looks up no embedding per token."""
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()}
    with torch.inference_mode(), _observed(encoder, len(piece)) as lookups, suppress(_Enough):
        encoder(inputs)
    if TOKEN not in lookups:
        return ()
    width = lookups[TOKEN][1].shape[-1]
    vectors = {part: vector for part, (_ids, vector) in lookups.items()}
    summed = sum(
        (vector for vector in vectors.values() if vector.shape[-1] == width), torch.zeros(())
    )
    norms = {part: vector.norm(dim=-1).tolist() for part, vector in vectors.items()}
    total = torch.as_tensor(summed).norm(dim=-1).tolist()
    ids = {part: numbers for part, (numbers, _vector) in lookups.items()}
    return tuple(
        EmbeddingParts(
            ids[SEGMENT][at] if SEGMENT in ids else None,
            ids[POSITION][at] if POSITION in ids else None,
            norms[TOKEN][at],
            norms[POSITION][at] if POSITION in norms else None,
            norms[SEGMENT][at] if SEGMENT in norms else None,
            total[at],
        )
        for at in range(len(piece))
    )


@dataclass(frozen=True)
class EmbeddingTable:
    """A table that gives one vector per unit for its id.

    transposed: it is asked for ids (T, B), as XLNet does, rather than (B, T).
    """

    table: nn.Embedding
    transposed: bool = False

    def as_asked(self, vectors: Tensor) -> Tensor:
        """Vectors (B, T, E) as the table gives them to the model."""
        return vectors.transpose(0, 1) if self.transposed else vectors


def token_table(encoder: Encoder, piece: EncodedInput) -> EmbeddingTable | None:
    """The table of the tokens of an encoder; None if there is none."""
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()}
    recorded: list[EmbeddingTable] = []
    ids = inputs.get("input_ids", torch.zeros((0, 0)))

    def keep(table: nn.Module, arguments: tuple[Tensor, ...], _vectors: Tensor) -> None:
        for transposed, token_ids in ((False, ids), (True, ids.T)):
            if arguments and torch.equal(arguments[0], token_ids):
                recorded.append(EmbeddingTable(cast(nn.Embedding, table), transposed))
                raise _Enough

    tables = [module for module in encoder.modules() if isinstance(module, nn.Embedding)]
    handles = [table.register_forward_hook(keep) for table in tables]
    try:
        with torch.inference_mode(), suppress(_Enough):
            encoder(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return recorded[0] if recorded else None


@contextmanager
def _observed(encoder: Encoder, units: int) -> Iterator[Lookups]:
    """Collect what tables of embeddings are asked for, one vector per unit.

    The forward pass ends with `_Enough` at the first layer.
    """
    lookups: Lookups = {}
    named = (
        (name, named_module)
        for name, named_module in encoder.named_modules()
        if isinstance(named_module, nn.Embedding)
    )
    handles = [
        table.register_forward_hook(partial(_keep, lookups, _part(name), units))
        for name, table in named
    ]
    parts = encoder.parts()
    layers = parts.modules[len(parts.modules) - len(parts.layers) :]
    handles += [layer.register_forward_pre_hook(_end) for layer in layers]
    try:
        yield lookups
    finally:
        for handle in handles:
            handle.remove()


def _end(_layer: nn.Module, _given: object) -> None:
    raise _Enough


def _part(name: str) -> str:
    """What a table holds, by the name of its module: all families of transformers keep to it."""
    own = name.rpartition(".")[2].lower()
    if "type" in own or "segment" in own:
        return SEGMENT
    return POSITION if "pos" in own or own == "wpe" else TOKEN


def _keep(
    lookups: Lookups,
    part: str,
    units: int,
    table: nn.Embedding,
    arguments: tuple[Tensor, ...],
    vectors: Tensor,
) -> None:
    # a table of distances is asked for (T, T) numbers and is not part of the sum
    if part in lookups or vectors.dim() > 3 or vectors.shape[-2] != units:
        return
    vector = vectors.detach().float().reshape(-1, units, vectors.shape[-1])[0].cpu()
    lookups[part] = _ids(table, arguments, vectors), vector


def _ids(table: nn.Embedding, arguments: tuple[Tensor, ...], vectors: Tensor) -> list[int | None]:
    """The rows that were looked up; None where a table counts them itself, as in OPT."""
    unknown: list[int | None] = [None] * vectors.shape[-2]
    if (
        not arguments
        or arguments[0].is_floating_point()
        or arguments[0].shape[-1:] != (len(unknown),)
    ):
        return unknown
    ids = arguments[0].reshape(-1, len(unknown))[0]
    if int(ids.min()) < 0 or int(ids.max()) >= table.num_embeddings:
        return unknown
    same = torch.allclose(table.weight[ids], vectors.reshape(-1, *vectors.shape[-2:])[0])
    return ids.tolist() if same else unknown
