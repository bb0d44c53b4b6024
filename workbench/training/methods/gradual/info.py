"""Gradual unfreezing: description and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.base.i18n import N_, _
from workbench.models.spec import ModelInfo
from workbench.training.methods.full.info import INFO as FULL
from workbench.training.methods.full.info import LAYER_DECAY, SLOWER_LAYERS
from workbench.training.methods.spec import Forecast, MethodInfo

DECAY = replace(LAYER_DECAY, default=2.6)


class GradualInfo(MethodInfo):
    id = "gradual"
    title = N_("Gradual unfreezing")
    help = N_(
        "Trains the head in the first epoch, and one more layer from the top in each further "
        "epoch, lower layers with smaller learning rates (Howard and Ruder 2018)."
    )
    options = (DECAY, SLOWER_LAYERS)

    def problem(self, model: ModelInfo) -> str:
        return "" if model.layers else _("the model has no layers to unfreeze one by one")

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        return FULL.factors(layers, {**options, "gradual_unfreezing": True}, epoch)

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """The forecast for the last epochs, when everything is trained."""
        return Forecast(model.parameters, model.parameters)


INFO = GradualInfo()
