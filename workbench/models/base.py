"""Checkpoint: a loaded model with its tokenizer. Family: what turns a folder into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import nn

from workbench.models.spec import ModelInfo
from workbench.runtime.tokenizer import Tokenizer

HEADS = ("sequence", "token", "mask", "next", "body")


@dataclass(frozen=True)
class Parts:
    """The parameters of a model from the bottom up: embeddings, the layers, and what stands on top (final norm, pooler, head).

    Together they are all its parameters, each once. `top` is what is left when the encoder is frozen.
    """

    embeddings: tuple[nn.Parameter, ...]
    layers: tuple[tuple[nn.Parameter, ...], ...]
    summit: tuple[nn.Parameter, ...]  # of the pretrained body, above the last layer
    head: tuple[nn.Parameter, ...]
    modules: tuple[
        nn.Module, ...
    ]  # the embeddings' module (or modules) and each layer, to be set to eval where frozen


@dataclass(frozen=True)
class Checkpoint:
    """`model` gives logits; `max_length` is the most subwords it takes, special ones included; `types`: whether it takes token_type_ids."""

    info: ModelInfo
    model: nn.Module
    tokenizer: Tokenizer
    max_length: int
    types: bool

    @property
    def width(self) -> int:
        return self.info.width


class Family(Protocol):
    """models/families/<name>.py"""

    def load(
        self,
        folder: Path,
        *,
        head: str,
        labels: Sequence[str] = (),
        seed: int = 0,
        allow_pickle: bool = False,
    ) -> Checkpoint:
        """Weights of the folder under a head of HEADS, float32 on the CPU; a new head is drawn from `seed`."""
        ...

    def parts(self, model: nn.Module) -> Parts: ...

    def save(self, checkpoint: Checkpoint, folder: Path) -> None:
        """A Hugging Face folder: config.json, model.safetensors, tokenizer files."""
        ...
