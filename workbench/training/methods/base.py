"""The torch part of a training method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin
from workbench.tasks import model as networks
from workbench.tasks.base import Loss, Model
from workbench.training import optim
from workbench.training.methods.spec import MethodInfo

GROUP_KEYS = ("params", "lr", "peak", "weight_decay")  # of a parameter group


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

    def checked_groups(self, rate: float) -> list[dict[str, Any]]:
        """As `groups`. Raises SpecError if those of a plugin lack a key."""
        groups = self.groups(rate)
        if not needed_plugin(self.info.id):
            return groups
        some = groups if isinstance(groups, (list, tuple)) else (groups,)
        wrong = [
            _("a {kind}", kind=type(group).__name__)
            if not isinstance(group, Mapping)
            else _("a group with {keys}", keys=", ".join(map(repr, group)) or "–")
            for group in some
            if not isinstance(group, Mapping) or not {*GROUP_KEYS} <= {*group}
        ]
        if some is groups and not wrong:
            return groups
        message = _(
            "The training method {method} does not follow its contract: `groups` returned "
            "{returned}, expected a list of dicts with {keys}.",
            method=self.info.id,
            returned=wrong[0] if wrong else type(groups).__name__,
            keys=", ".join(GROUP_KEYS),
        )
        raise SpecError(message, hint=contract_hint(self.info.id))

    def factors(self) -> dict[int, float]:
        """Parameters of the head, which use the learning rate of full fine-tuning."""
        return {
            key: max(1.0, factor / self.info.rate_factor)
            for key, factor in self.model.rate_factors().items()
        }

    def start_epoch(self, epoch: int) -> None:  # noqa: B027
        """Called before each epoch (0-based), and with FIRST before the stage before them."""

    def first_batches(
        self, classes: np.ndarray, steps: int, size: int, seed: int
    ) -> Iterator[np.ndarray]:
        """Batches int (P, 2) of the stage before the epochs: pairs of training inputs.

        classes int (N,) of the training inputs; size: most pairs of a batch. Equal seeds give equal
        batches.
        """
        return iter(())

    def first_losses(self, inputs: Mapping[str, Tensor], classes: Tensor) -> dict[str, Loss]:
        """Named parts of the loss of a batch of that stage.

        inputs (2P, T, …), classes (2P,): the first texts of all pairs, then the second ones.
        """
        raise NotImplementedError(f"{self.info.id} has no stage before the epochs")

    def sizes(self) -> tuple[int, int]:
        """Number of all parameters, and of those that are trained."""
        return optim.sizes(self.model)

    def train_mode(self, epoch: int) -> None:
        """Set the modules to training mode; frozen modules stay without dropout."""
        self.model.train()

    def save(self, folder: Path) -> None:
        """Write the current checkpoint, a model folder that `networks.load` reads."""
        networks.save(self.model, folder)

    def restore(self, folder: Path, setting: networks.Setting) -> None:
        """Load the weights of a checkpoint from `save` into the model."""
        self.model.load_state_dict(networks.load(folder, setting).state_dict())
