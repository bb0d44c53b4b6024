"""Bottleneck adapters in a frozen encoder.

Trained are the adapters, the norms of the layers and above, and the head. Checkpoints contain the
base weights and the adapters in a file of their own, so that every reader of a model folder can
load them, and what else was trained, so that both can be kept without the base model.
Source: Houlsby et al. 2019, Parameter-Efficient Transfer Learning for NLP.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.tasks import model as networks
from workbench.training import optim
from workbench.training.methods.base import Method
from workbench.training.methods.bottleneck.info import INFO
from workbench.training.methods.spec import MethodInfo


class Bottleneck(Method):
    info: MethodInfo = INFO

    def prepare(self) -> None:
        """Raises ModelError if the encoder has no place for adapters."""
        encoder = self.model.encoder
        self.others = [*self.model.head_parameters()]
        if not getattr(encoder, "has_pooler", True):  # newly initialized, as the head is
            own = {id(parameter) for parameter in self.others}
            named = encoder.named_parameters()
            self.others += [p for name, p in named if ".pooler." in name and id(p) not in own]
        encoder.insert_adapters(int(self.options["adapter_size"]))
        inside, norms = encoder.adapter_parameters()
        self.inserted = inside
        known = {id(parameter) for parameter in self.others}
        self.norms = [parameter for parameter in norms if id(parameter) not in known]
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        for parameter in (*self.inserted, *self.norms, *self.others):
            parameter.requires_grad_(True)

    def groups(self, rate: float) -> list[dict[str, Any]]:
        levels = optim.Levels(
            (), (), [*self.inserted, *self.norms], self.others, (), self.factors()
        )
        return optim.groups(levels, rate=rate, decay=1.0, weight_decay=self.options["weight_decay"])

    def save(self, folder: Path) -> None:
        super().save(folder)
        inserted = {id(parameter) for parameter in self.inserted}
        trained = {
            name: parameter
            for name, parameter in self.model.encoder.named_parameters()
            if parameter.requires_grad and id(parameter) not in inserted
        }
        networks.save_adapted(self.model, folder, trained)

    def restore(self, folder: Path, setting: networks.Setting) -> None:
        """The frozen weights never change, so only the trained ones are read."""
        networks.restore_adapted(self.model, folder)
