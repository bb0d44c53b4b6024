"""The network of one character language model, with the arithmetic of flair's LanguageModel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from workbench.models.families.char_lm.info.files import LanguageModelFile
from workbench.models.recurrent import lstm, ready, reordered

KINDS = {"lstm": nn.LSTM, "gru": nn.GRU}
MAX_POSITIONS = 1 << 14  # characters of all rows in one call: bounds memory without gradients
MIN_CHARACTERS = 16  # in one call: shorter ones cost more than they save
Memory = tuple[Any, ...]  # of each layer, its hidden state, or (hidden, cell)


class CharacterEmbedding(nn.Module):
    """Embeddings of characters."""

    def __init__(self, size: int, width: int, dropout: float):
        super().__init__()
        self.table = nn.Embedding(size, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """ids int (B, T). Returns (B, T, width)."""
        vectors: Tensor = self.dropout(self.table(ids))
        return vectors


class RecurrentLayer(nn.Module):
    """One recurrent layer and the dropout above it."""

    def __init__(self, kind: str, below: int, width: int, dropout: float):
        super().__init__()
        self.rnn = KINDS[kind](below, width, batch_first=True)
        self.dropout = nn.Dropout(dropout)

    def read(self, states: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """(B, C, below) → (B, C, width) and the memory after it, None in a graph of an LSTM."""
        if torch.compiler.is_exporting() and isinstance(self.rnn, nn.LSTM):
            return lstm(states, None, list(self.rnn.parameters()), width=self.rnn.hidden_size)
        states_and_memory: tuple[Tensor, Any] = ready(self.rnn)(states, memory)
        return states_and_memory


class CharacterModel(nn.Module):
    """Character ids in reading order → states of every layer, and logits of the next character.

    width: of the states, after the projection. settings: what the file states besides weights.
    """

    def __init__(self, sizes: LanguageModelFile, dropout: float):
        super().__init__()
        self.characters = CharacterEmbedding(sizes.size, sizes.embedding, dropout)
        self.layers = nn.ModuleList(
            RecurrentLayer(
                sizes.recurrent, sizes.width if number else sizes.embedding, sizes.width, dropout
            )
            for number in range(sizes.layers)
        )
        self.projection = nn.Linear(sizes.width, sizes.output) if sizes.output else None
        self.decoder = nn.Linear(sizes.states, sizes.size) if sizes.decoder else None
        self.width = sizes.states
        self.settings: dict[str, Any] = {}
        self._initialize()

    def _initialize(self) -> None:
        """As flair does; the recurrent layers as torch does."""
        nn.init.uniform_(self.characters.table.weight, -0.1, 0.1)
        if self.decoder is not None:
            nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
            nn.init.zeros_(self.decoder.bias)
        if self.projection is not None:
            limit = math.sqrt(3.0 / sum(self.projection.weight.shape))
            nn.init.uniform_(self.projection.weight, -limit, limit)

    def forward(self, ids: Tensor, memory: Memory | None = None) -> tuple[list[Tensor], Memory]:
        """ids (B, C) → states (B, C, width) of every layer, and the memory after the last one."""
        below, layers, after = self.characters(ids), [], []
        for number, layer in enumerate(cast(Iterable[RecurrentLayer], self.layers)):
            hidden, layer_memory = layer.read(below, memory[number] if memory is not None else None)
            below = layer.dropout(hidden)
            above = layer.dropout(self.projection(hidden)) if self.projection is not None else below
            layers.append(above)
            after.append(layer_memory)
        return layers, tuple(after)

    def at(self, ids: Tensor, positions: Tensor) -> list[Tensor]:
        """States (B, T, width) of every layer after the characters at `positions` (B, T).

        Reads in chunks, so that without gradients only a chunk is in memory, and leaves out rows
        whose last position was read: with rows of different length this is faster on the CPU than
        a packed sequence, for which torch does not use oneDNN.
        """
        if torch.compiler.is_exporting():
            states, _memory = self(ids)
            return [reordered(hidden, positions) for hidden in states]
        lengths, order = (positions.amax(1) + 1).sort(descending=True)
        ids, positions = ids[order], positions[order]
        picked: list[list[Tensor]] = [[] for _layer in self.layers]
        places, memory = [], None
        for start, end, rows in _chunks(lengths.tolist()):
            states, memory = self(ids[:rows, start:end], _first(memory, rows))
            here = positions[:rows] - start
            row, column = ((here >= 0) & (here < end - start)).nonzero(as_tuple=True)
            places.append((order[row], column))
            for number, hidden in enumerate(states):
                picked[number].append(hidden[row, here[row, column]])
        where = tuple(torch.cat(pair) for pair in zip(*places, strict=True))
        return [_placed(positions.shape, where, torch.cat(states)) for states in picked]

    def word_embeddings(self, ids: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Mean embedding (B, T, width) of the characters [start, end) of each word.

        Embeddings narrower than the states are filled with zeros, wider ones are cut.
        """
        table = self.characters.table(ids)  # (B, C, E)
        sums = nn.functional.pad(table.cumsum(1), (0, 0, 1, 0))
        means = reordered(sums, ends) - reordered(sums, starts)
        means = means / (ends - starts).clamp(min=1).unsqueeze(-1)
        return nn.functional.pad(means, (0, self.width - means.shape[-1]))


def _chunks(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Start and end of each chunk and its rows, the first ones; `lengths` in falling order.

    A chunk ends when an eighth of its rows has ended, or at MAX_POSITIONS.
    """
    chunks, start, rows = [], 0, len(lengths)
    while rows:
        rows_after = rows - rows // 8
        end = lengths[min(rows_after, rows - 1)] if rows > 1 else lengths[0]
        end = max(end, start + MIN_CHARACTERS)
        end = min(end, lengths[0], start + max(MIN_CHARACTERS, MAX_POSITIONS // rows))
        chunks.append((start, end, rows))
        start = end
        while rows and lengths[rows - 1] <= start:
            rows -= 1
    return chunks


def _first(memory: Memory | None, rows: int) -> Memory | None:
    if memory is None:
        return None
    return tuple(
        tuple(item[:, :rows].contiguous() for item in layer_memory)
        if isinstance(layer_memory, tuple)
        else layer_memory[:, :rows].contiguous()
        for layer_memory in memory
    )


def _placed(shape: torch.Size, where: tuple[Tensor, ...], states: Tensor) -> Tensor:
    """states (N, H) at rows and columns `where` of a (B, T, H) tensor."""
    placed = states.new_zeros(*shape, states.shape[-1])
    return placed.index_put(where, states)
