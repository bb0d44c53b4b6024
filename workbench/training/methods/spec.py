"""Training methods as used by the window and the command line. Does not import torch."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.base.registry import registry
from workbench.models.spec import ModelInfo

DEFAULT = "full"
FIRST = -1  # in place of the number of an epoch: the stage before the first one
BYTES = 4  # of a number in float32
LIBRARIES_MB = 45  # that libraries take in the first steps of a process


@dataclass(frozen=True)
class Forecast:
    """Resources of training, in float32.

    trainable, total: numbers of parameters. batch, length: examples and tokens of a batch, 0 if
    they are not known. activations, copies: bytes that a batch keeps for the backward pass, and of
    weights in bfloat16 beside those in float32. resident: memory is that of a process, as on a CPU.
    """

    trainable: int
    total: int
    batch: int = 0
    length: int = 0
    activations: int = 0
    copies: int = 0
    resident: bool = False

    @property
    def weights_mb(self) -> int:
        return (BYTES * self.total + self.copies) // 2**20

    @property
    def gradients_mb(self) -> int:
        return BYTES * self.trainable // 2**20

    @property
    def optimizer_mb(self) -> int:
        """Two moments of AdamW."""
        return 2 * BYTES * self.trainable // 2**20

    @property
    def activations_mb(self) -> int:
        return self.activations // 2**20

    @property
    def memory_mb(self) -> int:
        """At the peak. Activations are freed while gradients are computed, so that on a GPU only
        the larger part counts; malloc rarely uses the gaps that they leave.
        """
        fixed = BYTES * (self.total + 2 * self.trainable) + self.copies
        gradients = BYTES * self.trainable
        if self.resident:
            return (fixed + gradients + self.activations) // 2**20 + LIBRARIES_MB
        return (fixed + max(gradients, self.activations)) // 2**20

    def parts(self) -> str:
        """The memory and its parts as a display text; "" without a batch."""
        if not self.batch:
            return ""
        text = _(
            "Memory at its peak about {memory:,} MB: weights {weights:,}, optimizer states "
            "{states:,}, activations {activations:,} (batch × length: {batch} × {length}), then "
            "gradients {gradients:,}.",
            memory=max(1, self.memory_mb),
            weights=self.weights_mb,
            states=self.optimizer_mb,
            batch=self.batch,
            length=self.length,
            activations=self.activations_mb,
            gradients=self.gradients_mb,
        )
        rest = _("Libraries take {libraries} of it.", libraries=LIBRARIES_MB)
        return f"{text} {rest}" if self.resident else text

    def warning(self, free_mb: int) -> str:
        """A display text if the memory that is free will not suffice, else ""."""
        if not self.batch or self.memory_mb <= free_mb:
            return ""
        message = _(
            "The training needs about {memory:,} MB of memory, and {free:,} MB are free. Use a "
            "smaller batch size with gradient accumulation, a shorter maximum length, gradient "
            "checkpointing or LoRA. Out of memory, the training goes on in smaller parts."
        )
        return message.format(memory=self.memory_mb, free=free_mb)

    def sentence(self) -> str:
        """A display text about trained parameters and memory, "" for a model of unknown size."""
        if not self.total:
            return ""
        message = _("Trains {share:.1%} of the parameters ({trainable} of {total}) and the head.")
        if self.trainable == self.total:
            message = _("Trains all parameters ({total}) and the head.")
        elif not self.trainable:
            message = _("Trains the head; all other parameters ({total}) are frozen.")
        trained = message.format(
            trainable=_count(self.trainable),
            total=_count(self.total),
            share=self.trainable / self.total,
        )
        return " ".join(filter(None, (trained, self.parts())))


def _count(number: int) -> str:
    if number < 100_000:
        return f"{number:,}"
    return _("{number:.1f} M", number=number / 1e6)


class MethodInfo(ABC):
    """The light part of a method: `help` is one sentence, `options` are its own settings.

    learning_rate: automatic rate for models without a recommended one; 0: that of full fine-tuning,
    times rate_factor. inserts: the weights of layers are frozen, small inserted ones are trained.
    trains_pooler: whether a pretrained pooler is trained with the head. layer_kinds: kinds of
    layers that it can learn, () for all. task_defaults: defaults of settings of the task, by name.
    texts: inputs of an example in the largest batch.
    """

    id: str
    title: str
    help: str
    options: tuple[Option, ...] = ()
    learning_rate: float = 0.0
    rate_factor: float = 1.0
    inserts: bool = False
    trains_pooler: bool = True
    layer_kinds: tuple[str, ...] = ()
    task_defaults: Mapping[str, object] = {}
    texts: int = 1

    def problem(self, model: ModelInfo) -> str:
        """Why the method cannot be used with this model, "" if it can."""
        return ""

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        """Factors on the learning rate of the embeddings, each layer and the head; 0: frozen.

        layers: number of layers of the model. epoch: 0-based, or FIRST. options: all settings of
        the run.
        """
        return (1.0,) * (layers + 2)

    def most(self, layers: int, options: Mapping[str, Any], late: int) -> tuple[float, ...]:
        """The higher of the `factors` in the stage before the epochs and in the epoch `late`."""
        stages = (self.factors(layers, options, epoch) for epoch in (FIRST, late))
        return tuple(map(max, *stages))

    def first_steps(self, options: Mapping[str, Any], documents: int, batch: int) -> int:
        """Updates of a stage before the epochs, which tunes the encoder; 0 without one.

        documents: of train. batch: documents in a batch of the epochs.
        """
        return 0

    def first_rate(self, options: Mapping[str, Any], width: int) -> float:
        """Peak learning rate of that stage, for a model of this width."""
        return 0.0

    def frozen(self, layers: int, options: Mapping[str, Any]) -> int | None:
        """How many of the lowest levels, the embeddings and then the layers, a setting keeps frozen
        in all epochs; None without such a setting. Raises SpecError if there are fewer.
        """
        return None

    def freezing(self, levels: int) -> Mapping[str, str]:
        """The settings, as text, that `frozen` gives this number for; {} without one."""
        return {}

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """Number of trained parameters without the head, which is small."""
        return Forecast(model.parameters, model.parameters)


def all_methods() -> tuple[MethodInfo, ...]:
    return registry().infos("method")


def info(method: str) -> MethodInfo:
    """Raises SpecError listing the methods that exist."""
    missing = _("There is no training method {method!r}.", method=method)
    info: MethodInfo = registry().info("method", method, missing=missing)
    return info
