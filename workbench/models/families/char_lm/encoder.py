"""Contextual string embeddings: states of character language models at the ends of words.

Source: Akbik, Blythe and Vollgraf 2018, Contextual String Embeddings for Sequence Labeling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from workbench.models.base import Encoder, Parts, States
from workbench.models.families.char_lm.network import CharacterModel, Memory
from workbench.models.recurrent import StreamTokens
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.character_texts import (
    NEXT,
    CharacterTexts,
    characters,
    positions,
)
from workbench.text.segment import words as words_of


class CharacterEncoder(Encoder):
    """One or two language models; the states of a word are concatenated, forward first.

    Layer 0 is the mean of the embeddings of the word's characters, see `word_embeddings`.
    """

    preparer: CharacterTexts
    regularization = (0.0, 0.0)

    def __init__(
        self, info: ModelInfo, preparer: CharacterTexts, models: Mapping[str, CharacterModel]
    ):
        super().__init__()
        self.info, self.preparer, self.max_length = info, preparer, info.max_length
        self.models, self.directions = nn.ModuleDict(models), tuple(models)
        names = [name(model) for model in models for name in (characters, positions)]
        self.input_names = (*names, MASK)
        self.input_axes = {characters(model): characters(model) for model in models}

    def model(self, direction: str) -> CharacterModel:
        return cast(CharacterModel, self.models[direction])

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """Layers (B, T, H) of T words, the directions concatenated; each has its own H."""
        if self._has_dropout or torch.compiler.is_exporting():
            return States(self._layers(inputs), inputs[MASK].bool(), None)
        inputs, back = _distinct(inputs)
        layers = tuple(hidden[back] for hidden in self._layers(inputs))
        return States(layers, inputs[MASK].bool()[back], None)

    @property
    def _has_dropout(self) -> bool:
        """Whether equal inputs may have different states; frozen parts are in eval mode."""
        models = [self.model(direction) for direction in self.directions]
        return any(item.training for model in models for item in (model.characters, *model.layers))

    def _layers(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        by_direction = []
        for direction in self.directions:
            model = self.model(direction)
            ids, ends = inputs[characters(direction)], inputs[positions(direction)]
            first = len(self.preparer.tables[direction].delimiter)
            starts = word_starts(ends, first, forward=direction == NEXT)
            by_direction.append([model.word_embeddings(ids, starts, ends), *model.at(ids, ends)])
        most = max(map(len, by_direction))
        # Models of different depth are aligned at the top.
        by_direction = [[*layers[:1] * (most - len(layers)), *layers] for layers in by_direction]
        return tuple(torch.cat(states, -1) for states in zip(*by_direction, strict=True))

    def read(
        self, inputs: Mapping[str, Tensor], direction: str, memory: Memory | None = None
    ) -> tuple[Tensor, Memory]:
        """States (B, T, width) after each of `input_ids` (B, T), and the memory for the next call.

        The ids are in the reading order of the direction. The memory carries no gradients.
        """
        states, after = self.model(direction)(inputs["input_ids"], memory)
        detached = tuple(
            tuple(item.detach() for item in layer) if isinstance(layer, tuple) else layer.detach()
            for layer in after
        )
        return states[-1], detached

    def stream(self, paragraphs: Sequence[str], direction: str) -> StreamTokens:
        """The characters of the paragraphs, each followed by a line break, in reading order."""
        text = "".join(f"{paragraph}\n" for paragraph in paragraphs)
        read = text if direction == NEXT else text[::-1]
        ids = np.array(self.preparer.tables[direction].encode(read), np.int64)
        return StreamTokens(
            {"input_ids": ids}, ids, sum(len(words_of(paragraph)) for paragraph in paragraphs)
        )

    def character_ids(self, text: str, direction: str) -> list[int | None]:
        """The id of each character in reading order, None for one outside of the vocabulary."""
        known = self.preparer.tables[direction].ids
        return [known.get(character) for character in (text if direction == NEXT else text[::-1])]

    def beginning(self, direction: str) -> list[int]:
        """The ids that are read before each text."""
        table = self.preparer.tables[direction]
        return table.encode(table.delimiter)

    def dropped(self, states: Tensor) -> Tensor:
        """(B, T, width), unchanged."""
        return states

    def scores(self, states: Tensor, direction: str) -> Tensor:
        """Logits (…, V) of the next character in the reading order of the direction."""
        logits: Tensor = cast(nn.Linear, self.model(direction).decoder)(states)
        return logits

    def vocable(self, number: int) -> str:
        """The character; both directions have one vocabulary in published models."""
        return self.preparer.tables[self.directions[0]].character(number)

    def parts(self) -> Parts:
        models = [self.model(direction) for direction in self.directions]
        tables = [model.characters for model in models]
        depth = max(len(model.layers) for model in models)
        layers = [
            [
                model.layers[number - depth]
                for model in models
                if depth - number <= len(model.layers)
            ]
            for number in range(depth)
        ]
        above = [
            part
            for model in models
            for part in (model.projection, model.decoder)
            if part is not None
        ]
        return Parts(
            _parameters(tables),
            tuple(_parameters(modules) for modules in layers),
            _parameters([part for part in above if part is not None]),
            (*tables, *(nn.ModuleList(modules) for modules in layers)),
        )


def word_starts(ends: Tensor, first: int, *, forward: bool) -> Tensor:
    """Where each word starts in the characters; ends (B, T), 0 at padding. Both as read.

    `first`: the position of the first character of the text.
    """
    if forward:  # the word before it ends one space earlier
        start = torch.full_like(ends[:, :1], first)
        return torch.cat([start, ends[:, :-1] + 1], 1).minimum(ends)
    following = torch.cat([ends[:, 1:], torch.zeros_like(ends[:, :1])], 1)
    starts = torch.where(following == 0, torch.full_like(ends, first), following + 1)
    return starts.minimum(ends)


def _distinct(inputs: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], Tensor]:
    """The distinct rows of a batch, and the index of its distinct row for each given row (B,)."""
    names = list(inputs)
    table = torch.cat([inputs[name] for name in names], 1)
    rows, back = torch.unique(table, dim=0, return_inverse=True)
    parts = rows.split([inputs[name].shape[1] for name in names], 1)
    return dict(zip(names, parts, strict=True)), back


def _parameters(modules: Sequence[nn.Module]) -> tuple[nn.Parameter, ...]:
    return tuple(parameter for module in modules for parameter in module.parameters())
