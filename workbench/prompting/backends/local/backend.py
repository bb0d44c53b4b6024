"""Language models on this computer: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import transformers

from workbench.models import device as devices
from workbench.models.generate import LanguageModel
from workbench.prompting.backends.base import Backend
from workbench.prompting.backends.local.info import BITS, FULL, HALF, INFO, WEIGHTS
from workbench.prompting.base import Prompt


class LocalBackend(Backend):
    info = INFO
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}

    def __init__(self, model: str, options: Mapping[str, Any]):
        devices.use_threads()
        chosen = options.get(WEIGHTS, FULL)
        self._model = LanguageModel.load(
            model,
            device=options["device"],
            allow_pickle=options["allow_pickle"],
            bits=BITS[chosen],
            weights="bf16" if chosen == HALF else "fp32",
        )
        self.kind, self.device = self._model.kind, devices.name(self._model.device)

    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        return self._model.logprobs(prompts)
