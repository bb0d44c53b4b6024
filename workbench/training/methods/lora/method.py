"""Low-rank adaptation with peft.

Each adapted module computes W x + (alpha / rank) B A x. Only A and B, the head and the modules
above the last layer are trained. Checkpoints contain the merged weights (so that every reader of a
model folder can load them) and, in the folder `adapter`, A and B alone in peft's format.
Source: Hu et al. 2021, LoRA: Low-Rank Adaptation of Large Language Models.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.lora import Linear
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.tasks import model as networks
from workbench.training import optim
from workbench.training.methods.base import Method
from workbench.training.methods.lora.info import INFO, is_target, targets
from workbench.training.methods.spec import MethodInfo

FOLDER, WEIGHTS = "adapter", "adapter_model.safetensors"
NAME = "default"  # of the adapter within peft
LIBRARY = "base_model."  # prefix of parameter names in peft


class Lora(Method):
    info: MethodInfo = INFO

    def prepare(self) -> None:
        encoder = self.model.encoder
        parts = encoder.parts()
        self.others = [*parts.pooler, *self.model.head_parameters()]
        names = self.target_names()
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        rank = int(self.options["lora_rank"])
        config = LoraConfig(
            r=rank,
            lora_alpha=cast(Any, self.options["lora_alpha"] or 2 * rank),
            lora_dropout=float(self.options["lora_dropout"]),
            target_modules=names,
            fan_in_fan_out=isinstance(encoder.get_submodule(names[0]), Conv1D),
        )
        device = encoder.device
        inject_adapter_in_model(config, encoder, NAME)
        encoder.to(device)
        self.config = config
        self.layers = {
            name: module for name, module in encoder.named_modules() if isinstance(module, Linear)
        }
        for parameter in self.others:
            parameter.requires_grad_(True)

    def target_names(self) -> list[str]:
        """Full names of the linear modules to adapt. Raises SpecError if none is found."""
        encoder = self.model.encoder
        targeted = targets(self.options["lora_targets"], encoder.info)
        own = {id(parameter) for parameter in self.others}
        linear = [
            name
            for name, module in encoder.named_modules()
            if isinstance(module, nn.Linear | Conv1D) and id(module.weight) not in own
        ]
        if matches := [name for name in linear if is_target(name, targeted)]:
            return matches
        ends = sorted({name.rpartition(".")[2] for name in linear})
        raise SpecError(
            _("The model has no linear module named {names}.", names=", ".join(targeted)),
            hint=_("Its linear modules are: {names}.", names=", ".join(ends)),
        )

    def groups(self, rate: float) -> list[dict[str, Any]]:
        inserted = [p for p in self.model.encoder.parameters() if p.requires_grad]
        own = {id(parameter) for parameter in self.others}
        levels = optim.Levels(
            (), (), [p for p in inserted if id(p) not in own], self.others, (), self.factors()
        )
        return optim.groups(levels, rate=rate, decay=1.0, weight_decay=self.options["weight_decay"])

    # ------------------------------------------------------------ checkpoints

    def save(self, folder: Path) -> None:
        with self.merged():
            super().save(folder)
        self.save_adapter(folder / FOLDER)

    @contextmanager
    def merged(self) -> Iterator[None]:
        """The encoder with plain modules and merged weights; restored exactly afterwards."""
        encoder, originals = self.model.encoder, dict[str, torch.Tensor]()
        for name, layer in self.layers.items():
            base: Any = layer.get_base_layer()  # Linear or Conv1D
            originals[name] = base.weight.data
            base.weight.data = originals[name] + layer.get_delta_weight(NAME)
            _put(encoder, name, base)
        try:
            yield
        finally:
            for name, layer in self.layers.items():
                layer.get_base_layer().weight.data = originals[name]
                _put(encoder, name, cast(nn.Module, layer))

    def save_adapter(self, folder: Path) -> None:
        """The trained parameters of the encoder, for `peft.PeftModel.from_pretrained`."""
        folder.mkdir(parents=True, exist_ok=True)
        trained = self.trained_parameters()
        weights = {LIBRARY + name: value.contiguous() for name, value in trained.items()}
        save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
        whole = {name.rpartition(".")[0] for name in trained if ".lora_" not in name}
        base = self.model.encoder.info
        config = LoraConfig(
            **{
                **{name: getattr(self.config, name) for name in ("r", "lora_alpha")},
                "lora_dropout": self.config.lora_dropout,
                "fan_in_fan_out": self.config.fan_in_fan_out,
                "target_modules": sorted(map(_library_name, self.layers)),
                "modules_to_save": sorted(map(_library_name, whole)),
                "base_model_name_or_path": base.path,
                "inference_mode": True,
            }
        )
        config.save_pretrained(str(folder))

    def trained_parameters(self) -> dict[str, Tensor]:
        """Trained parameters by name in the encoder, without the name of the adapter, each of its
        own shape.
        """
        own = {id(parameter) for parameter in self.others}
        return {
            name.replace(f".{NAME}.", "."): parameter.detach()
            for name, parameter in self.model.encoder.named_parameters()
            if parameter.requires_grad or id(parameter) in own
        }

    def restore(self, folder: Path, setting: networks.Setting) -> None:
        """The base weights never change, so only the adapter and the head are read."""
        saved = load_file(folder / FOLDER / WEIGHTS)
        with torch.no_grad():
            for name, parameter in self.trained_parameters().items():
                parameter.copy_(saved[LIBRARY + name])
        if self.model.head is not None:
            networks.load_head(self.model, folder / networks.HEAD)


def _put(encoder: nn.Module, name: str, module: nn.Module) -> None:
    parent, _dot, child = name.rpartition(".")
    setattr(encoder.get_submodule(parent), child, module)


def _library_name(name: str) -> str:
    """The name in the library's own model, which an encoder stores as `model`."""
    return name.removeprefix("model.")
