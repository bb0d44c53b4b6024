"""Full fine-tuning: description and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.options import Option
from workbench.models.spec import ModelInfo
from workbench.training.methods.spec import Forecast, MethodInfo

ENCODER = "encoder"  # only the head is trained


def frozen_layers(freeze: str) -> int | str:
    """Parse the setting `freeze`: "none", "embeddings", "encoder", or a number as int.

    The number is how many of the lowest layers are frozen. Raises SpecError for anything else.
    """
    if freeze in ("none", "embeddings", ENCODER):
        return freeze
    if freeze.isascii() and freeze.isdigit():
        return int(freeze)
    raise SpecError(
        _(
            "freeze is {freeze!r}, expected none, embeddings, encoder or a number of layers.",
            freeze=freeze,
        ),
        hint=_("3 freezes the embeddings and the three lowest layers."),
    )


LOWER, UPPER = "lower", "upper"  # the layers that learn slower


def layer_rates(count: int, decay: float, slower: str = LOWER) -> tuple[float, ...]:
    """Learning-rate factors of the embeddings, layers 1 … count, and the top.

    Each factor is `decay` times smaller than the one above, or with UPPER than the one below; the
    top, a new head, has 1 in either case.
    Source: Howard and Ruder 2018, section 3.2 (2.6; lower layers learn slower).
    """
    if slower == UPPER:
        return (*(decay**-level for level in range(count + 1)), 1.0)
    return tuple(decay ** -(count + 1 - level) for level in range(count + 2))


def frozen_levels(freeze: str, count: int) -> int:
    """How many of the lowest levels (embeddings, layers 1 … count, top) are never trained.

    Raises SpecError if the model has fewer layers.
    """
    frozen = frozen_layers(freeze)
    if isinstance(frozen, int) and frozen > count:
        raise SpecError(
            ngettext(
                "freeze is {kept}, but the model has only {count} layer.",
                "freeze is {kept}, but the model has only {count} layers.",
                count,
                kept=frozen,
                count=count,
            ),
            hint=_("Choose a smaller number, or encoder."),
        )
    names = {"none": 0, "embeddings": 1, ENCODER: count + 1}
    return names[frozen] if isinstance(frozen, str) else frozen + 1


def trained_levels(count: int, *, freeze: str, gradual: bool, epoch: int) -> list[bool]:
    """For each level (embeddings, layers 1 … count, top), whether it is trained in this epoch."""
    top, frozen = count + 1, frozen_levels(freeze, count)
    lowest = max(frozen, top - epoch) if gradual else frozen
    return [level >= lowest for level in range(top + 1)]


FREEZE = Option(
    "freeze",
    "text",
    "none",
    N_(
        "Parts that are not trained: none, embeddings, a number of lowest layers (embeddings "
        "included), or encoder (only the head is trained)."
    ),
    choices=("none", "embeddings", "encoder"),
    group="main",
    title=N_("Freeze"),
    check=frozen_layers,
)
LAYER_DECAY = Option(
    "layer_decay",
    "float",
    1.0,
    N_(
        "Layer-wise learning-rate decay: the learning rate of each lower layer is divided by this "
        "factor. 2.6 as in Howard and Ruder 2018, where lower layers have lower rates; 1 for equal "
        "rates."
    ),
    low=1.0,
    high=100.0,
    title=N_("Layer-wise learning-rate decay"),
)
SLOWER_LAYERS = Option(
    "slower_layers",
    "choice",
    LOWER,
    N_(
        "Direction of the layer-wise decay. Lower: rates fall from the head down to the "
        "embeddings, as in Howard and Ruder 2018. Upper: the opposite direction, as some lecture "
        "notes state it; rates fall from the embeddings up, and a new head has the peak rate."
    ),
    choices=(LOWER, UPPER),
    choice_titles=(N_("Lower layers learn more slowly"), N_("Upper layers learn more slowly")),
    title=N_("Direction of the decay"),
    idle_with=("layer_decay", "1"),
)
GRADUAL = Option(
    "gradual_unfreezing",
    "bool",
    False,
    N_("Train only the head at first; unfreeze one more layer from the top each epoch."),
    title=N_("Gradual unfreezing"),
)


class FullInfo(MethodInfo):
    id = "full"
    title = N_("Full fine-tuning")
    help = N_("Trains all parameters, or those above a frozen part.")
    options = (FREEZE, LAYER_DECAY, SLOWER_LAYERS, GRADUAL)

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        trained = trained_levels(
            layers,
            freeze=self.freeze(options),
            gradual=bool(options.get("gradual_unfreezing")),
            epoch=epoch,
        )
        slower = str(options.get("slower_layers") or LOWER)
        rates = layer_rates(layers, float(options.get("layer_decay") or 1.0), slower)
        return tuple(rate * learns for rate, learns in zip(rates, trained, strict=True))

    def frozen(self, layers: int, options: Mapping[str, Any]) -> int | None:
        return frozen_levels(self.freeze(options), layers)

    def freezing(self, levels: int) -> Mapping[str, str]:
        return {FREEZE.name: ("none", "embeddings")[levels] if levels < 2 else str(levels - 1)}

    def freeze(self, options: Mapping[str, Any]) -> str:
        return str(options.get("freeze") or "none")

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """Assumes equally large layers and counts all other weights as embeddings."""
        freeze = frozen_layers(str(options.get("freeze", "none")))
        if freeze == "none" or not model.layers:
            return Forecast(model.parameters, model.parameters)
        if freeze == "encoder":
            return Forecast(0, model.parameters)
        embeddings = min(model.parameters, model.vocabulary * model.width)
        layer = (model.parameters - embeddings) // model.layers
        frozen = embeddings + (min(freeze, model.layers) if isinstance(freeze, int) else 0) * layer
        return Forecast(model.parameters - frozen, model.parameters)


INFO = FullInfo()
