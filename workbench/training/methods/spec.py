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
BYTES_FROZEN, BYTES_TRAINED = 4, 16  # float32: weight; weight, gradient and two AdamW moments


@dataclass(frozen=True)
class Forecast:
    """Resources of training. `memory_mb` counts weights, gradients and optimizer states.

    Activations are not included; they depend on batch size and length.
    """

    trainable: int
    total: int

    @property
    def memory_mb(self) -> int:
        frozen = self.total - self.trainable
        return (BYTES_FROZEN * frozen + BYTES_TRAINED * self.trainable) // 2**20

    def sentence(self) -> str:
        """A display text about trained parameters and memory."""
        if not self.total:
            return ""
        message = _(
            "Trains {share:.1%} of the parameters ({trainable} of {total}) and the head; about "
            "{memory:,} MB for weights, gradients and optimizer states."
        )
        if self.trainable == self.total:
            message = _(
                "Trains all parameters ({total}) and the head; about {memory:,} MB for "
                "weights, gradients and optimizer states."
            )
        elif not self.trainable:
            message = _(
                "Trains the head; all other parameters ({total}) are frozen. About {memory:,} MB "
                "for weights, gradients and optimizer states."
            )
        return message.format(
            trainable=_count(self.trainable),
            total=_count(self.total),
            share=self.trainable / self.total,
            memory=max(1, self.memory_mb),
        )


def _count(number: int) -> str:
    if number < 100_000:
        return f"{number:,}"
    return _("{number:.1f} M", number=number / 1e6)


class MethodInfo(ABC):
    """The light part of a method: `help` is one sentence, `options` are its own settings.

    learning_rate: automatic rate for models without a recommended one; 0: that of full fine-tuning,
    times rate_factor. inserts: the weights of layers are frozen, small inserted ones are trained.
    trains_pooler: whether a pretrained pooler is trained with the head.
    """

    id: str
    title: str
    help: str
    options: tuple[Option, ...] = ()
    learning_rate: float = 0.0
    rate_factor: float = 1.0
    inserts: bool = False
    trains_pooler: bool = True

    def problem(self, model: ModelInfo) -> str:
        """Why the method cannot be used with this model, "" if it can."""
        return ""

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        """Factors on the learning rate of the embeddings, each layer and the head; 0: frozen.

        layers: number of layers of the model. epoch: 0-based. options: all settings of the run.
        """
        return (1.0,) * (layers + 2)

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
