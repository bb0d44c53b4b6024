"""Full fine-tuning: description and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.spec import ModelInfo
from workbench.training.methods.spec import Forecast, MethodInfo


def frozen_layers(freeze: str) -> int | str:
    """Parse the setting `freeze`: "none", "embeddings", "encoder", or a number as int.

    The number is how many of the lowest layers are frozen. Raises SpecError for anything else.
    """
    if freeze in ("none", "embeddings", "encoder"):
        return freeze
    if freeze.isascii() and freeze.isdigit():
        return int(freeze)
    raise SpecError(
        _("freeze is {freeze!r}, expected none, embeddings, encoder or a number of layers.").format(
            freeze=freeze
        ),
        hint=_("3 freezes the embeddings and the three lowest layers."),
    )


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
        "factor. 2.6 as in Howard and Ruder 2018; 1 for equal rates."
    ),
    low=1.0,
    high=100.0,
    title=N_("Layer-wise learning-rate decay"),
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
    options = (FREEZE, LAYER_DECAY, GRADUAL)

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """Assumes equally large layers and counts all other weights as embeddings."""
        kept = frozen_layers(str(options.get("freeze", "none")))
        if kept == "none" or not model.layers:
            return Forecast(model.parameters, model.parameters)
        if kept == "encoder":
            return Forecast(0, model.parameters)
        embeddings = min(model.parameters, model.vocabulary * model.width)
        layer = (model.parameters - embeddings) // model.layers
        frozen = embeddings + (min(kept, model.layers) if isinstance(kept, int) else 0) * layer
        return Forecast(model.parameters - frozen, model.parameters)


INFO = FullInfo()
