"""The parts of stacked embeddings: trained words and characters, and frozen models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder
from workbench.models.families.bilstm.info.config import CONCAT, FIRST_SUBWORD, LAST, MEAN, WHOLE
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.stacked import END, FIRST, IDS, UNITS

UNKNOWN_RARE = 0.5  # share of rare words that are read as unknown in training
CHARACTER_WIDTH, WINDOW = 25, 3  # of the embeddings of characters; characters per filter
# Sources: Lample et al. 2016, section 4.1, for rare words; Ma and Hovy 2016 for the CNN.


class WordTable(nn.Module):
    """Trained embeddings of words; row 0 is that of unknown words, the last `rare` rows are rare.

    In training, rare words are often read as unknown, so that row 0 is trained.
    """

    arrays = (IDS,)

    def __init__(self, words: int, rare: int, width: int):
        super().__init__()
        self.table, self.rare, self.width = nn.Embedding(words + 1, width), rare, width
        nn.init.uniform_(self.table.weight, -((3 / width) ** 0.5), (3 / width) ** 0.5)

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The words' rows (B, T, width) of the ids (B, T)."""
        ids = inputs[IDS]
        if self.training and self.rare:
            is_rare = ids >= self.table.num_embeddings - self.rare
            ids = ids.masked_fill(
                is_rare & (torch.rand(ids.shape, device=ids.device) < UNKNOWN_RARE), 0
            )
        vectors: Tensor = self.table(ids)
        return vectors


class CharacterCnn(nn.Module):
    """The maximum of filters over the characters of each word."""

    arrays = (IDS,)

    def __init__(self, characters: int, width: int):
        super().__init__()
        self.table, self.width = nn.Embedding(characters, CHARACTER_WIDTH, padding_idx=0), width
        self.filters = nn.Conv1d(CHARACTER_WIDTH, width, WINDOW, padding=WINDOW // 2)
        bound = (3 / CHARACTER_WIDTH) ** 0.5
        nn.init.uniform_(self.table.weight[1:], -bound, bound)

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, width) from the characters (B, T, C) of each word, 0 for none."""
        ids = inputs[IDS]  # (B, T, C)
        if not torch.compiler.is_exporting():
            ids = ids[..., : max(1, int((ids > 0).sum(-1).max()))]
        flat = ids.flatten(0, 1)
        scores = self.filters(self.table(flat).transpose(1, 2))  # (B * T, width, C)
        scores = scores.masked_fill((flat == 0).unsqueeze(1), float("-inf"))
        scores = torch.where(
            (flat == 0).all(-1)[:, None, None], 0.0, scores
        )  # padding of the batch
        vectors: Tensor = F.relu(scores.amax(-1)).unflatten(0, ids.shape[:2])
        return vectors


class FrozenModel(nn.Module):
    """The states of a model at each word. Its parameters are never trained.

    layers: last, mean, or all concatenated: to be mixed (`width` is that of one), or as they are
    (`width` is the sum). normalized: each layer is normalized before they are combined (Ba et al.
    2016, without gain and bias). subwords: first or mean, for a model with tokens of its own.
    """

    def __init__(
        self,
        encoder: Encoder,
        layers: str,
        subwords: str,
        *,
        keeps_words: bool,
        normalized: bool = False,
    ):
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)
        self.layers, self.subwords, self.keeps_words = layers, subwords, keeps_words
        self.normalized, self.count = normalized and layers != LAST, len(encoder.widths)
        self.width = sum(encoder.widths) if layers == CONCAT else encoder.width
        self.output_width = (
            sum(encoder.widths) if layers in WHOLE else self.width
        )  # width of `forward`
        own = tuple(name for name in encoder.input_names if name != MASK)
        self.arrays = own if keeps_words else (*own, UNITS, FIRST, END)
        register: Any = self.register_load_state_dict_post_hook  # has no types
        register(_forget_missing)

    @property
    def is_contextual(self) -> bool:
        """Whether the states of a word depend on its context."""
        return self.count > 1

    def train(self, mode: bool = True) -> FrozenModel:
        """Stays in eval mode."""
        return super().train(False)

    def state_dict(self, *args: Any, **named: Any) -> Any:
        """Empty: the part is saved as a model of its own."""
        return named.get("destination") if named.get("destination") is not None else {}

    @torch.no_grad()
    def forward(self, inputs: Mapping[str, Tensor], mask: Tensor) -> Tensor:
        """(B, T, `output_width`): all layers if they will be mixed; mask (B, T) of the words."""
        own = {name: inputs[name] for name in self.encoder.input_names if name != MASK}
        own[MASK] = mask if self.keeps_words else inputs[UNITS]
        own = {name: own[name] for name in self.encoder.input_names}
        layers = self.encoder(own).layers
        if self.normalized:
            layers = tuple(F.layer_norm(layer, layer.shape[-1:]) for layer in layers)
        if self.layers == LAST:
            states = layers[-1]
        else:
            states = torch.stack(layers).mean(0) if self.layers == MEAN else torch.cat(layers, -1)
        if not self.keeps_words:
            states = self._of_words(states, inputs[FIRST], inputs[END])
        masked: Tensor = states * mask.unsqueeze(-1)
        return masked

    def _of_words(self, states: Tensor, first: Tensor, end: Tensor) -> Tensor:
        """(B, S, W) → (B, T, W) by the tokens of each word; zeros for a word without one."""
        wide = (-1, -1, states.shape[-1])
        if self.subwords == FIRST_SUBWORD:
            first_states = states.gather(
                1, first.clamp(max=states.shape[1] - 1).unsqueeze(-1).expand(wide)
            )
            return first_states * (end > first).unsqueeze(-1)
        sums = F.pad(states.cumsum(1), (0, 0, 1, 0))  # (B, S + 1, W)
        total = sums.gather(1, end.unsqueeze(-1).expand(wide)) - sums.gather(
            1, first.unsqueeze(-1).expand(wide)
        )
        return total / (end - first).clamp(min=1).unsqueeze(-1)


def _forget_missing(module: nn.Module, keys: Any) -> None:
    """The weights of the part are not in the state of the whole."""
    keys.missing_keys.clear()
