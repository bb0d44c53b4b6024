"""Full fine-tuning: freezing from the bottom, discriminative rates, gradual unfreezing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.tasks.base import Model
from workbench.training import optim
from workbench.training.methods.base import Method
from workbench.training.methods.full.info import INFO, LOWER
from workbench.training.methods.spec import MethodInfo

EVERY = 10**6  # an epoch in which all levels are unfrozen


class Full(Method):
    info: MethodInfo = INFO

    def __init__(self, model: Model, options: Mapping[str, Any]):
        super().__init__(model, options)
        self.levels = optim.Levels.of(model)
        self.freezing = optim.Freezing(
            self.levels, freeze=self.freeze, gradual=bool(options.get("gradual_unfreezing"))
        )

    @property
    def freeze(self) -> str:
        return str(self.options["freeze"])

    def groups(self, rate: float) -> list[dict[str, Any]]:
        self.freezing.apply(EVERY)
        return optim.groups(
            self.levels,
            rate=rate,
            decay=self.options.get("layer_decay", 1.0),
            slower=str(self.options.get("slower_layers", LOWER)),
            weight_decay=self.options["weight_decay"],
        )

    def start_epoch(self, epoch: int) -> None:
        self.freezing.apply(epoch)

    def train_mode(self, epoch: int) -> None:
        self.model.train()
        self.freezing.quiet(epoch)
