"""The bidirectional language model: its layers, and the encoder that is made of them.

Layers: character CNN, highway layers, and LSTMs with projection and clipping. Parameters keep the
layout of the published files. Source: Peters et al. 2018; Kim et al. 2015, Character-Aware Neural
Language Models, for the CNN; https://github.com/allenai/bilm-tf (Apache-2.0) for the order of the
gates and the initialization.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from workbench.models.base import Encoder, Parts, States
from workbench.models.families.elmo.info import DIRECTIONS
from workbench.models.families.elmo.info.options import BYTES, Sizes, cell_name
from workbench.models.recurrent import StreamTokens
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK, EncodedInput
from workbench.runtime.preparers.characters import CHARACTERS, WordCharacters

CNN_BATCH_WORDS = 256  # in the CNN; bounds memory: the published model has 350 kB per word
FORGET_BIAS = 1.0  # added to the forget gate by TensorFlow's LSTM cell, not part of its bias
CARRY_BIAS = -2.0  # initially a highway layer mostly copies its input
Memory = tuple[Tensor, Tensor]  # output (B, P) and cell (B, C) of one LSTM


class ElmoCharacterCnn(nn.Module):
    """A word's characters → its vector: convolutions, maximum over positions, highway, projection.

    Every entry of `named` is a dataset of the file.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        wide, narrow = sizes.convolved, sizes.projection
        self.activation = torch.relu if sizes.activation == "relu" else torch.tanh
        self.table = _empty(BYTES, sizes.characters)
        self.kernels = nn.ParameterList(
            _empty(1, width, sizes.characters, count) for width, count in sizes.filters
        )
        self.biases = nn.ParameterList(_empty(count) for _width, count in sizes.filters)
        self.highways = nn.ModuleList(Highway(wide) for _number in range(sizes.highway))
        self.projection, self.bias = _empty(wide, narrow), _empty(narrow)

    def forward(self, characters: Tensor) -> Tensor:
        """characters int (N, M), 0 for no word → (N, P)."""
        table = torch.cat([self.table.new_zeros(1, self.table.shape[1]), self.table])
        embedded = F.embedding(characters, table).transpose(1, 2)  # (N, M, D) → (N, D, M)
        parts = []
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            convolved = F.conv1d(embedded, kernel[0].permute(2, 1, 0))  # (N, F, positions)
            parts.append(self.activation(convolved.amax(-1) + bias))
        hidden = torch.cat(parts, -1)
        for highway in self.highways:
            hidden = highway(hidden)
        return torch.addmm(self.bias, hidden, self.projection)

    def of_words(self, characters: Tensor) -> Tensor:
        """As `forward`, int (N, M) → (N, P), but equal words are computed once, a few at a time."""
        distinct, inverse = _distinct(characters)
        parts = [self(some) for some in distinct.split(CNN_BATCH_WORDS)]
        return torch.cat(parts)[inverse]

    def initialize(self) -> None:
        nn.init.uniform_(self.table, -1.0, 1.0)
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            if self.activation is torch.relu:
                nn.init.uniform_(kernel, -0.05, 0.05)
            else:
                nn.init.normal_(kernel, 0.0, math.sqrt(1 / (kernel.shape[1] * kernel.shape[2])))
            nn.init.zeros_(bias)
        for highway in self.highways:
            cast(Highway, highway).initialize()
        nn.init.normal_(self.projection, 0.0, 1 / math.sqrt(len(self.projection)))
        nn.init.zeros_(self.bias)

    def datasets(self) -> Iterator[tuple[str, nn.Parameter]]:
        yield "char_embed", self.table
        for number, (kernel, bias) in enumerate(zip(self.kernels, self.biases, strict=True)):
            yield f"CNN/W_cnn_{number}", kernel
            yield f"CNN/b_cnn_{number}", bias
        for number, highway in enumerate(self.highways):
            for name, parameter in highway.named_parameters():
                yield f"CNN_high_{number}/{name}", parameter
        yield "CNN_proj/W_proj", self.projection
        yield "CNN_proj/b_proj", self.bias


