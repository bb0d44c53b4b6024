"""Feature extraction: description and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.models.spec import ModelInfo
from workbench.training.methods.spec import Forecast, MethodInfo


class FrozenInfo(MethodInfo):
    id = "frozen"
    title = N_("Feature extraction")
    help = N_("Trains only the head; the encoder is frozen.")
    learning_rate = learning_rates.HEAD_ALONE
    trains_pooler = False

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        return (*[0.0] * (layers + 1), 1.0)

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        return Forecast(0, model.parameters)


INFO = FrozenInfo()
