"""Bidirectional LSTM layers over stacked embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from workbench.models.base import Encoder, FeatureSource, Parts, States
from workbench.models.bidirectional import BidirectionalLstm, LockedDropout, WordDropout
from workbench.models.families.bilstm.embeddings import (
    CharacterCnn,
    FrozenModel,
    WordTable,
)
from workbench.models.families.bilstm.info.config import ATTENTION, MIX, SECOND, WHOLE, Config
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.stacked import END, FIRST, UNITS, StackedWords, array


class Mix(nn.Module):
    """γ Σ softmax(w)_l h_l over layers that are concatenated, Peters et al. 2018, equation 1."""

    def __init__(self, count: int, width: int):
        super().__init__()
        self.weights, self.scale = nn.Parameter(torch.zeros(count)), nn.Parameter(torch.ones(1))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, T, count * W) → (B, T, W)."""
        shares = self.weights.softmax(0)
        layers = states.unflatten(-1, (len(self.weights), -1))  # (B, T, count, W)
        mixed: Tensor = self.scale * (layers * shares.unsqueeze(-1)).sum(-2)
        return mixed

    def learned(self) -> dict[str, Any]:
        """The weight of each layer, sum 1, and γ."""
        shares = self.weights.detach().softmax(0)
        return {"weights": tuple(shares.tolist()), "gamma": float(self.scale.detach())}

    def squared(self) -> Tensor:
        """The scalar that an L2 penalty is on: Σ w² before the softmax, without γ."""
        return self.weights.square().sum()


