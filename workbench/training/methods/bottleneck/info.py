"""Bottleneck adapters: description and settings; counts parameters without loading the model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.spec import ModelInfo, shapes
from workbench.training.methods.spec import Forecast, MethodInfo

DEFAULT_SIZE = 64
PER_LAYER = 2  # after the attention and after the feed-forward part
_NORM_OF_A_LAYER = re.compile(r"\.\d+\..*norm|(^|\.)(ln_f|norm|final_norm)\.", re.IGNORECASE)

SIZE = Option(
    "adapter_size",
    "int",
    DEFAULT_SIZE,
    N_("Bottleneck size of each adapter. Larger adapters can learn more and use more memory."),
    group="main",
    low=1,
    high=4096,
    title=N_("Adapter size"),
)


class BottleneckInfo(MethodInfo):
    id = "bottleneck"
    title = N_("Bottleneck adapters")
    help = N_(
        "Trains the head, the layer norms and two small adapters inside each frozen layer "
        "(Houlsby et al. 2019)."
    )
    options = (SIZE,)
    rate_factor = learning_rates.INSERTED
    inserts = True
    trains_pooler = False

    def problem(self, model: ModelInfo) -> str:
        if model.sublayers:
            return ""
        return _("the places for adapters in its layers are not known; LoRA works with any model")

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        """Factors of the inserted modules: every layer has some; the embeddings have none."""
        return (0.0, *[1.0] * (layers + 1))

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """Two adapters for each layer of its own weights, and the norms."""
        size, names = int(options.get("adapter_size") or DEFAULT_SIZE), shapes(model)
        places = [f"*.{pattern}.weight" for pattern in model.sublayers]
        adapted = [name for name in names if any(fnmatchcase(name, place) for place in places)]
        count = len(adapted) or PER_LAYER * model.layers  # ALBERT has one layer for all
        inserted = count * (2 * size * model.width + size + model.width)
        norms = sum(
            math.prod(shape) for name, shape in names.items() if _NORM_OF_A_LAYER.search(name)
        )
        return Forecast(inserted + norms, model.parameters + inserted)


INFO = BottleneckInfo()
