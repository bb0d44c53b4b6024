"""A SequenceTagger of flair: language models and static vectors, a recurrent network, tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from workbench.models import folder as folders
from workbench.models.base import Encoder, FeatureSource, Parts, States
from workbench.models.bidirectional import (
    BidirectionalGru,
    BidirectionalLstm,
    LockedDropout,
    WordDropout,
)
from workbench.models.crf import Crf
from workbench.models.families.char_lm.encoder import CharacterEncoder
from workbench.models.families.char_lm.info.taggers import StaticVectors, TaggerFile
from workbench.models.spec import ModelInfo
from workbench.runtime.decoding import bio_constraints
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.tagged_texts import TaggedTexts, rows

EMBEDDINGS = "embeddings"  # the array that replaces all others
BETWEEN = 0.5  # dropout between recurrent layers


class TaggerEncoder(Encoder):
    """Layer 0: the embeddings of all parts, concatenated in the order of `file.parts` (without
    recurrent layers after the reprojection); then [forward; backward] of each recurrent layer.

    The embeddings stay frozen, as flair keeps them. outputs: the tags that `linear` scores. rest:
    what the file holds besides the weights.
    """

    preparer: TaggedTexts
    in_transformers = False

    def __init__(
        self,
        info: ModelInfo,
        file: TaggerFile,
        preparer: TaggedTexts,
        words: CharacterEncoder,
        rest: Mapping[str, Any],
    ):
        super().__init__()
        self.info, self.file, self.preparer, self.rest = info, file, preparer, rest
        self.max_length = info.max_length
        self.words = words
        self.tables = nn.ModuleList(
            nn.Embedding(len(static.words) + 1, static.width) for static in file.statics
        )
        self.dropout, self.word_dropout = nn.Dropout(file.dropout), WordDropout(file.word_dropout)
        self.locked_dropout = LockedDropout(file.locked_dropout)
        self.reprojection = nn.Linear(file.width, file.width) if file.reprojects else None
        kind = BidirectionalGru if file.recurrent == "GRU" else BidirectionalLstm
        self.layers = nn.ModuleList(
            kind(2 * file.hidden if number else file.width, file.hidden)
            for number in range(file.layers)
        )
        self.directions = ("next", "previous") if file.layers else ()
        self.between = nn.Dropout(BETWEEN)
        self.set_head(file.outputs, crf=file.crf)
        lookups = [rows(table) for table in range(len(self.tables))]
        self.input_names = (*lookups, *words.input_names)
        self.input_axes = words.input_axes

    def set_head(self, outputs: Sequence[str], *, crf: bool) -> None:
        """A new linear layer and new transitions for other outputs."""
        self.outputs = tuple(outputs)
        self.linear = nn.Linear(self.width, len(self.outputs))
        # The scores of the file are used as they are.
        allowed = None if self.outputs == self.file.outputs else bio_constraints(self.outputs)
        self.chain = Crf(len(self.outputs), constraints=allowed) if crf else None

    @property
    def width(self) -> int:
        return self.file.states

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.file.width, *(2 * self.file.hidden,) * self.file.layers)

    @property
    def feed_forward(self) -> int:
        return self.file.hidden or self.file.width

    @property
    def crf(self) -> Crf | None:
        return self.chain

    def train(self, mode: bool = True) -> TaggerEncoder:
        """The language models stay in eval mode."""
        super().train(mode)
        self.words.eval()
        return self

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """Layer 0 (B, T, width of the embeddings), then each recurrent layer (B, T, 2 * hidden)."""
        mask = inputs[MASK].bool()
        cached = inputs.get(EMBEDDINGS)
        embedded = self.embedded(inputs) if cached is None else cached
        states = self.locked_dropout(self.word_dropout(self.dropout(embedded)))
        if self.reprojection is not None:
            states = self.reprojection(states)
        layers = [embedded if len(self.layers) else states]
        for number, layer in enumerate(self.layers):
            layers.append(layer(self.between(states) if number else states, mask))
            states = layers[-1]
        layers[-1] = self.locked_dropout(self.dropout(layers[-1]))
        return States(tuple(layers), mask, None)

    def embedded(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, W): the embeddings of all parts, zeros at padding."""
        own = {name: inputs[name] for name in self.words.input_names}
        with torch.no_grad():
            states = self.words(own).layers[-1]
            widths = [self.words.model(direction).width for direction in self.words.directions]
            read = dict(zip(self.words.directions, states.split(widths, -1), strict=True))
            tables = iter(enumerate(self.tables))
            vectors = []
            for part in self.file.parts:
                if isinstance(part, StaticVectors):
                    number, table = next(tables)
                    vectors.append(table(inputs[rows(number)]))
                else:
                    vectors.append(read[part.direction])
            return torch.cat(vectors, -1) * inputs[MASK].unsqueeze(-1)

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, outputs) of T words."""
        logits: Tensor = self.linear(self(inputs).layers[-1])
        return logits

    def sources(self) -> tuple[FeatureSource, ...]:
        key = f"{folders.sha256(Path(self.info.path))}-embeddings"
        names = tuple(name for name in self.input_names if name != MASK)
        return (FeatureSource(EMBEDDINGS, names, key, self.file.width, self.embedded),)

    def parts(self) -> Parts:
        low = self.reprojection or nn.Identity()
        head = [] if self.head else [self.linear, *([self.chain] if self.chain else [])]
        frozen = nn.ModuleList([self.words, self.tables, *head])
        return Parts(
            tuple(low.parameters()),
            tuple(tuple(layer.parameters()) for layer in self.layers),
            (),
            (low, *self.layers),
            frozen=tuple(frozen.parameters()),
        )
