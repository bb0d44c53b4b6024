"""AWD-LSTM as an encoder: states of every layer, and the scores of next or previous words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder, Parts, States
from workbench.models.families.awd_lstm.info.files import BACKWARD
from workbench.models.families.awd_lstm.info.weights import Network
from workbench.models.families.awd_lstm.network import AwdLstmLayer, Dropouts, Embeddings, locked
from workbench.models.recurrent import Memory, StreamTokens, backwards, reordered
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.fastai_words import FastaiWords

CHUNK = 72  # tokens through which gradients flow (bptt of fastai); states are carried further
LEARNED = 20 * CHUNK  # tokens at the end of a text that are learned from (max_len of fastai)
PREDICTED = 1024  # tokens per pass without gradients, which limits memory

Memories = tuple[Memory, ...]  # one per layer


class AwdLstm(Encoder):
    """Embeddings and LSTM layers, the last of which has the width of the embeddings.

    The layers below the last are wider, `sizes.hidden`. A model of the direction "previous" reads
    the tokens of a text from the last to the first; its states are in the order of the text.
    A long text is read in chunks with the states carried on, so that memory for gradients is
    bounded; see CHUNK and LEARNED.
    """

    input_names = ("input_ids", MASK)
    pooling = "concat"
    regularization = (2.0, 1.0)  # AR and TAR, as in fastai 2.8

    def __init__(
        self,
        info: ModelInfo,
        preparer: FastaiWords,
        sizes: Network,
        *,
        direction: str,
        dropouts: Dropouts,
        tied: bool = True,
        head: str = "",
    ):
        super().__init__()
        self.info, self.max_length = info, info.max_length
        self.preparer: FastaiWords = preparer
        self.sizes, self.dropouts, self.head = sizes, dropouts, head
        self.directions = (direction,)
        self.embeddings = Embeddings(sizes.vocabulary, sizes.width, dropouts)
        pairs = zip(self.widths[:-1], self.widths[1:], strict=True)
        layers = [AwdLstmLayer(inputs, width, dropouts) for inputs, width in pairs]
        self.layers = cast(Sequence[AwdLstmLayer], nn.ModuleList(layers))
        self.decoder_weight = None if tied else nn.Parameter(self.embeddings.weight.data.clone())
        self.decoder_bias = nn.Parameter(torch.zeros(sizes.vocabulary))

    @property
    def widths(self) -> tuple[int, ...]:
        sizes = self.sizes
        return (sizes.width, *[sizes.hidden] * (sizes.layers - 1), sizes.width)

    @property
    def feed_forward(self) -> int:
        return 4 * self.sizes.hidden

    @property
    def is_backward(self) -> bool:
        return self.directions == (BACKWARD,)

    def parts(self) -> Parts:
        top = [self.decoder_bias]
        if self.decoder_weight is not None:
            top.append(self.decoder_weight)
        return Parts(
            (self.embeddings.weight,),
            tuple(layer.weights for layer in self.layers),
            tuple(top),
            (self.embeddings, *self.layers),
        )

    # ---------------------------------------------------------------- states

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """States.layers: embeddings (B, T, width), then each layer (B, T, its width)."""
        ids, mask = inputs["input_ids"], inputs[MASK]
        if not self.is_backward:
            return States(self._read_all(ids, mask), mask.bool(), None)
        order = backwards(mask)
        layers = self._read_all(ids.gather(1, order), mask)
        return States(tuple(reordered(layer, order) for layer in layers), mask.bool(), None)

    def read(
        self, inputs: Mapping[str, Tensor], direction: str, memory: Memories | None = None
    ) -> tuple[Tensor, Memories]:
        """States of the last layer (B, T, width) and the memory that the next part continues.

        inputs are in reading order: for "previous" the last token comes first. The memory carries
        no gradients.
        """
        layers, after = self._chunk(inputs["input_ids"], memory)
        return layers[-1], _detached(after)

    def _read_all(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Layers of whole texts, ids in reading order, padded at the end."""
        learns = torch.is_grad_enabled() and self.training
        step = CHUNK if learns else PREDICTED
        if torch.compiler.is_exporting() or ids.shape[1] <= step:
            return self._chunk(ids, None)[0]
        lengths = mask.long().sum(1)
        chunks: list[tuple[Tensor, ...]] = []
        memory: Memories | None = None
        for start in range(0, ids.shape[1], step):
            left = lengths - start
            groups = _rows(left, LEARNED) if learns else [(left > 0, False)]
            layers, memory = self._part(ids[:, start : start + step], memory, groups)
            chunks.append(layers)
        return tuple(torch.cat(parts, 1) for parts in zip(*chunks, strict=True))

    def _part(
        self, ids: Tensor, memory: Memories | None, groups: Sequence[tuple[Tensor, bool]]
    ) -> tuple[tuple[Tensor, ...], Memories]:
        """One chunk of all texts. groups: bool (B,) rows of texts that reach it, and whether
        gradients are computed for them. The states of other rows are zero.
        """
        every: list[Tensor] = []
        new: list[Tensor] = []
        for rows, learns in groups:
            index = rows.nonzero().squeeze(1)
            if not len(index):
                continue
            before = _selected(memory, index)
            with torch.set_grad_enabled(learns):
                layers, after = self._chunk(ids[index], before)
            flat = [value for pair in _detached(after) for value in pair]
            if len(index) == len(ids):
                return layers, _paired(flat)
            every = _placed(every, layers, index, len(ids), 0)
            new = _placed(new, flat, index, len(ids), 1)
        return tuple(every), _paired(new)

    def _chunk(
        self, ids: Tensor, memory: Memories | None
    ) -> tuple[tuple[Tensor, ...], tuple[Any, ...]]:
        embedded = self.embeddings(ids)
        layers, memories = [embedded], []
        values = self.embeddings.dropped(embedded)
        for number, layer in enumerate(self.layers):
            states, after = layer(values, memory[number] if memory else None)
            layers.append(states)
            memories.append(after)
            values = layer.dropped(states)
        return tuple(layers), tuple(memories)

    # ---------------------------------------------------------------- words

    def stream(self, paragraphs: Sequence[str], direction: str) -> StreamTokens:
        """The tokens of a document with the mark of its beginning, in reading order."""
        ids, words = [], 0
        for number, text in enumerate(paragraphs):
            word_offsets = self.preparer.words_of(text)
            tokens = self.preparer.units(text, word_offsets, 0)
            tokens = tokens if number else self.preparer.framed(tokens)
            ids.append(self.preparer.arrays(tokens)["input_ids"])
            words += len(word_offsets)
        joined = np.concatenate(ids)
        joined = joined[::-1] if direction == BACKWARD else joined
        return StreamTokens({"input_ids": joined.astype(np.int64)}, joined, words)

    def dropped(self, states: Tensor) -> Tensor:
        """States (B, T, width) after the output dropout, which is off outside training."""
        return locked(states, self.dropouts.output) if self.training else states

    def scores(self, states: Tensor, direction: str) -> Tensor:
        """Vocabulary logits (…, V) of the next word in reading order; states (B, T, width)."""
        weight = self.embeddings.weight if self.decoder_weight is None else self.decoder_weight
        return F.linear(states, weight, self.decoder_bias)

    def language_logits(self, states: States) -> Tensor:
        """Logits (B, T, V) of the token after each in reading order."""
        return self.scores(self.dropped(states.layers[-1]), self.directions[0])

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Logits (B, T, V) of the token after each in reading order."""
        return self.scores(self(inputs).layers[-1], self.directions[0])

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """(B, K, V): of the word after each position, or before it for a backward model."""
        return self.scores(reordered(self(inputs).layers[-1], positions), self.directions[0])

    def vocable(self, number: int) -> str:
        """The entry of the vocabulary as text."""
        return self.preparer.word(number)


def _rows(left: Tensor, learned: int) -> list[tuple[Tensor, bool]]:
    """Rows with at least one token left: those far from their end, then those learned from."""
    return [(left > learned, False), ((left > 0) & (left <= learned), True)]


def _selected(memory: Memories | None, index: Tensor) -> Memories | None:
    if memory is None:
        return None
    return tuple((hidden[:, index], cell[:, index]) for hidden, cell in memory)


def _placed(
    tables: list[Tensor], values: Sequence[Tensor], index: Tensor, count: int, axis: int
) -> list[Tensor]:
    """Values of some rows put into tables of all rows, which are zero at first."""
    if not tables:
        shapes = [(*v.shape[:axis], count, *v.shape[axis + 1 :]) for v in values]
        tables = [v.new_zeros(shape) for v, shape in zip(values, shapes, strict=True)]
    pairs = zip(tables, values, strict=True)
    return [table.index_copy(axis, index, value) for table, value in pairs]


def _paired(flat: Sequence[Tensor]) -> Memories:
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def _detached(memory: Memories) -> Memories:
    return tuple((hidden.detach(), cell.detach()) for hidden, cell in memory)
