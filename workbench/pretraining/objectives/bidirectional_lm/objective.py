"""Bidirectional language modelling (Peters et al. 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.pretraining.objectives.bidirectional_lm.info import INFO
from workbench.pretraining.objectives.recurrent import RecurrentLm, is_recurrent


class BidirectionalLm(RecurrentLm):
    """Both directions of the encoder; what they share is trained by both losses."""

    info = INFO

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        if not is_recurrent(encoder):
            raise SpecError(
                _("{model} is not a bidirectional language model.", model=encoder.info.name),
                hint=_("Choose an ELMo model or a pair of character language models."),
            )
        super().__init__(encoder, options, rng)