class LayerMixAttention(nn.Module):
    """Each word's own mix: the softmax over layers of q · h_l / √W, with one learned query q.

    It starts as the uniform mean. mask (B, T): the words that `learned` averages over.
    """

    def __init__(self, count: int, width: int):
        super().__init__()
        self.query, self.count = nn.Parameter(torch.zeros(width)), count
        self._sum, self._words = torch.zeros(count), 0
        self._mean = torch.full((count,), 1 / count)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, T, count * W) → (B, T, W)."""
        layers = states.unflatten(-1, (self.count, -1))  # (B, T, count, W)
        scores = (layers @ self.query.to(layers.dtype)) * len(self.query) ** -0.5
        shares = scores.float().softmax(-1)  # (B, T, count)
        if not torch.compiler.is_exporting():
            self._sum = self._sum + shares.detach()[mask].sum(0).cpu()
            self._words += int(mask.sum())
        mixed: Tensor = (layers * shares.to(layers.dtype).unsqueeze(-1)).sum(-2)
        return mixed

    def learned(self) -> dict[str, Any]:
        """The mean weight of each layer over the words since the last call, else that of then."""
        if self._words:
            self._mean = self._sum / self._words
            self._sum, self._words = torch.zeros_like(self._sum), 0
        return {"weights": tuple(self._mean.tolist())}

    def squared(self) -> Tensor | None:
        """None instead of a scalar: it has no weights of layers to keep small."""
        return None


MIXES: Mapping[str, type[Mix] | type[LayerMixAttention]] = {MIX: Mix, ATTENTION: LayerMixAttention}


WHOLE_KEY = MIX  # of cached features with all layers, however these are combined
FEATURES = "features"  # the array that replaces those of a frozen part
Embedding = WordTable | CharacterCnn | FrozenModel


class BilstmEncoder(Encoder):
    """Layer 0: the embeddings of all parts; then [forward; backward] of each LSTM layer.

    parts_of_words: in the order of `config.parts`. The states of language models enter layer 1 or,
    with `lm_states` "second", beside the states of layer 1 into layer 2.
    """

    preparer: StackedWords
    directions = ("next", "previous")

    def __init__(
        self, info: ModelInfo, config: Config, preparer: StackedWords, parts: Sequence[Embedding]
    ):
        super().__init__()
        self.info, self.config, self.preparer = info, config, preparer
        self.max_length = info.max_length
        self.embeddings = nn.ModuleList(parts)
        self.mixes = nn.ModuleDict(
            {
                str(number): MIXES[part.layers](part.count, part.width)
                for number, part in enumerate(parts)
                if isinstance(part, FrozenModel) and part.layers in MIXES
            }
        )
        self.late = [config.lm_states == SECOND and _is_late(part) for part in parts]
        below = sum(p.width for p, late in zip(parts, self.late, strict=True) if not late)
        self.layers = nn.ModuleList()
        for number in range(config.lstm_layers):
            beside = sum(p.width for p, late in zip(parts, self.late, strict=True) if late)
            below += beside if number == 1 else 0
            self.layers.append(BidirectionalLstm(below, config.lstm_width))
            below = config.width
        self.word_dropout = WordDropout(config.word_dropout)
        self.dropout = LockedDropout(config.locked_dropout)
        names = [array(n, name) for n, part in enumerate(parts) for name in part.arrays]
        self.input_names = (*names, MASK)
        self.input_axes = _axes(parts)
        self.saved_in: Path | None = None  # the folder with the last checkpoint

    @property
    def widths(self) -> tuple[int, ...]:
        whole = sum(cast(Embedding, part).width for part in self.embeddings)
        return (whole, *(self.config.width,) * self.config.lstm_layers)

    @property
    def feed_forward(self) -> int:
        return self.config.lstm_width

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """Layer 0 (B, T, width of all embeddings), then each LSTM layer (B, T, 2 * hidden)."""
        mask = inputs[MASK].bool()
        embedded = [self._embedded(number, inputs, mask) for number in range(len(self.embeddings))]
        whole = torch.cat(embedded, -1)
        early = [part for part, late in zip(embedded, self.late, strict=True) if not late]
        beside = [part for part, late in zip(embedded, self.late, strict=True) if late]
        first = torch.cat(early, -1) if beside else whole
        states = self.dropout(self.word_dropout(first))
        layers = [whole]
        for number, layer in enumerate(self.layers):
            if number == 1 and beside:
                states = torch.cat([states, self.dropout(torch.cat(beside, -1))], -1)
            layers.append(layer(states, mask))
            states = self.dropout(layers[-1])
        layers[-1] = states
        return States(tuple(layers), mask, None)

    def _embedded(self, number: int, inputs: Mapping[str, Tensor], mask: Tensor) -> Tensor:
        part = cast(Embedding, self.embeddings[number])
        vectors = inputs.get(array(number, FEATURES))
        if vectors is None:
            own = {name: inputs[array(number, name)] for name in part.arrays}
            vectors = part(own, mask) if isinstance(part, FrozenModel) else part(own)
        mix = str(number)
        mixed: Tensor = self.mixes[mix](vectors, mask) if mix in self.mixes else vectors
        return mixed * mask.unsqueeze(-1)

    def layer_weights(self) -> dict[str, dict[str, Any]]:
        """Layer weights of the models in the embeddings, by name; a second one of the same name has
        a number.
        """
        weights: dict[str, dict[str, Any]] = {}
        for number, mix in self._mixes():
            name = self.config.parts[number].model
            weights[name if name not in weights else f"{name} ({number + 1})"] = mix.learned()
        return weights

    def penalty(self) -> Tensor | None:
        """λ Σ w² over the layers of all models that are mixed, a scalar, w before the softmax."""
        squared = [mix.squared() for _number, mix in self._mixes()]
        trained = [tensor for tensor in squared if tensor is not None and tensor.requires_grad]
        if not trained or not self.config.part_l2:
            return None
        return self.config.part_l2 * torch.stack(trained).sum()

    def _mixes(self) -> list[tuple[int, Mix | LayerMixAttention]]:
        return [(int(number), cast(Mix, mix)) for number, mix in self.mixes.items()]

    def parts(self) -> Parts:
        frozen = [part for part in self.embeddings if isinstance(part, FrozenModel)]
        trained = [part for part in self.embeddings if not isinstance(part, FrozenModel)]
        low = [*trained, self.mixes]
        return Parts(
            tuple(parameter for module in low for parameter in module.parameters()),
            tuple(tuple(layer.parameters()) for layer in self.layers),
            (),
            (*low, *self.layers),
            frozen=tuple(parameter for part in frozen for parameter in part.parameters()),
        )

    def sources(self) -> tuple[FeatureSource, ...]:
        sources = []
        for number, part in enumerate(self.embeddings):
            if isinstance(part, FrozenModel) and part.is_contextual:  # vectors are only looked up
                sources.append(self._source(number, part))
        return tuple(sources)

    def _source(self, number: int, part: FrozenModel) -> FeatureSource:
        names = {array(number, name): name for name in part.arrays}

        def compute(inputs: Mapping[str, Tensor]) -> Tensor:
            own = {name: inputs[own_name] for own_name, name in names.items()}
            vectors: Tensor = part(own, inputs[MASK].bool())
            return vectors

        kind = WHOLE_KEY if part.layers in WHOLE else part.layers
        key = f"{self.config.parts[number].sha256}-{kind}-{part.subwords}"
        key += "-normalized" if part.normalized else ""
        return FeatureSource(array(number, FEATURES), tuple(names), key, part.output_width, compute)


def _is_late(part: Embedding) -> bool:
    return isinstance(part, FrozenModel) and part.is_contextual


def _axes(parts: Sequence[Embedding]) -> dict[str, str]:
    """The second axes of arrays without a row per word."""
    axes: dict[str, str] = {}
    for number, part in enumerate(parts):
        if not isinstance(part, FrozenModel):
            continue
        own = dict(part.encoder.input_axes)
        if not part.keeps_words:
            inner = [n for n in part.arrays if n not in (FIRST, END) and n not in own]
            own.update(dict.fromkeys(inner, UNITS))
        axes.update({array(number, name): array(number, axis) for name, axis in own.items()})
    return axes
