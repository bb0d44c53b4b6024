"""The torch part of objectives: batches from text, and their losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from workbench.models.base import Encoder
from workbench.pretraining.results import ShownRow
from workbench.pretraining.spec import ObjectiveInfo
from workbench.pretraining.texts import Texts
from workbench.tasks.base import Loss


class TextBatch(NamedTuple):
    """inputs: arrays of the encoder, (B, T, …). targets: by name. words: words of its text.

    progress: fraction of the text that is done after it, 0 to 1.
    """

    inputs: dict[str, np.ndarray]
    targets: dict[str, np.ndarray]
    words: float
    progress: float


class Objective(ABC):
    """objectives/<name>/objective.py. One object per pass over training or held-out text.

    module: parameters of the objective itself, trained with the encoder; one for all objects of a
    run. options: all settings of the run. rng: draws everything that is random, so that equal seeds
    give equal batches. divides: whether rows of a batch (B, …) can be trained on one after another.
    """

    info: ObjectiveInfo
    module: nn.Module | None = None
    divides = True

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        self.encoder, self.options, self.rng = encoder, options, rng

    @abstractmethod
    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        """Batches in the order in which they are trained on."""

    @abstractmethod
    def shown(self, batch: TextBatch) -> list[ShownRow]:
        """A batch of `batches` as text."""

    @abstractmethod
    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Named parts of the loss of one batch, as scalars (sum, number of predicted tokens)."""

    def carried(self) -> Any:
        """What `losses` carries over from batch to batch: tensors, in tuples, lists and dicts."""
        return None

    def carry(self, carried: Any) -> None:  # noqa: B027
        """Continue with what was carried."""

    def tensors(self, arrays: Mapping[str, np.ndarray], device: torch.device) -> dict[str, Tensor]:
        """The arrays on the device, each of the same shape."""
        return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
