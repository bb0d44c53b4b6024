"""The bidirectional language model as an encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from workbench.models.base import Encoder, Parts, States
from workbench.models.families.elmo.info import DIRECTIONS
from workbench.models.families.elmo.info.options import Sizes, cell_name
from workbench.models.families.elmo.network import ElmoCharacterCnn, Memory, ProjectedLstm, scanned
from workbench.models.recurrent import StreamTokens
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK, EncodedInput
from workbench.runtime.preparers.characters import CHARACTERS, WordCharacters

LayerMemory = tuple[Memory, ...]  # of one direction, from the lowest layer up


START, END, UNKNOWN = "<S>", "</S>", "<UNK>"  # in the vocabulary of the output layer


class Softmax(nn.Module):
    """The output layer of the language model, shared by both directions. words: its vocabulary."""

    def __init__(self, words: Sequence[str], width: int):
        super().__init__()
        self.words = tuple(words)
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self.W = nn.Parameter(torch.empty(len(self.words), width))
        self.b = nn.Parameter(torch.empty(len(self.words)))
        self.initialize()

    def number(self, word: str) -> int:
        """The output of a word, that of UNKNOWN for words that it does not have."""
        return self.numbers.get(word, self.numbers.get(UNKNOWN, 0))

    def forward(self, states: Tensor) -> Tensor:
        """states (…, P) → logits (…, V)."""
        return nn.functional.linear(states, self.W, self.b)

    def initialize(self) -> None:
        nn.init.normal_(self.W, 0.0, self.W.shape[1] ** -0.5)
        nn.init.zeros_(self.b)


class ElmoEncoder(Encoder):
    """States of every layer: [x; x] of the character CNN, then [forward; backward] of each LSTM.

    Each sentence is read between <S> and </S>, whose states are left out. directions: the language
    models that it consists of. softmax: their output layer, None if the files have none.
    """

    preparer: WordCharacters
    input_names = (CHARACTERS, MASK)
    directions = DIRECTIONS
    regularization = (0.0, 0.0)

    def __init__(
        self, info: ModelInfo, sizes: Sizes, preparer: WordCharacters, *, dropout: float = 0.0
    ):
        super().__init__()
        self.info, self.sizes, self.preparer = info, sizes, preparer
        self.max_length = info.max_length
        self.cnn = ElmoCharacterCnn(sizes)
        self.layers = nn.ModuleList(
            nn.ModuleDict({direction: ProjectedLstm(sizes) for direction in DIRECTIONS})
            for _layer in range(sizes.layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.softmax: Softmax | None = None
        marks = torch.from_numpy(preparer.boundaries()).long()
        self.register_buffer("marks", marks, persistent=False)  # (2, M): <S>, </S>

    @property
    def feed_forward(self) -> int:
        return self.sizes.cell

    # ---------------------------------------------------------------- states

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """Layers (B, T, H), the directions concatenated, the words first; without a memory."""
        return self.remember(inputs, None)[0]

    def remember(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, LayerMemory] | None
    ) -> tuple[States, dict[str, LayerMemory]]:
        """The states, layers (B, T, H), and the memory of each direction for the same row of the
        next batch.

        The original keeps its memory between batches: the final state of a sentence is the initial
        state of the next. None is the initial state of zeros.
        """
        mask = inputs[MASK].bool()
        is_word = mask & (inputs[CHARACTERS][..., 0] > 0)
        words = self.words(inputs[CHARACTERS], is_word)
        sentence, lengths = self._between_marks(words, is_word)
        by_direction, after = self._read_all(sentence, lengths, memory)
        pairs = (torch.cat(pair, -1)[:, 1:-1] for pair in zip(*by_direction, strict=True))
        layers = [torch.cat([words, words], -1), *pairs]
        return States(tuple(layer * is_word[..., None] for layer in layers), mask, None), after

    def words(self, characters: Tensor, mask: Tensor) -> Tensor:
        """The vectors of the character CNN, (B, T, M) → (B, T, P), zero where `mask` is False."""
        if torch.compiler.is_exporting():
            flat: Tensor = self.cnn(characters.flatten(0, 1))
            whole: Tensor = flat.unflatten(0, mask.shape) * mask[..., None]
            return whole
        vectors = self.cnn.of_words(characters[mask])
        padded = vectors.new_zeros(*mask.shape, vectors.shape[-1])
        return padded.masked_scatter(mask[..., None], vectors)

    def _between_marks(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, P) → (B, T + 2, P) with <S> before and </S> after each row, and its lengths."""
        start, end = self.cnn(self.marks)
        lengths = mask.sum(-1)
        padded = torch.cat([words, torch.zeros_like(words[:, :1])], 1)  # (B, T + 1, P)
        positions = torch.arange(padded.shape[1], device=words.device)
        padded = torch.where((positions == lengths[:, None])[..., None], end, padded)
        first = start.expand(words.shape[0], 1, -1)
        return torch.cat([first, padded], 1), lengths + 2

    def _read_all(
        self, sentence: Tensor, lengths: Tensor, memory: Mapping[str, LayerMemory] | None
    ) -> tuple[list[list[Tensor]], dict[str, LayerMemory]]:
        """The layers of each direction, (B, T, P) in the order of the text, and their memory."""
        if torch.compiler.is_exporting():
            return self._scanned(sentence, lengths), {}
        by_direction, after = [], {}
        for direction in self.directions:
            before = memory[direction] if memory else None
            x = self._in_order(sentence, lengths, direction)
            states, after[direction] = self._run(direction, x, lengths, before)
            by_direction.append([self._in_order(layer, lengths, direction) for layer in states])
        return by_direction, after

    def _run(
        self, direction: str, x: Tensor, lengths: Tensor, memory: LayerMemory | None
    ) -> tuple[list[Tensor], LayerMemory]:
        """The outputs of each layer, (B, T, P) in reading order, and the memory after each row."""
        layers = cast(Iterable[nn.ModuleDict], self.layers)
        cells = [cast(ProjectedLstm, layer[direction]) for layer in layers]
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        sizes, order = packed.batch_sizes.tolist(), packed.sorted_indices
        layer_outputs, after, data = [], [], packed.data
        for number, cell in enumerate(cells):
            before = memory[number] if memory else _zeros(cell, x)
            outputs, ended = cell.packed(
                self.dropout(data), sizes, (before[0][order], before[1][order])
            )
            data = outputs + data if number and self.sizes.skip else outputs
            output, inner = (part[packed.unsorted_indices] for part in ended)
            after.append((output, inner))
            layer = PackedSequence(data, packed.batch_sizes, order, packed.unsorted_indices)
            layer_outputs.append(
                pad_packed_sequence(layer, batch_first=True, total_length=x.shape[1])[0]
            )
        return layer_outputs, tuple(after)

    def _scanned(self, sentence: Tensor, lengths: Tensor) -> list[list[Tensor]]:
        """The outputs of each layer of each direction, (B, T, P), of sentences (B, T, P).

        As `_run` in every direction, over padded rows: what follows the end of a row changes no
        state of it. Both directions are one loop.
        """
        x = torch.stack([self._in_order(sentence, lengths, name) for name in self.directions])
        by_direction: list[list[Tensor]] = [[] for _direction in self.directions]
        for number, layer in enumerate(cast(Iterable[nn.ModuleDict], self.layers)):
            outputs = scanned([cast(ProjectedLstm, layer[name]) for name in self.directions], x)
            x = outputs + x if number and self.sizes.skip else outputs
            for states, part, name in zip(by_direction, x.unbind(), self.directions, strict=True):
                states.append(self._in_order(part, lengths, name))
        return by_direction

    def _in_order(self, x: Tensor, lengths: Tensor, direction: str) -> Tensor:
        """(B, T, …) from the order of the text to that of the direction, or back."""
        return x if direction == "next" else _reversed(x, lengths)

    # ---------------------------------------------------------------- language models

    def read(
        self, inputs: Mapping[str, Tensor], direction: str, memory: LayerMemory | None = None
    ) -> tuple[Tensor, LayerMemory]:
        """The top layer of one direction, (B, T, P), and its memory after the last position.

        Inputs are in reading order: for "previous" the last word first. <S> and </S> are not
        added: pretraining reads them as words of a stream.
        """
        mask = inputs[MASK].bool()
        words = self.words(inputs[CHARACTERS], mask)
        layers, memory = self._run(direction, words, mask.sum(-1), memory)
        return layers[-1], memory

    def stream(self, paragraphs: Sequence[str], direction: str) -> StreamTokens:
        """The words of each paragraph between <S> and </S>, in reading order."""
        softmax, marks = self._softmax(), self.preparer.boundaries()
        rows, targets = [], []
        for text in paragraphs:
            tokens = self.preparer.units(text, self.preparer.words_of(text), 0)
            rows += [marks[:1], self.preparer.arrays(tokens)[CHARACTERS], marks[1:]]
            targets += [softmax.number(word) for word in (START, *tokens.words, END)]
        step = 1 if direction == "next" else -1
        characters = np.concatenate(rows)[::step].astype(np.int64)
        inputs = {CHARACTERS: characters, MASK: np.ones(len(characters), np.int64)}
        words = len(targets) - 2 * len(paragraphs)
        return StreamTokens(inputs, np.array(targets, np.int64)[::step], words)

    def dropped(self, states: Tensor) -> Tensor:
        """(B, T, width), unchanged."""
        return states

    def scores(self, states: Tensor, direction: str) -> Tensor:
        """Logits (…, V) of the next word in reading order, from states (…, P) of `read`."""
        logits: Tensor = self._softmax()(states)
        return logits

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Logits (B, T, V) of the word after each, or before it for a backward head."""
        return self.scores(self._top(inputs), self.head)

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Logits at `positions` (B, K) only: (B, K, V)."""
        top = self._top(inputs)
        index = positions[..., None].expand(-1, -1, top.shape[-1])
        return self.scores(top.gather(1, index), self.head)

    def vocable(self, number: int) -> str:
        return self._softmax().words[number]

    def vocable_ids(self, encoded: EncodedInput) -> np.ndarray:
        """int (T,): -1 for words that are longer than the character CNN reads, and unknown ones."""
        known = self._softmax().numbers
        return np.array([known.get(word, -1) for word in self.preparer.pieces(encoded)])

    def _softmax(self) -> Softmax:
        if self.softmax is None:
            raise NotImplementedError("These files have no softmax")
        return self.softmax

    def _top(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The direction of the loaded head, (B, T, P)."""
        halves: tuple[Tensor, ...] = self(inputs).layers[-1].chunk(2, -1)
        return halves[self.directions.index(self.head)]

    # ---------------------------------------------------------------- parameters

    def parts(self) -> Parts:
        layers = tuple(tuple(layer.parameters()) for layer in self.layers)
        return Parts(tuple(self.cnn.parameters()), layers, (), (self.cnn, *self.layers))

    def datasets(self) -> dict[str, nn.Parameter]:
        """Name in the file → parameter, without those of the softmax."""
        datasets = dict(self.cnn.datasets())
        for direction, name in enumerate(self.directions):
            for number, layer in enumerate(self.layers):
                cell = cast(nn.ModuleDict, layer)[name]
                for key, parameter in cell.named_parameters():
                    datasets[f"{cell_name(direction, number)}/{key}"] = parameter
        return datasets

    def initialize(self) -> None:
        """New random weights, distributed as in the original's training."""
        self.cnn.initialize()
        for layer in self.layers:
            for cell in cast(nn.ModuleDict, layer).values():
                cast(ProjectedLstm, cell).initialize()
        if self.softmax is not None:
            self.softmax.initialize()


def _zeros(cell: ProjectedLstm, x: Tensor) -> Memory:
    return x.new_zeros(x.shape[0], cell.width), x.new_zeros(x.shape[0], cell.cell)


def _reversed(x: Tensor, lengths: Tensor) -> Tensor:
    """Each row (T, …) of x backwards up to its length; what follows is arbitrary."""
    positions = torch.arange(x.shape[1], device=x.device)
    index = (lengths[:, None] - 1 - positions).clamp(min=0)
    return x.gather(1, index[..., None].expand_as(x))