class Highway(nn.Module):
    """carry · relu(x W + b) + (1 - carry) · x. Source: Srivastava et al. 2015."""

    def __init__(self, width: int):
        super().__init__()
        self.W_carry, self.b_carry = _empty(width, width), _empty(width)
        self.W_transform, self.b_transform = _empty(width, width), _empty(width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, width) → (N, width)."""
        carry = torch.sigmoid(torch.addmm(self.b_carry, x, self.W_carry))
        new = torch.relu(torch.addmm(self.b_transform, x, self.W_transform))
        return x + carry * (new - x)  # torch.lerp refuses the mixed types of autocast

    def initialize(self) -> None:
        for weight in (self.W_carry, self.W_transform):
            nn.init.normal_(weight, 0.0, 1 / math.sqrt(len(weight)))
        nn.init.constant_(self.b_carry, CARRY_BIAS)
        nn.init.zeros_(self.b_transform)


class ProjectedLstm(nn.Module):
    """An LSTM with projected output, and limits on the magnitude of cell and output.

    torch's LSTM has no such limits. Source: Sak et al. 2014 for the projection.
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.W_0 = _empty(2 * sizes.projection, 4 * sizes.cell)  # rows: input, then output before
        self.B = _empty(4 * sizes.cell)
        self.W_P_0 = _empty(sizes.cell, sizes.projection)
        self.cell, self.width = sizes.cell, sizes.projection
        self.cell_clip = sizes.cell_clip or math.inf
        self.projection_clip = sizes.projection_clip or math.inf

    def inputs(self, x: Tensor) -> Tensor:
        """The gates' share of the inputs, (…, P) → (…, 4 C), computed for all positions at once."""
        ones = torch.full_like(self.B[: self.cell], FORGET_BIAS)
        shift = F.pad(ones, (2 * self.cell, self.cell))
        return F.linear(x, self.W_0[: self.width].t(), self.B + shift)

    def step(self, gates: Tensor, memory: Memory) -> Memory:
        """One position: gates (B, 4 C) from `inputs`."""
        output, cell = memory
        gates = torch.addmm(gates, output, self.W_0[self.width :])
        hidden, cell = self.through_gates(gates, cell)
        return self.clipped(hidden @ self.W_P_0), cell

    def through_gates(self, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Gates (…, 4 C) and the cell before (…, C) → what is projected and the cell, (…, C)."""
        enter, new, forget, leave = gates.chunk(4, -1)  # the order of TensorFlow: i, j, f, o
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        cell = cell.clamp(-self.cell_clip, self.cell_clip)
        return torch.sigmoid(leave) * torch.tanh(cell), cell

    def clipped(self, output: Tensor) -> Tensor:
        """Outputs (…, P) within the limits."""
        return output.clamp(-self.projection_clip, self.projection_clip)

    def packed(self, x: Tensor, sizes: Sequence[int], memory: Memory) -> tuple[Tensor, Memory]:
        """x (N, P) as in torch's PackedSequence: `sizes` are the rows at each position.

        Returns the outputs (N, P) and the memory of every row after its last position.
        """
        states, ended = [], []
        for gates in self.inputs(x).split(list(sizes)):
            rows = len(gates)
            if rows < len(memory[0]):
                ended.append(tuple(part[rows:] for part in memory))
                memory = memory[0][:rows], memory[1][:rows]
            memory = self.step(gates, memory)
            states.append(memory[0])
        ended.append(memory)
        outputs, cells = zip(*reversed(ended), strict=True)
        return torch.cat(states), (torch.cat(outputs), torch.cat(cells))

    def initialize(self) -> None:
        nn.init.xavier_uniform_(self.W_0)
        nn.init.xavier_uniform_(self.W_P_0)
        nn.init.zeros_(self.B)


def scanned(cells: Sequence[ProjectedLstm], x: Tensor) -> Tensor:
    """LSTMs of equal sizes side by side: x (D, B, T, P) → outputs (D, B, T, P).

    One loop of an ONNX graph computes all D of them. Their memory is zero before the first
    position.
    """
    # torch's `scan` has the step compiled to find its weights, which takes seconds; here they are
    # given to the operator.
    from torch._higher_order_ops.scan import scan_op

    first = cells[0]

    def step(output: Tensor, cell: Tensor, gates: Tensor, *weights: Tensor) -> list[Tensor]:
        gates = torch.baddbmm(gates, output, weights[0])  # (D, B, 4 C)
        hidden, cell = first.through_gates(gates, cell)
        output = first.clipped(torch.bmm(hidden, weights[1]))
        return [output, cell, output.clone()]

    pairs = zip(cells, x.unbind(), strict=True)
    gates = torch.stack([cell.inputs(part) for cell, part in pairs])  # (D, B, T, 4 C)
    zeros = [x.new_zeros(*x.shape[:2], width) for width in (first.width, first.cell)]
    weights = (
        torch.stack([cell.W_0[cell.width :] for cell in cells]),
        torch.stack([cell.W_P_0 for cell in cells]),
    )
    outputs: Tensor = scan_op(step, zeros, [gates.permute(2, 0, 1, 3)], weights)[-1]  # (T, D, B, P)
    return outputs.permute(1, 2, 0, 3)


def _empty(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(shape))


def _distinct(characters: Tensor) -> tuple[Tensor, Tensor]:
    """(distinct rows, the number of each row's) of characters (N, M).

    Rows are compared by a hash; torch.unique over whole rows takes longer than the CNN.
    """
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(1, 1 << 62, characters.shape[1:], generator=generator)
    keys = (characters * (factors * 2 + 1).to(characters.device)).sum(-1)
    _keys, inverse = keys.unique(return_inverse=True)
    first = inverse.new_zeros(len(_keys)).scatter_(
        0, inverse.flip(0), torch.arange(len(inverse), device=inverse.device).flip(0)
    )
    distinct = characters[first]
    if not torch.equal(distinct[inverse], characters):  # two words with one hash
        distinct, inverse = characters.unique(dim=0, return_inverse=True)
    return distinct, inverse


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
