"""The torch part of a training method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.tasks import model as networks
from workbench.tasks.base import Model
from workbench.training.methods.spec import MethodInfo


class Method(ABC):
    """Prepares a model for training and controls what is trained when.

    Created for one model; `options` are all settings of the run. fixes_encoder: whether no
    parameter of the encoder is trained.
    """

    info: MethodInfo
    fixes_encoder = False

    def __init__(self, model: Model, options: Mapping[str, Any]):
        self.model, self.options = model, options

    def prepare(self) -> None:  # noqa: B027 (most methods insert nothing)
        """Insert modules and freeze parameters, before the optimizer is made."""

    @abstractmethod
    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Parameter groups of AdamW: params, lr, peak (learning rate), weight_decay."""

    def factors(self) -> dict[int, float]:
        """Parameters of the head, which use the learning rate of full fine-tuning."""
        return {
            key: max(1.0, factor / self.info.rate_factor)
            for key, factor in self.model.rate_factors().items()
        }

    def start_epoch(self, epoch: int) -> None:  # noqa: B027
        """Called before each epoch (0-based)."""

    def train_mode(self, epoch: int) -> None:
        """Set the modules to training mode; frozen modules stay without dropout."""
        self.model.train()

    def save(self, folder: Path) -> None:
        """Write the current checkpoint, a model folder that `networks.load` reads."""
        networks.save(self.model, folder)

    def restore(self, folder: Path, setting: networks.Setting) -> None:
        """Load the weights of a checkpoint from `save` into the model."""
        self.model.load_state_dict(networks.load(folder, setting).state_dict())
