"""Gradual unfreezing: full fine-tuning in which each epoch trains one more layer.

Source: Howard and Ruder 2018, Universal Language Model Fine-tuning for Text Classification,
sections 3.2 (discriminative rates) and 3.3 (gradual unfreezing).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.tasks.base import Model
from workbench.training.methods.full.method import Full
from workbench.training.methods.gradual.info import INFO


class Gradual(Full):
    info = INFO

    def __init__(self, model: Model, options: Mapping[str, Any]):
        super().__init__(model, {**options, "freeze": "none", "gradual_unfreezing": True})
